"""Changes between push and pull in searches on the GPU, their ends, and the number of grid barriers."""

from itertools import pairwise

import numpy as np
import pytest

from rapids_trav.engines.interface import BfsOptions
from rapids_trav.published.pmpp.policy import Beamer

from .small_graphs import Graph, GraphView, check_tree, path, random, star

pytestmark = pytest.mark.gpu


def searched(engine, graph, sources, **options):
    """Search, check the tree, and return distances and trace."""
    found = engine.search(GraphView(graph, engine), engine.xp.asarray(sources), BfsOptions(**options))
    distance = found.distance.get()
    check_tree(graph, sources, distance, found.predecessor.get())
    return distance, found.trace


def core_and_tail(length, n_edges=40_000):
    """Return a dense core of 400 vertices with a path from its vertex 0."""
    core = random(400, n_edges, symmetric=True, seed=5)
    tail = np.concatenate([[0], np.arange(400, 400 + length)])
    u, v = np.concatenate([core.u, tail[:-1]]), np.concatenate([core.v, tail[1:]])
    return Graph(400 + length, u, v, symmetric=True)


def two_wide_parts():
    """Return a root, 600 vertices around it, 600 with most edges, and a path that ends in 3000 leaves."""
    size, reach, path_length, leaves = 600, 50, 40, 3000
    first, second = 1 + np.arange(size), 1 + size + np.arange(size)
    joined = second[(np.arange(size)[:, None] + np.arange(reach)) % size]
    among = second[(np.arange(size)[:, None] + np.arange(1, 84)) % size]
    tail = np.concatenate([second[:1], 1 + 2 * size + np.arange(path_length)])
    around = tail[-1] + 1 + np.arange(leaves)
    u = [
        np.zeros(size, int),
        np.repeat(first, reach),
        np.repeat(second, 83),
        tail[:-1],
        np.full(leaves, tail[-1]),
    ]
    v = [first, joined.ravel(), among.ravel(), tail[1:], around]
    return Graph(int(around[-1]) + 1, np.concatenate(u), np.concatenate(v), symmetric=True)


def levels_of_rows(levels):
    """Return a directed graph from vertex 0 on whose levels the vertices have rows of the lengths given.

    Each row leads to all vertices of the next level, in turn; the vertices of the last lead to a sink.
    """
    begins = np.cumsum([0, *map(len, levels)])
    u, v = [], []
    for begin, rows, after in zip(begins, levels, [*levels[1:], [0]], strict=False):
        owner = np.repeat(np.arange(len(rows)), rows)
        u.append(begin + owner)
        v.append(begin + len(rows) + np.arange(len(owner)) % len(after))
    return Graph(int(begins[-1]) + 1, np.concatenate(u), np.concatenate(v))


@pytest.mark.parametrize(
    "levels",
    [
        [[1], [1000], [1] * 1000],
        [[1], [1024], [1] * 1024],
        [[3], [500, 1, 400], [1] * 900],
        [[200], [1] * 100 + [700] + [1] * 99, [2] * 300],
        [[40], [20] * 40, [1] * 800, [1]],
        [[1], [1020], [70] * 1020],  # goes on with the grid
        [[1], [1024], [1100] * 2 + [1030] * 1022],
        [[1], [65], [64] * 65, [1] * 3000],
    ],
    ids=lambda levels: "-".join(f"{len(rows)}x{max(rows)}" for rows in levels),
)
@pytest.mark.parametrize("limit", [None, 2])
def test_one_block_divides_rows_among_its_threads(engine, levels, limit):
    graph = levels_of_rows(levels)
    distance, trace = searched(engine, graph, [0], trace=True, depth_limit=limit)
    wanted = graph.distance([0])
    assert np.array_equal(distance, wanted if limit is None else np.where(wanted > limit, -1, wanted))
    pushed = [level for level in trace if level.direction == "push"]
    assert [level.edges for level in pushed[:2]] == [sum(rows) for rows in levels[:2]]  # each once


@pytest.mark.parametrize("variant", ["frontier", "private"])
def test_a_vertex_is_claimed_by_one_thread(engine, variant):
    """Thousands of threads reach the same few vertices at once, and the trace counts each vertex once."""
    n_middle, n_far = 20_000, 50
    middle = np.arange(1, 1 + n_middle)
    far = 1 + n_middle + np.arange(n_far)
    u = np.concatenate([np.zeros(n_middle, np.int64), np.repeat(middle, n_far)])
    v = np.concatenate([middle, np.tile(far, n_middle)])
    distance, trace = searched(engine, Graph(1 + n_middle + n_far, u, v), [0], variant=variant, trace=True)
    assert np.bincount(distance).tolist() == [1, n_middle, n_far]
    assert [row.frontier for row in trace] == [1, n_middle, n_far]


def test_a_heavy_row_is_in_the_bitmap(engine):
    """In a search from a leaf of a star, the hub alone is the frontier that the other leaves look for."""
    graph = star(20_000)
    for policy in ("gap", "beamer"):
        distance, trace = searched(engine, graph, [7], variant="direction", policy=policy, trace=True)
        assert np.array_equal(distance, graph.distance([7]))
        assert trace[1].direction == "pull"


def test_pulled_levels_count_their_out_edges(engine):
    """The leaves are pulled only if the edges of vertices found by pulling have been subtracted."""
    graph = two_wide_parts()
    distance, trace = searched(engine, graph, [0], variant="direction", policy="beamer", trace=True)
    offsets, _ = graph.rows()
    degree = np.diff(offsets)
    policy = Beamer(graph.n, len(graph.edges[0]))
    wanted = [
        policy.choose(int((distance == level).sum()), int(degree[distance == level].sum()))
        for level in range(len(trace))
    ]
    assert [row.direction for row in trace] == wanted
    first = wanted.index("pull")
    assert "pull" in wanted[first + wanted[first:].index("push") :]  # pull, push, and pull again


def test_the_fused_search_turns_to_pull_and_back(engine):
    """The search pulls in the core, and pushes again when few vertices are left at the end of the path."""
    graph = core_and_tail(40)
    distance, trace = searched(engine, graph, [1], trace=True)
    assert np.array_equal(distance, graph.distance([1]))
    directions = [row.direction for row in trace]
    assert "pull" in directions
    assert directions[-1] == "push"


def test_the_fused_search_returns_to_push_while_many_are_left(engine):
    """The path is so long that pulling would read a long bitmap of unreached vertices on each level."""
    length, limit = 700_000, 300
    graph = core_and_tail(length, 200_000)
    found = engine.search(
        GraphView(graph, engine), engine.xp.asarray([1]), BfsOptions(trace=True, depth_limit=limit)
    )
    directions = [row.direction for row in found.trace]
    assert len(directions) == limit
    assert "pull" in directions
    assert set(directions[20:]) == {"push"}
    distance = found.distance.get()
    assert (np.diff(distance[400 : 400 + limit - 10]) == 1).all()


def test_a_row_whose_first_edges_lead_nowhere_is_put_off(engine):
    """The first three hundred neighbours of each leaf are unreached; its parents come after them."""
    cold, hubs = np.arange(300), 300 + np.arange(40)
    leaves = 340 + np.arange(1000)
    u = np.repeat(leaves, 340)
    v = np.tile(np.concatenate([cold, hubs]), 1000)
    graph = Graph(1340, u, v, symmetric=True)
    distance, trace = searched(engine, graph, hubs.tolist(), trace=True)
    assert trace[0].direction == "pull"
    assert np.array_equal(distance, np.r_[np.full(300, 2), np.zeros(40), np.ones(1000)])


def test_a_long_row_is_shared_by_warps_that_all_find_a_parent(engine):
    """Warps look whether another one has settled the row while it is being settled."""
    n_leaves, n_cold, n_hubs = 50, 300, 4000
    cold, hubs = np.arange(n_cold), n_cold + np.arange(n_hubs)
    leaves = n_cold + n_hubs + np.arange(n_leaves)
    u = np.repeat(leaves, n_cold + n_hubs)
    v = np.tile(np.concatenate([cold, hubs]), n_leaves)
    graph = Graph(n_cold + n_hubs + n_leaves, u, v, symmetric=True)
    distance, trace = searched(engine, graph, hubs.tolist(), trace=True)
    assert trace[0].direction == "pull"
    assert np.array_equal(distance, np.r_[np.full(n_cold, 2), np.zeros(n_hubs), np.ones(n_leaves)])


def test_a_pulled_vertex_stops_at_its_first_neighbour(engine):
    """Leaves find a source among their first five neighbours of 64; hubs that are no sources find none."""
    hubs, leaves = np.arange(64), 64 + np.arange(1000)
    graph = Graph(1064, np.repeat(leaves, 64), np.tile(hubs, 1000), symmetric=True)
    _, trace = searched(engine, graph, list(range(1, 21)), trace=True)
    assert trace[0].direction == "pull"
    # A hub that finds nothing in its first 129 edges is read again from the beginning.
    assert trace[0].edges <= 44 * (129 + 1000) + 1000 * 5


@pytest.mark.parametrize("variant", ["auto", "direction", "frontier"])
def test_a_wide_search_ends_with_its_last_target(engine, variant):
    graph = random(30_000, 200_000, symmetric=True)
    full = graph.distance([0])
    wide = np.bincount(full[full >= 0]).argmax()
    targets = [int(np.flatnonzero(full == level)[0]) for level in (wide, full.max())]
    assert full.max() > wide
    for wanted in (targets, targets[:1]):
        asked = engine.xp.asarray(wanted)
        found = engine.search(
            GraphView(graph, engine), engine.xp.asarray([0]), BfsOptions(variant, targets=asked)
        )
        expected = np.where(full <= full[wanted].max(), full, -1)
        assert np.array_equal(found.distance.get(), expected)


def meetings(engine):
    """Return how often the blocks of a new engine's first search have met at the grid barrier."""
    import cupy

    from rapids_trav.engines.cuda.runtime.loader import multiprocessors

    words = engine.fused.workspace().control.view(np.uint32).get().tolist()
    blocks = multiprocessors(cupy.cuda.runtime.getDevice())
    # `barrier` and `epoch` are adjacent in `Control`, and equal after a search.
    arrived = [one for one, other in pairwise(words) if one == other and one > 0 and one % blocks == 0]
    assert len(arrived) == 1
    return arrived[0] // blocks


def test_a_long_path_costs_few_meetings_of_the_grid(cupy):
    """One block searches the path alone, so that the blocks rarely meet at the grid barrier."""
    from rapids_trav.engines.cuda import CudaEngine

    engine = CudaEngine()
    found = engine.search(GraphView(path(100_000), engine), cupy.asarray([0]), BfsOptions())
    assert int(found.distance[-1]) == 99_999
    assert meetings(engine) < 100


def test_a_tail_after_wide_levels_is_left_to_one_block(cupy):
    """The grid searches the core, and one block searches the 300 levels of the tail."""
    from rapids_trav.engines.cuda import CudaEngine

    engine, graph, limit = CudaEngine(), core_and_tail(700_000, 200_000), 300
    found = engine.search(
        GraphView(graph, engine), cupy.asarray([1]), BfsOptions(trace=True, depth_limit=limit)
    )
    assert len(found.trace) == limit
    assert "pull" in {row.direction for row in found.trace}
    assert meetings(engine) < 100


def test_dense_tiles_are_read_to_their_last_word(engine):
    """So many vertices look for their hub that every warp reads more than one tile of words."""
    n_hubs, n = 64, 2_000_000
    leaves = np.arange(n_hubs, n)
    distance, trace = searched(
        engine, Graph(n, leaves % n_hubs, leaves, symmetric=True), list(range(n_hubs)), trace=True
    )
    assert trace[0].direction == "pull"
    assert (distance == (np.arange(n) >= n_hubs)).all()


def warps_of_a_launch():
    """Return the number of warps of a search of few edges."""
    from rapids_trav.engines.cuda.bfs import fused
    from rapids_trav.engines.cuda.runtime.loader import multiprocessors

    return multiprocessors(0) * fused.SMALL_BLOCK // 32


@pytest.mark.parametrize("in_word", [11, 12, 15])
def test_the_last_vertices_may_be_in_the_words_of_one_warp(engine, in_word):
    """All of them are queued for the push that follows, however many tiles they fill."""
    n_warps = warps_of_a_launch()
    n = 32 * max(32 * n_warps, 8192)
    words = (8 * (1 + n_warps * np.arange(4))[:, None] + np.arange(8)).ravel()  # warp 1's first
    late = (32 * words[:, None] + np.arange(in_word)).ravel()
    last = n - len(late) + np.arange(len(late))
    others = np.setdiff1d(np.arange(64, n), [late, last])
    u = np.concatenate([others % 64, late + in_word, late])
    graph = Graph(n, u, np.concatenate([others, late, last]), symmetric=True)
    distance, trace = searched(engine, graph, list(range(64)), trace=True)
    assert [row.direction for row in trace[:3]] == ["pull", "pull", "push"]
    assert (distance[others] == 1).all() and (distance[late] == 2).all() and (distance[last] == 3).all()


@pytest.mark.parametrize("alone", [0, 1, 4, 29, 32, 70])
def test_every_distance_and_predecessor_is_written(monkeypatch, cupy, alone):
    """Wide levels are followed by short tails; `alone` vertices at the end have no edges."""
    from rapids_trav.engines.cuda import CudaEngine
    from rapids_trav.engines.cuda.bfs import fused

    class Filled(fused.Outputs):
        def __init__(self, *of):
            super().__init__(*of)
            found = self.search()
            found.distance.fill(77)
            found.predecessor.fill(77)

    monkeypatch.setattr(fused, "Outputs", Filled)
    pulls = 0
    engine, rng = CudaEngine(least_pull=0), np.random.default_rng(alone)
    for n_core, n_tails in ((2000, 3), (500, 40)):
        core = random(n_core, 60 * n_core, symmetric=True, seed=alone)
        tails = n_core + np.arange(3 * n_tails).reshape(3, n_tails)
        u = np.concatenate([core.u, rng.choice(n_core, n_tails, replace=False), *tails[:-1]])
        v = np.concatenate([core.v, *tails])
        n = n_core + 3 * n_tails + alone
        graph = Graph(n, u, v, symmetric=True)
        for sources in ([1], [n_core + 1], [1, n - 1]):
            trace = searched(engine, graph, sources, trace=True)[1]
            searched(engine, graph, sources)
            pulls += sum(row.direction == "pull" for row in trace)
    assert pulls >= 6


def test_heavy_rows_of_searches_together_reach_every_neighbour(engine):
    """The directed graph has a hub with 400 of its many edges, so that the hub's level is pushed."""
    hub, chain = np.zeros(400, np.int64), np.arange(401, 30_401)
    graph = Graph(30_401, np.concatenate([hub, chain[:-1]]), np.concatenate([np.arange(1, 401), chain[1:]]))
    sources = [0, 401]
    options = BfsOptions(depth_limit=3, trace=True)
    found = engine.search_each(GraphView(graph, engine), engine.xp.asarray(sources), options)
    assert found.trace[0].direction == "push"
    full = np.array([graph.distance([source]) for source in sources])
    assert np.array_equal(found.distance.get(), np.where(full <= 3, full, -1))
