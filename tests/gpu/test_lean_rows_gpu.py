"""Ranks that have the rows of their own vertices alone, and offer what they find to others.

Their searches are compared with those of the other layout in `test_one_launch_gpu`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from .ranked_graphs import ranked
from .small_graphs import GRAPHS, Graph, random, star
from .test_one_launch_gpu import check, rmat

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("n_ranks", [2, 3])
def test_frontiers_that_swell_and_shrink(cupy, monkeypatch, n_ranks):
    """With short queues, offers of a frontier of many edges are claimed in the bitmap."""
    from rapids_trav.engines.cuda.bfs import fused

    monkeypatch.setattr(fused, "WHOLE_QUEUE", 0)
    graph = random(30_000, 150_000, symmetric=True, seed=6)
    for least_pull in (0, 1 << 40):
        made = ranked(cupy, graph, n_ranks, 2, lean=True, least_pull=least_pull)
        for sources in ([0], list(range(0, graph.n, 7))):
            check(made, sources)


@pytest.mark.parametrize("n_ranks", [2, 3])
def test_a_vertex_is_offered_once_by_each_rank(cupy, n_ranks):
    """Far more edges lead to few vertices than a box has room for."""
    random = np.random.default_rng(2)
    u, v = random.integers(0, 300, (2, 40_000))
    graph = Graph(300, u, v, symmetric=True)
    made = ranked(cupy, graph, n_ranks, lean=True, least_pull=1 << 40)
    layout = made.group.ranks[0].layout
    assert layout.n_bytes - layout.offers < 8 * len(graph.edges[0]) / n_ranks
    for source in (0, 17):
        check(made, [source])
        *_, levels = made.search([source], trace=True)
        assert {level.exchange for level in levels[0]} == {"offers"}


@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_wide_ids_and_offsets(cupy, monkeypatch, vertex):
    from rapids_trav.engines.multigpu.one_launch import rows
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing

    for name in ("edge_type", "offset_type"):
        monkeypatch.setattr(rows, name, lambda n: np.dtype(np.int64))
    monkeypatch.setattr(Dealing, "vertex_dtype", np.dtype(vertex))
    check(ranked(cupy, rmat(11, 16, seed=4), 3, lean=True), [1])


@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_rows_are_those_of_the_layout_with_both_ends(cupy, monkeypatch, at_once, vertex):
    """Rows are sorted in ranges, of which one may be shorter than a row."""
    from rapids_trav.engines.multigpu.one_launch import rows
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing

    monkeypatch.setattr(rows, "SORTED_AT_ONCE", at_once)
    monkeypatch.setattr(Dealing, "vertex_dtype", np.dtype(vertex))
    for graph in (GRAPHS["undirected"], GRAPHS["loops"], star(30)):
        made = [ranked(cupy, graph, 2, lean=lean).group.ranks for lean in (False, True)]
        for both, lean in zip(*made, strict=True):
            for name in ("row_offsets", "column_indices", "first_neighbors"):
                one, other = (getattr(rank.rows.into, name) for rank in (both, lean))
                assert one.dtype == other.dtype
                assert np.array_equal(one.get(), other.get())
            assert lean.rows.nbytes < both.rows.nbytes
            assert lean.n_linked == both.n_linked
            assert lean.rows.n_edges == both.rows.n_edges


def test_a_rank_that_never_launches_ends_the_others(cupy, monkeypatch):
    """Offers that nobody took do not count in the next search."""
    from rapids_trav.engines.multigpu.communicator import RankError
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 3, lean=True, deadline=0.5)
    start = launch.Launch.start
    monkeypatch.setattr(launch.Launch, "start", lambda self: self._rank.rows.rank == 1 or start(self))
    with pytest.raises(RankError, match=r"GPU 0 \(rank 1\) did not answer"):
        made.search([0])
    monkeypatch.undo()
    made.group.common = replace(made.group.common, deadline=60.0)
    check(made, [0])
