"""Graph500 on loopback ranks; tests/distributed/test_graph500_on_workers.py runs it on a cluster."""

import numpy as np
import pytest
from loopback import run_ranks

from rapids_trav import generators, graph500
from rapids_trav.distributed.ranks.rank import RankState
from rapids_trav.distributed.ranks.rank_engine import RankEngine
from rapids_trav.errors import TravError
from rapids_trav.graph500 import ranks


def run(size, scale, roots=4, edge_factor=8, **options):
    """Run the steps on loopback ranks; return by rank the number of vertices, the roots and the rows."""

    def work(communicator):
        state = RankState(communicator, "cpu")
        assert ranks.generate(state, scale, edge_factor, 3) > 0
        n_vertices, _ = ranks.construct(state, **options)
        drawn = ranks.draw_roots(state, roots, 3)
        return n_vertices, drawn, [ranks.search(state, root, True) for root in drawn]

    return run_ranks(size, work)


@pytest.mark.parametrize(("size", "options"), [(1, {}), (2, {}), (4, {}), (6, {"grid": (3, 2)})])
def test_the_same_as_on_one_machine(size, options):
    local = graph500.run(9, edge_factor=8, roots=4, seed=3, engine="cpu")
    for n_vertices, drawn, rows in run(size, 9, **options):
        assert n_vertices == local.n_vertices
        assert drawn == local.searches["root"].tolist()
        for row, expected in zip(rows, local.searches.to_dict("records"), strict=True):
            for name in ("root", "edges", "vertices", "depth", "valid"):
                assert row[name] == expected[name], name
            assert 0 < row["seconds"] < row["output_seconds"]


def test_ranks_agree_on_every_row():
    one, *others = (rows for _, _, rows in run(3, 7))
    assert all(str(rows) == str(one) for rows in others)


def test_a_wrong_tree_is_found(monkeypatch):
    """Vertices that claim to be one level deeper than they are break a rule in the records of all ranks."""
    search = RankEngine.search

    def wrong(engine, *arguments):
        found = search(engine, *arguments)
        found.distance[found.distance == 2] = 3
        return found

    monkeypatch.setattr(RankEngine, "search", wrong)
    for _, _, rows in run(2, 7, roots=1):
        assert rows[0]["valid"] is False and "level" in rows[0]["faults"]


def test_searching_before_constructing_is_refused():
    with pytest.raises(TravError, match="construct it first"):
        run_ranks(1, lambda communicator: ranks.search(RankState(communicator, "cpu"), 0, False))


def test_stretches_are_the_whole_graph():
    def work(communicator):
        state = RankState(communicator, "cpu")
        ranks.generate(state, 6, 5, 9)
        return state.partitions[0][1]

    whole = generators.rmat(6, 5, seed=9)
    parts = run_ranks(3, work)
    for name in ("src", "dst"):
        assert np.array_equal(np.concatenate([part[name] for part in parts]), whole[name])
