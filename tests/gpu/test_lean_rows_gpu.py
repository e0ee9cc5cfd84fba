"""Searches by ranks that have the rows of their own vertices alone, and offer what they find to others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from .ranked_graphs import ranked
from .small_graphs import GRAPHS, Graph, grid, path, random, star
from .test_one_launch_gpu import RANKS, check, rmat

pytestmark = pytest.mark.gpu

SYMMETRIC = [name for name, graph in GRAPHS.items() if graph.symmetric]


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("name", SYMMETRIC)
def test_ranks_agree_with_scipy(cupy, name, n_ranks):
    graph = GRAPHS[name]
    made = ranked(cupy, graph, n_ranks, lean=True)
    assert all(rank.rows.lean for rank in made.group.ranks)
    check(made, [0])
    check(made, [graph.n - 1])
    check(made, list(range(0, graph.n, 3)))


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("blocks", [1, 3])
def test_pushes_offer_and_pulls_are_those_of_both_layouts(cupy, looks_up, n_ranks, blocks):
    made = ranked(cupy, rmat(11, 16, seed=3), n_ranks, blocks, lean=True)
    seen = set()
    for sources in ([0], [5], [1000], range(24)):
        check(made, sources)
        *_, levels = made.search(sources, trace=True)
        # All ranks make the same decisions.
        assert len({tuple(level[:3] for level in rank) for rank in levels}) == 1
        seen |= {level[:2] for level in levels[0]}
    few = {("pull", "look-ups")} if n_ranks > 1 else set()  # one rank has all there is to look up
    assert seen == {("push", "offers"), ("pull", "lists"), ("pull", "copies")} | few


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


@pytest.mark.parametrize("n_ranks", RANKS)
def test_depth_limits_and_targets(cupy, n_ranks):
    graph = grid(23)
    made = ranked(cupy, graph, n_ranks, lean=True)
    want = graph.distance([0])
    for limit in (0, 1, 7):
        check(made, [0], limit)
    targets = np.flatnonzero(want == 9)[:4]
    distance, _, levels = made.search([0], targets=targets, trace=True)
    assert np.array_equal(distance[targets], want[targets])
    assert {len(rank) for rank in levels} == {9}
    distance, predecessor, _ = made.search([0], predecessors=False)
    assert predecessor is None
    assert np.array_equal(distance, want)


@pytest.mark.parametrize("n_ranks", [2, 4])
def test_long_paths_and_large_stars(cupy, n_ranks):
    made = ranked(cupy, path(400), n_ranks, lean=True)
    check(made, [0])
    check(made, [200])
    made = ranked(cupy, star(9000), n_ranks, 3, lean=True)
    for sources in ([0], [4000], [1, 9000]):
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
    from rapids_trav.engines.multigpu.one_launch import lean_rows
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing

    monkeypatch.setattr(lean_rows, "edge_type", lambda n: np.dtype(np.int64))
    monkeypatch.setattr(Dealing, "vertex_dtype", np.dtype(vertex))
    check(ranked(cupy, rmat(11, 16, seed=4), 3, lean=True), [1])


@pytest.mark.parametrize("at_once", [1, 50, 1 << 20])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_rows_are_those_of_the_layout_with_both_ends(cupy, monkeypatch, at_once, vertex):
    """Rows are sorted in ranges, of which one may be shorter than a row."""
    from rapids_trav.engines.multigpu.one_launch import lean_rows
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing

    monkeypatch.setattr(lean_rows, "SORTED_AT_ONCE", at_once)
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
    from rapids_trav.engines.multigpu.errors import RankError
    from rapids_trav.engines.multigpu.one_launch import launch

    made = ranked(cupy, GRAPHS["undirected"], 3, lean=True, deadline=0.002)
    start = launch.Launch.start
    monkeypatch.setattr(launch.Launch, "start", lambda self: self._rank.rows.rank == 1 or start(self))
    with pytest.raises(RankError, match=r"GPU 0 \(rank 1\) did not answer"):
        made.search([0])
    monkeypatch.undo()
    made.group.common = replace(made.group.common, deadline=60.0)
    check(made, [0])
