"""Counters of the kernels show that each mechanism of the searches is active."""

from dataclasses import replace

import numpy as np
import pytest

from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit.launches import count_launches

from .program_cases import rmat
from .small_graphs import GRAPHS, Graph, GraphView, by_degree, path, random, serial_checks, star

pytestmark = pytest.mark.gpu


@pytest.fixture
def make_engine(cupy):
    from rapids_trav.engines.cuda import CudaEngine

    def made(**choices):
        return CudaEngine(**({"least_pull": 0} | choices))

    return made


def built(graph, engine):
    view = GraphView(graph, engine)
    _ = view.out, view.into
    return view


def search(engine, view, sources=(0,), **options):
    found = engine.search(view, engine.xp.asarray(sources), BfsOptions(**({"trace": True} | options)))
    return found.distance.get(), found


def blocks(frontier):
    """Return the blocks of a kernel with one thread for each vertex of a queue, unless the GPU is full."""
    return -(-frontier // 256)


# Rows and words of the fused search.


def regular(n, steps):
    """Vertex v is joined to v + 1, ..., v + steps, around a ring: all have 2 * steps neighbours."""
    v = np.repeat(np.arange(n), steps)
    return Graph(n, v, (v + np.tile(np.arange(1, steps + 1), n)) % n, True)


def test_rows_of_one_length_need_no_offsets(make_engine):
    """Where all rows have one length, offsets that make all but the last one empty change nothing."""
    engine = make_engine()
    graph = regular(4096, 40)
    view = built(graph, engine)
    assert (view.into.word_rows[:, 1] == 80).all()
    wrong = view.into.row_offsets.copy()
    wrong[:-1] = 0
    view.into = replace(view.into, row_offsets=wrong)
    sources = range(0, graph.n, 200)  # most vertices are pulled, half of them by a late neighbour
    distance, found = search(engine, view, sources)
    np.testing.assert_array_equal(distance, graph.distance(sources))
    assert sum(row.edges for row in found.trace if row.direction == "pull") > graph.n


@pytest.mark.parametrize("depth_limit", [None, 1, 2, 3])
@pytest.mark.parametrize("predecessors", [True, False])
def test_a_push_to_the_bitmap_is_settled_by_what_follows(make_engine, depth_limit, predecessors):
    """From vertices of few neighbours, all hubs, the frontier swells in the second step or the third."""
    engine = make_engine()
    graph = by_degree(rmat(13, symmetric=True))
    view = built(graph, engine)
    options = BfsOptions(depth_limit=depth_limit, predecessors=predecessors)
    linked = np.flatnonzero(np.diff(graph.rows()[0]))
    for root in linked[-1:-200:-40]:
        expected = graph.distance([root])
        if depth_limit is not None:
            expected[expected > depth_limit] = -1
        found = engine.search(view, engine.xp.asarray([root]), options)
        np.testing.assert_array_equal(found.distance.get(), expected)
        if predecessors:
            led = found.predecessor.get()
            reached = expected > 0
            assert (expected[led[reached]] == expected[reached] - 1).all() and (led[~reached] == -1).all()


# P5, the private queue.


@pytest.mark.parametrize("capacity", [1, 4, 2048])
def test_a_star_overflows_the_private_queue(make_engine, capacity):
    engine = make_engine(private_capacity=capacity)
    view = built(star(5000), engine)
    kept = min(capacity, 5000)
    _, found = search(engine, view, variant="private")
    assert found.counters == {"kept": kept, "overflowed": 5000 - kept, "reserved": 1}
    # From a leaf: first the hub, then the other leaves.
    kept = min(capacity, 4999)
    _, found = search(engine, view, [9], variant="private")
    assert found.counters == {"kept": 1 + kept, "overflowed": 4999 - kept, "reserved": 2}


@pytest.mark.parametrize("capacity", [1, 4, 2048])
def test_a_block_asks_for_its_places_once_a_level(make_engine, capacity):
    engine = make_engine(private_capacity=capacity)
    view = built(random(3000, 40000, symmetric=True, seed=3), engine)
    distance, found = search(engine, view, variant="private")
    counters, most = found.counters, sum(blocks(row.frontier) for row in found.trace)
    assert counters["kept"] + counters["overflowed"] == np.count_nonzero(distance > 0)
    assert 1 <= counters["reserved"] <= min(most, counters["kept"])
    assert counters["kept"] <= capacity * counters["reserved"]
    if capacity == 2048:  # nearly all vertices fit into the private queues
        assert counters["kept"] > counters["overflowed"]
        assert counters["reserved"] < counters["kept"] / 10
    if capacity == 1:
        assert counters["kept"] == counters["reserved"]


@pytest.mark.parametrize("variant", ["private", "auto", "frontier"])
def test_nothing_is_counted_unasked(make_engine, variant):
    engine = make_engine()
    assert search(engine, built(GRAPHS["undirected"], engine), variant=variant, trace=False)[1].counters == {}


# P7, many levels in one launch.


@pytest.mark.parametrize("variant", ["auto", "fused"])
@pytest.mark.parametrize("trace", [False, True])
def test_a_long_path_is_one_launch(make_engine, variant, trace):
    engine, n = make_engine(), 100_000
    view = built(path(n), engine)
    search(engine, view, variant=variant, trace=trace)
    with count_launches() as launches:
        distance, found = search(engine, view, variant=variant, trace=trace)
    assert launches == {"bfs_fused": 1}
    assert np.array_equal(distance, np.arange(n))
    if trace:
        assert [row.level for row in found.trace] == list(range(1, n))
        assert {row.frontier for row in found.trace} == {1}
        assert found.counters["levels_alone"] == n - 1  # one block, without a barrier of the grid


def test_wide_levels_are_not_searched_alone(make_engine):
    engine = make_engine()
    view = built(rmat(13, symmetric=True), engine)
    hub = int(np.diff(view.out.row_offsets.get()).argmax())
    _, found = search(engine, view, (hub,))
    assert found.counters["levels_alone"] < len(found.trace)


@pytest.mark.parametrize("variant", ["push", "pull", "frontier", "private", "direction"])
def test_the_others_launch_for_each_level(make_engine, variant):
    engine = make_engine()
    view = built(path(300), engine)
    with count_launches() as launches:
        distance, _ = search(engine, view, variant=variant, trace=False)
    assert distance.max() == 299 <= launches.total()


# V6, the hub cache.


@pytest.fixture(scope="module")
def kronecker():
    return by_degree(rmat(13, symmetric=True))


def test_hits_rise_with_what_the_hub_cache_holds(make_engine, kronecker):
    hits, distances, pulled = {}, {}, {}
    engine = make_engine()
    view = built(kronecker, engine)
    for threshold in (None, 10**9, 1000, 100, 10, 0):
        distances[threshold], found = search(engine, view, hub_degree=threshold)
        hits[threshold] = found.counters["hub_hits"]
        pulled[threshold] = sum(row.edges for row in found.trace if row.direction == "pull")
    assert all(np.array_equal(distance, kronecker.distance([0])) for distance in distances.values())
    assert hits[None] == hits[10**9] == 0
    assert 0 < hits[1000] < hits[100] < hits[10] <= hits[0]
    assert hits[0] == pulled[0] > 0  # all vertices fit, so every look-up is a hit


def test_searches_with_and_without_a_trace_take_turns(make_engine, kronecker):
    """Both share the state by which blocks synchronise, where a traced level leaves counts of hits."""
    engine = make_engine()
    view = built(kronecker, engine)
    expected = kronecker.distance([0])
    for turn in range(60):
        distance, _ = search(engine, view, trace=turn % 3 == 0, hub_degree=0)
        assert np.array_equal(distance, expected)


def test_the_hub_cache_needs_the_order_by_degree(make_engine):
    """The cache keeps the vertices before the first one with few edges: none, if a leaf comes first."""
    graph = star(3000)
    engine = make_engine()
    leaf_first = Graph(graph.n, graph.n - 1 - graph.u, graph.n - 1 - graph.v, symmetric=True)
    distance, found = search(engine, built(leaf_first, engine), [5], hub_degree=100)
    assert np.array_equal(distance, leaf_first.distance([5]))
    assert found.counters["hub_hits"] == 0


def test_the_hub_cache_by_tuning(make_engine, monkeypatch):
    """`tuning=` reaches the search, and the answer is the same."""
    pandas, found = pytest.importorskip("pandas"), []
    import rapids_trav  # noqa: F401  (registers .trav)

    base = rmat(13, symmetric=True)
    engine = make_engine()
    graph = pandas.DataFrame({"src": base.u, "dst": base.v}).trav.graph(engine=engine)
    searched = engine.search

    def seen(*arguments):
        found.append(searched(*arguments))
        return found[-1]

    monkeypatch.setattr(engine, "search", seen)
    asked = {"variant": "fused", "deterministic": True, "trace": True}
    source = int(base.u[0])
    one, _ = graph.bfs(source, **asked)
    other, _ = graph.bfs(source, **asked, tuning={"hub_degree": 100})
    assert one.equals(other)
    assert [row.counters["hub_hits"] > 0 for row in found] == [False, True]


# V7, bitmaps.


@pytest.mark.parametrize("policy", ["pull", "gap"])
@pytest.mark.parametrize("name", ["dense", "directed", "undirected", "star"])
def test_a_search_without_bitmaps_examines_the_same_edges(make_engine, name, policy):
    graph, traces = GRAPHS[name], []
    for bitmaps in (True, False):
        engine = make_engine(bitmaps=bitmaps)
        distance, found = search(engine, built(graph, engine), variant="direction", policy=policy)
        assert np.array_equal(distance, graph.distance([0]))
        traces.append([(row.direction, row.frontier, row.edges) for row in found.trace])
    assert "pull" in {direction for direction, *_ in traces[0]}
    assert traces[0] == traces[1]


# P2 and V4, early exit.


@pytest.mark.parametrize("variant", ["pull", "direction"])
@pytest.mark.parametrize("name", ["dense", "directed", "undirected", "star"])
def test_edges_are_those_up_to_the_first_parent(make_engine, name, variant):
    graph, engine = GRAPHS[name], make_engine()
    options = {"policy": "pull"} if variant == "direction" else {}
    distance, found = search(engine, built(graph, engine), variant=variant, **options)
    assert found.trace
    for row in found.trace:
        assert row.edges == serial_checks(graph, distance, row.level)[0]


def test_the_fused_search_stops_soon_after_the_first_parent(make_engine, kronecker):
    engine = make_engine()
    distance, found = search(engine, built(kronecker, engine))
    pulled = [row for row in found.trace if row.direction == "pull"]
    bounds = [serial_checks(kronecker, distance, row.level) for row in pulled]
    assert pulled
    assert all(few <= row.edges <= every for row, (few, every) in zip(pulled, bounds, strict=True))
    assert sum(row.edges for row in pulled) < sum(every for _, every in bounds) / 2


@pytest.mark.parametrize("variant", ["pull", "direction", "auto"])
def test_rows_in_order_of_degree_are_left_sooner(make_engine, variant):
    """Searches start from the three vertices with the most edges, in either order of the vertices."""
    engine, edges = make_engine(), []
    base = rmat(13, symmetric=True)
    largest = np.argsort(-np.diff(base.rows()[0]), kind="stable")[:3]
    for graph, roots in ((base, largest), (by_degree(base), range(3))):
        view = built(graph, engine)
        traces = [search(engine, view, [int(root)], variant=variant)[1].trace for root in roots]
        edges.append(sum(row.edges for trace in traces for row in trace if row.direction == "pull"))
    assert edges[0] > edges[1] > 0


# V5, isolated vertices.


def test_isolated_vertices_are_not_looked_at(make_engine):
    engine = make_engine()
    base = by_degree(rmat(13, symmetric=True))
    graph = Graph(5 * base.n, base.u, base.v, symmetric=True)
    n_linked = int(np.flatnonzero(np.diff(graph.rows()[0]))[-1]) + 1
    distance, found = search(engine, built(graph, engine))
    words = np.arange(graph.n) < -(-n_linked // 32) * 32  # whole words are read
    levels = [row.level for row in found.trace if row.direction == "pull"]
    expected = [np.count_nonzero(words & ((distance < 0) | (distance >= level))) for level in levels]
    assert found.counters["looked"] == sum(expected) > 0
    assert np.array_equal(distance, graph.distance([0]))


@pytest.mark.parametrize("least_pull", [0, 1 << 20])
@pytest.mark.parametrize("symmetric", [False, True])
def test_sources_and_targets_that_are_isolated_or_lead_out_alone(make_engine, symmetric, least_pull):
    """In the directed graph, source 900 has no in-edge and follows all vertices that have one."""
    u = np.concatenate([np.full(300, 900), np.arange(299), np.repeat(np.arange(300), 20)])
    v = np.concatenate([np.arange(300), np.arange(1, 300), np.tile(np.arange(300), 20)])
    graph = Graph(3000, u, v, symmetric)
    engine = make_engine(least_pull=least_pull)
    view = built(graph, engine)
    for variant in engine.variants:
        for sources in ([900, 2950], [2950], [5, 2999, 900]):
            distance, found = search(engine, view, sources, variant=variant)
            assert np.array_equal(distance, graph.distance(sources)), (variant, sources)
            if found.n_unreached is not None:
                assert int(found.n_unreached[0]) == np.count_nonzero(distance < 0)
        for targets in ([2950], [900, 2950], [2999]):
            distance, _ = search(
                engine, view, [900, 2950], variant=variant, targets=engine.xp.asarray(targets), trace=False
            )
            expected = graph.distance([900, 2950])
            if max(expected[targets]) == 0 and 2999 not in targets:
                expected = np.where(expected <= 0, expected, -1)
            assert np.array_equal(distance, expected), (variant, targets)
