"""The CUDA engine against SciPy: every variant, building, trees, paths, and the known errors of P1 to P5."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_matrix

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav.csr.adjacency import Resident
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.errors import TravError, UnknownVertexError
from rapids_trav.jit.launches import count_launches

from .small_graphs import (
    GRAPHS,
    NINE_FROM_0,
    NINE_FROM_2,
    Graph,
    GraphView,
    check_tree,
    grid,
    nine,
    path,
    random,
    star,
)

pytestmark = pytest.mark.gpu

VARIANTS = ("auto", "push", "pull", "edge", "frontier", "private", "direction", "fused")
QUEUES = ("frontier", "private")


def search(engine, graph, sources=(0,), **options):
    """Run a joint search and check its tree; return distances on the host and the trace."""
    view = graph if isinstance(graph, GraphView) else GraphView(graph, engine)
    found = engine.search(view, engine.xp.asarray(sources), BfsOptions(**options))
    distance = found.distance.get()
    assert distance.dtype == np.int32
    if found.n_unreached is not None:
        assert int(found.n_unreached[0]) == np.count_nonzero(distance < 0)
    if found.predecessor is None:
        assert options.get("predecessors") is False
    else:
        check_tree(view._graph, sources, distance, found.predecessor.get())
    return distance, found.trace


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_and_trees(engine, name, variant):
    graph = GRAPHS[name]
    for sources in [(0,), (graph.n - 1,), tuple(range(0, graph.n, 1 + graph.n // 3))]:
        distance, _ = search(engine, graph, sources, variant=variant)
        assert np.array_equal(distance, graph.distance(sources))


@pytest.fixture
def pushing(cupy):
    """Return an engine with default settings, which searches graphs as small as these top-down."""
    from rapids_trav.engines.cuda import CudaEngine

    return CudaEngine()


@pytest.mark.parametrize("name", GRAPHS)
def test_small_graphs_are_searched_top_down(pushing, name):
    graph = GRAPHS[name]
    for sources in [(0,), (graph.n - 1,)]:
        distance, trace = search(pushing, graph, sources, trace=True)
        assert np.array_equal(distance, graph.distance(sources))
        assert {level.direction for level in trace} <= {"push"}


@pytest.mark.parametrize("least_pull", [0, 1 << 20])
def test_rows_about_as_long_as_what_a_warp_takes(cupy, least_pull):
    """Long rows, which are cut into pieces, are mixed with short ones: few enough to cut each, and more."""
    from rapids_trav.engines.cuda import CudaEngine

    engine = CudaEngine(least_pull=least_pull)
    around = [length * k + d for length in (64, 128, 256) for k in (1, 2, 3) for d in (-1, 0, 1)]
    for degrees in (around, [*around, 5000, 1, 2], around * 60 + [5] * 3000):
        begins = 1 + len(degrees) + np.concatenate([[0], np.cumsum(degrees)])
        middle = np.arange(1, 1 + len(degrees))
        u = np.concatenate([np.zeros(len(degrees), np.int64), np.repeat(middle, degrees)])
        v = np.concatenate([middle, np.arange(begins[0], begins[-1])])
        graph = Graph(int(begins[-1]), u, v, symmetric=True)
        for sources in [(0,), (graph.n - 1,)]:
            distance, trace = search(engine, graph, sources, trace=True)
            assert np.array_equal(distance, graph.distance(sources))
            if least_pull and len(degrees) < 100:  # only the edges of leaves, which lead back, are left out
                followed = sum(level.edges for level in trace)
                assert followed == len(degrees) + sum(d + 1 for d in degrees) + len(sources) * (
                    sources != (0,)
                )


def test_more_edges_than_places_in_the_queue(pushing, monkeypatch):
    """If the queue has fewer places than there are edges, the next level comes from a bitmap."""
    from rapids_trav.engines.cuda.bfs import fused

    monkeypatch.setattr(fused, "WHOLE_QUEUE", 0)
    graph = random(30000, 200000, symmetric=True)
    distance, trace = search(pushing, graph, trace=True)
    assert np.array_equal(distance, graph.distance([0]))
    assert {level.direction for level in trace} == {"push", "pull"}


@pytest.mark.parametrize("least_pull", [0, 1 << 20])
def test_a_frontier_that_shrinks_before_it_grows(cupy, least_pull):
    """A pulled level finds so few vertices that pushing seems cheap, but a million vertices follow."""
    from rapids_trav.engines.cuda import CudaEngine

    sizes = np.array([1, 212, 212 * 212, 40_000, 1_000_000])
    ends = np.cumsum(sizes)
    level = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    u = [np.zeros(212, np.int64), *(np.repeat(level[i], k) for i, k in ((1, 212), (2, 4), (3, 25))), level[4]]
    v = [level[1], level[2], level[3][np.arange(4 * sizes[2]) % sizes[3]], level[4], np.zeros(sizes[4], int)]
    graph = Graph(int(ends[-1]), np.concatenate(u), np.concatenate(v))
    distance, trace = search(CudaEngine(least_pull=least_pull), graph, trace=True)
    assert np.array_equal(distance, np.repeat(np.arange(5), sizes))
    assert [row.frontier for row in trace] == sizes.tolist()
    assert trace[3].direction == "pull"


def test_a_source_that_is_none(engine):
    found = engine.search(GraphView(nine(), engine), engine.xp.asarray([-1]), BfsOptions())
    assert np.all(found.distance.get() == -1) and int(found.n_unreached[0]) == 9


def test_working_memory_is_taken_again(cupy):
    from rapids_trav.engines.cuda.bfs import fused

    workspace = fused.Workspace()
    first = workspace.memory(1000, keep=False)
    second = workspace.memory(1000, keep=True)
    assert first.ptr != second.ptr
    assert workspace.memory(900, keep=False).ptr == second.ptr
    third = workspace.memory(100_000, keep=True)
    passing = fused.Workspace(keeps=False)
    fourth = passing.memory(1000, keep=True)
    assert passing.memory(1000, keep=True).ptr != fourth.ptr
    assert workspace.memory(1000, keep=True).ptr == third.ptr != second.ptr
    assert workspace.memory(fused.KEPT_BYTES + 1, keep=True).mem.size > fused.KEPT_BYTES
    assert workspace.memory(1000, keep=True).ptr == third.ptr


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_predecessors(engine, variant):
    graph = GRAPHS["directed"]
    distance, _ = search(engine, graph, variant=variant, predecessors=False)
    assert np.array_equal(distance, graph.distance([0]))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_depth_limit(engine, variant, limit):
    graph = GRAPHS["grid"]
    expected = graph.distance([0])
    distance, _ = search(engine, graph, variant=variant, depth_limit=limit)
    assert np.array_equal(distance, np.where(expected <= limit, expected, -1))


@pytest.mark.parametrize("variant", VARIANTS)
def test_stops_at_the_level_of_the_last_target(engine, variant):
    graph = GRAPHS["grid"]
    expected = graph.distance([0])
    distance, _ = search(engine, graph, variant=variant, targets=engine.xp.asarray([1, 25, 0]))
    assert np.array_equal(distance, np.where(expected <= expected[25], expected, -1))


@pytest.mark.parametrize("variant", VARIANTS)
def test_unreachable_target_searches_everything(engine, variant):
    graph = GRAPHS["loops"]
    distance, _ = search(engine, graph, variant=variant, targets=engine.xp.asarray([3]))
    assert np.array_equal(distance, graph.distance([0]))


def test_unknown_names_are_refused(engine):
    with pytest.raises(TravError, match=r"'diagonal'.*'push', 'pull'"):
        search(engine, nine(), variant="diagonal")
    with pytest.raises(TravError, match=r"'clever'.*'gap', 'beamer'"):
        search(engine, nine(), variant="direction", policy="clever")


# The known errors of section 1, one test for each.


@pytest.mark.parametrize(("source", "expected"), [(0, NINE_FROM_0), (2, NINE_FROM_2)])
def test_slip_1_pull_knows_the_unreached(engine, source, expected):
    """A mask with one F too few would leave all vertices but the root unlabelled."""
    distance, _ = search(engine, nine(), [source], variant="pull")
    assert distance.tolist() == expected


@pytest.mark.parametrize("variant", ["push", "edge"])
def test_slip_2_the_flag_is_a_scalar(engine, variant):
    """Writing flag[neighbour], or vertex 0 instead of the flag, would change a vertex without in-edges."""
    graph = Graph(6, np.array([3, 4]), np.array([4, 5]))
    distance, _ = search(engine, graph, [3], variant=variant)
    assert distance.tolist() == [-1, -1, -1, 0, 1, 2]


@pytest.mark.parametrize("variant", QUEUES)
def test_slip_3_the_level_is_a_value(engine, variant):
    """A pointer in place of the level would give addresses as distances."""
    distance, _ = search(engine, path(30), variant=variant)
    assert distance.tolist() == list(range(30))


@pytest.mark.parametrize("capacity", [1, 4, 2048])
def test_slip_4_overflow_loses_nothing(cupy, capacity):
    """A star overflows the private queue; the frontier is the plain variant's, whatever the capacity."""
    from rapids_trav.engines.cuda import CudaEngine

    engine = CudaEngine(private_capacity=capacity)
    for graph in (star(5000), random(3000, 40000, symmetric=True, seed=3)):
        distance, trace = search(engine, graph, variant="private", trace=True)
        plain, plain_trace = search(engine, graph, variant="frontier", trace=True)
        assert np.array_equal(distance, graph.distance([0]))
        assert np.array_equal(distance, plain)
        assert [row.frontier for row in trace] == [row.frontier for row in plain_trace]


@pytest.mark.parametrize("variant", VARIANTS)
def test_slip_5_every_variant_stores_parents(engine, variant):
    found = engine.search(GraphView(nine(), engine), engine.xp.asarray([0]), BfsOptions(variant=variant))
    parents = found.predecessor.get()
    assert parents.dtype == np.int32
    assert parents[[0, 1, 2, 3, 5, 6, 7]].tolist() == [-1, 0, 0, 1, 2, 2, 2]
    assert parents[4] == 1
    assert parents[8] in (3, 4, 6)


# The requirements P1 to P6.


def test_p1_a_hundred_repeats_agree(engine):
    view = GraphView(GRAPHS["undirected"], engine)
    first, _ = search(engine, view, variant="push")
    for _ in range(99):
        assert np.array_equal(search(engine, view, variant="push")[0], first)


def test_p2_a_pull_stops_at_the_first_parent(engine):
    graph = GRAPHS["dense"]
    _, trace = search(engine, graph, variant="pull", trace=True)
    offsets, _ = graph.rows(transpose=True)
    expected = graph.distance([0])
    in_degree = np.diff(offsets)
    for row in trace:
        unreached = (expected < 0) | (expected >= row.level)
        assert row.edges <= in_degree[unreached].sum()
    assert trace[0].edges < in_degree[expected != 0].sum()


def test_p3_every_edge_on_every_level(engine):
    graph = GRAPHS["directed"]
    _, trace = search(engine, graph, variant="edge", trace=True)
    assert {row.edges for row in trace} == {len(graph.u)}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", ["nine", "directed", "undirected", "grid", "star"])
def test_p4_frontiers_sum_to_the_reached(engine, name, variant):
    """A queue with a duplicate would make the sum too large."""
    graph = GRAPHS[name]
    distance, trace = search(engine, graph, variant=variant, trace=True)
    sizes = np.bincount(distance[distance >= 0])
    frontiers = [row.frontier for row in trace]
    assert frontiers == sizes.tolist()[: len(frontiers)]
    if variant in QUEUES:
        assert sum(frontiers) == np.count_nonzero(distance >= 0)
    assert [row.level for row in trace] == list(range(1, len(trace) + 1))
    assert all(row.milliseconds >= 0 and row.bytes >= 0 for row in trace)


@pytest.mark.parametrize("policy", ["gap", "beamer", "push", "pull"])
@pytest.mark.parametrize("name", ["directed", "undirected", "dense", "grid", "star"])
def test_p6_policies_give_equal_levels(engine, name, policy):
    graph = GRAPHS[name]
    distance, trace = search(engine, graph, variant="direction", policy=policy, trace=True)
    assert np.array_equal(distance, graph.distance([0]))
    if policy in ("push", "pull"):
        assert {row.direction for row in trace} == {policy}


def test_p6_pulls_the_wide_levels_and_returns(engine):
    """A path, a dense core and another path are searched by push, pull and push."""
    core = random(400, 30000, symmetric=True, seed=5)
    before, after = np.arange(400, 440), np.arange(440, 480)
    u = np.concatenate([core.u, [400, 440], before[:-1], after[:-1]])
    v = np.concatenate([core.v, [0, 1], before[1:], after[1:]])
    graph = Graph(480, u, v, symmetric=True)
    for policy in ("gap", "beamer"):
        distance, trace = search(engine, graph, [439], variant="direction", policy=policy, trace=True)
        assert np.array_equal(distance, graph.distance([439]))
        directions = [row.direction for row in trace]
        assert directions[0] == "push"
        assert "push" in directions[directions.index("pull") :]


def test_heavy_rows_are_spread_over_blocks(engine):
    """Rows above the limit have their own kernels; this row needs several passes of a column of blocks."""
    hub = star(600_000)
    view = GraphView(hub, engine)
    for source in (0, 7):
        distance, _ = search(engine, view, [source], variant="direction", policy="push")
        assert np.array_equal(distance, hub.distance([source]))
    each = engine.search_each(view, engine.xp.asarray([0, 7, 9]), BfsOptions())
    assert np.array_equal(each.distance.get(), np.array([hub.distance([s]) for s in (0, 7, 9)]))


def test_long_path(engine):
    graph = path(3000)
    distance, _ = search(engine, graph, [1500])
    assert np.array_equal(distance, np.abs(np.arange(3000) - 1500))


# Many sources.


@pytest.mark.parametrize("variant", ["auto", "push"])
@pytest.mark.parametrize("name", ["directed", "undirected", "dense", "loops", "no edges"])
def test_each_agrees_with_one_by_one(engine, name, variant):
    graph = GRAPHS[name]
    sources = np.arange(graph.n) if variant == "auto" else np.arange(min(graph.n, 5))
    found = engine.search_each(
        GraphView(graph, engine), engine.xp.asarray(sources), BfsOptions(variant=variant)
    )
    distance, predecessor = found.distance.get(), found.predecessor.get()
    assert distance.shape == predecessor.shape == (len(sources), graph.n)
    for row, source in enumerate(sources):
        assert np.array_equal(distance[row], graph.distance([source]))
        check_tree(graph, [source], distance[row], predecessor[row])


@pytest.mark.parametrize("k", [1, 63, 64, 65, 257])
def test_each_fills_its_words(engine, k):
    graph = grid(17)
    sources = np.arange(k) % graph.n
    found = engine.search_each(
        GraphView(graph, engine), engine.xp.asarray(sources), BfsOptions(predecessors=False)
    )
    assert found.predecessor is None
    assert np.array_equal(found.distance.get(), np.array([graph.distance([s]) for s in sources]))


def test_each_with_limit_and_targets(engine):
    graph = grid(9)
    view, sources = GraphView(graph, engine), np.array([0, 40, 80])
    expected = np.array([graph.distance([s]) for s in sources])
    limited = engine.search_each(view, engine.xp.asarray(sources), BfsOptions(depth_limit=2, trace=True))
    assert np.array_equal(limited.distance.get(), np.where(expected <= 2, expected, -1))
    assert [row.level for row in limited.trace] == [1, 2]
    target = engine.search_each(view, engine.xp.asarray(sources), BfsOptions(targets=engine.xp.asarray([4])))
    last = expected[:, 4].max()
    assert np.array_equal(target.distance.get(), np.where(expected <= last, expected, -1))


# Building, trees, paths.


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("n_chunks", [1, 3])
@pytest.mark.parametrize("transpose", [False, True])
def test_build_agrees_with_scipy(engine, name, n_chunks, transpose):
    graph = GRAPHS[name]
    view = GraphView(graph, engine, n_chunks)
    adjacency = engine.build_adjacency(view.chunks, graph.n, symmetric=graph.symmetric, transpose=transpose)
    offsets, columns = adjacency.row_offsets.get(), adjacency.column_indices.get()
    assert offsets.dtype == columns.dtype == np.int32
    expected_offsets, expected_columns = graph.rows(transpose)
    assert np.array_equal(offsets, expected_offsets)
    assert np.array_equal(columns, expected_columns)
    u, v = graph.edges
    rows, cols = (v, u) if transpose else (u, v)
    matrix = coo_matrix((np.ones(len(u)), (rows, cols)), (graph.n, graph.n)).tocsr()
    assert matrix.sum() == len(columns)
    edges = engine.expand_rows(adjacency)
    assert np.array_equal(edges.src.get(), np.repeat(np.arange(graph.n), np.diff(offsets)))
    assert edges.dst is adjacency.column_indices


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_build_range_by_range(engine, name, transpose):
    """The build for large graphs is tested on small ones."""
    from rapids_trav.engines.cuda.build.in_memory import build_adjacency

    graph = GRAPHS[name]
    view = GraphView(graph, engine, n_chunks=2)
    adjacency = build_adjacency(view.chunks, graph.n, symmetric=graph.symmetric, transpose=transpose, large=1)
    expected_offsets, expected_columns = graph.rows(transpose)
    assert adjacency.row_offsets.dtype == adjacency.column_indices.dtype == np.int32
    assert np.array_equal(adjacency.row_offsets.get(), expected_offsets)
    assert np.array_equal(adjacency.column_indices.get(), expected_columns)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", GRAPHS)
def test_build_with_weights_range_by_range(engine, name, dtype, transpose):
    """Weights follow their entries; those of parallel edges ascend.

    If one row has most of the entries, all are sorted at once, since a range would take as much memory.
    """
    from rapids_trav.engines.cuda.build.in_memory import MOST_OF_A_RANGE, build_adjacency

    graph, xp = GRAPHS[name], engine.xp
    weights = np.random.default_rng(3).integers(-4, 5, len(graph.u)).astype(dtype)

    def chunks():
        for part in np.array_split(np.arange(len(weights)), 2):
            yield tuple(xp.asarray(array[part]) for array in (graph.u, graph.v, weights))

    with count_launches() as counts:
        built = build_adjacency(chunks, graph.n, symmetric=graph.symmetric, transpose=transpose, large=1)
    rows, columns = (graph.v, graph.u) if transpose else (graph.u, graph.v)
    if graph.symmetric:
        once = rows != columns
        rows, columns = np.concatenate([rows, columns[once]]), np.concatenate([columns, rows[once]])
        weights = np.concatenate([weights, weights[once]])
    offsets, _ = graph.rows(transpose)
    by_ranges = np.diff(offsets).max(initial=0) <= MOST_OF_A_RANGE * len(rows)
    assert (counts["select_rows"] > 0) == by_ranges or graph.n < 16
    order = np.lexsort((weights, columns, rows))
    assert np.array_equal(built.row_offsets.get(), offsets)
    assert np.array_equal(built.column_indices.get(), columns[order])
    assert built.weights.dtype == dtype
    found = built.weights.get()
    if not counts["select_rows"]:  # those of parallel edges are in any order
        found = found[np.lexsort((found, columns[order], rows[order]))]
    assert np.array_equal(found, weights[order])


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("n_edges", [0, 900])
def test_build_with_64_bit_ids(engine, symmetric, n_edges):
    """The build for 2^31 vertices or more is tested on a small graph."""
    from rapids_trav.engines.cuda.build.in_memory import wide_adjacency

    graph = random(200, n_edges, symmetric)
    adjacency = wide_adjacency(list(GraphView(graph, engine, 2).chunks()), graph.n, symmetric)
    assert adjacency.column_indices.dtype == np.int64
    expected_offsets, expected_columns = graph.rows()
    assert np.array_equal(adjacency.row_offsets.get(), expected_offsets)
    assert np.array_equal(adjacency.column_indices.get(), expected_columns)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("wide_vertices", [False, True])
def test_64_bit_specialisations(engine, variant, wide_vertices):
    """64-bit offsets, with 32-bit or 64-bit ids, give the same answer."""
    from rapids_trav.engines.cuda.build.in_memory import with_first_neighbors

    graph = GRAPHS["directed"]
    view = GraphView(graph, engine)
    vertex_type = np.int64 if wide_vertices else np.int32
    for name in ("out", "into"):
        narrow = getattr(view, name)
        wide = with_first_neighbors(
            narrow.row_offsets.astype(np.int64), narrow.column_indices.astype(vertex_type)
        )
        view.__dict__[name] = wide
    distance, _ = search(engine, view, [3], variant=variant)
    assert np.array_equal(distance, graph.distance([3]))
    sources = engine.xp.asarray([3, 4])
    each = engine.search_each(view, sources, BfsOptions(variant=variant))
    assert np.array_equal(each.distance.get(), np.array([graph.distance([s]) for s in (3, 4)]))
    smallest = engine.smallest_predecessors(view, each.distance).get()
    assert smallest.dtype == vertex_type
    for row, source in enumerate((3, 4)):
        check_tree(graph, [source], each.distance[row].get(), smallest[row])


@pytest.mark.parametrize("name", GRAPHS)
def test_smallest_predecessors(engine, name):
    graph = GRAPHS[name]
    view = GraphView(graph, engine)
    sources = np.arange(min(graph.n, 3))
    found = engine.search_each(view, engine.xp.asarray(sources), BfsOptions())
    smallest = engine.smallest_predecessors(view, found.distance).get()
    distance = found.distance.get()
    offsets, columns = graph.rows(transpose=True)
    for row in range(len(sources)):
        for v in range(graph.n):
            parents = columns[offsets[v] : offsets[v + 1]]
            valid = parents[distance[row, parents] == distance[row, v] - 1]
            expected = valid.min() if distance[row, v] > 0 else -1
            assert smallest[row, v] == expected
    one = engine.smallest_predecessors(view, found.distance[0]).get()
    assert np.array_equal(one, smallest[0])


def test_walk(engine):
    graph = nine()
    found = engine.search(GraphView(graph, engine), engine.xp.asarray([0]), BfsOptions(variant="push"))
    targets = np.array([8, 0, -1, 5, 4])
    lengths, vertices = engine.walk(found.predecessor, engine.xp.asarray(targets))
    lengths, vertices = lengths.get(), vertices.get()
    assert lengths.tolist() == [4, 1, 0, 3, 3]
    ends = np.cumsum(lengths)
    parents = found.predecessor.get()
    for target, begin, end in zip(targets, ends - lengths, ends, strict=True):
        way = vertices[begin:end]
        if target >= 0:
            assert way[0] == 0
            assert way[-1] == target
            assert np.array_equal(parents[way[1:]], way[:-1])


def test_walk_to_nowhere(engine):
    predecessor = engine.xp.full(3, -1, np.int32)
    lengths, vertices = engine.walk(predecessor, engine.xp.asarray(np.empty(0, np.int64)))
    assert len(lengths) == len(vertices) == 0


def skewed():
    """Return a graph with a few hubs; a search pushes the vertices that it finds there into a bitmap."""
    rng = np.random.default_rng(3)
    u = rng.integers(0, 4000, 60000)
    v = (4000 * rng.random(60000) ** 4).astype(np.int64)
    return Graph(4000, u, v, symmetric=True)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("symmetric", [False, True])
def test_edges_in_host_memory(engine, share, symmetric):
    """Columns are in pinned memory, and the device holds a copy of their first and last parts."""
    import cupyx

    base = skewed()
    graph = Graph(base.n, base.u, base.v, symmetric)
    view = GraphView(graph, engine)
    pinned = []  # kept alive as long as the device reads it
    for name in ("out", "into"):
        rows = getattr(view, name)
        host = cupyx.empty_pinned(rows.n_edges, np.int32)
        host[:] = rows.column_indices.get()
        pinned.append(host)
        memory = engine.xp.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host, 0)
        columns = engine.xp.ndarray(host.shape, np.int32, engine.xp.cuda.MemoryPointer(memory, 0))
        head, begin = int(rows.n_edges * share / 3), int(rows.n_edges * (1 - share * 2 / 3))
        kept = (rows.column_indices[:head], rows.column_indices[begin:])
        resident = Resident(head, begin, engine.xp.concatenate(kept)) if share else None
        view.__dict__[name] = replace(rows, column_indices=columns, resident=resident)
    for source in (0, 17, 3999):
        distance, _ = search(engine, view, [source])
        assert np.array_equal(distance, graph.distance([source]))


def test_searches_share_a_stream_and_not_between_streams(engine):
    """A search continues with the counters that the previous one left; each stream has its own counters."""
    graphs = [skewed(), GRAPHS["directed"], nine()]
    views = [GraphView(graph, engine) for graph in graphs]
    for view in views:
        _ = view.out, view.into

    def work(seed):
        found = []
        with engine.xp.cuda.Stream(non_blocking=True) as stream:
            for turn in range(30):
                which = (seed + turn) % len(graphs)
                source = (7 * turn) % graphs[which].n
                distance, _ = search(engine, views[which], [source])
                found.append((which, source, distance))
            stream.synchronize()
        return found

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(4)):
            for which, source, distance in found:
                assert np.array_equal(distance, graphs[which].distance([source]))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_plain_source_is_looked_up_on_the_device(dtype, gaps):
    cudf = pytest.importorskip("cudf")
    ids = np.array([5, 9, 40, 2_000_000_000] if gaps else [5, 6, 7, 8], dtype=dtype)
    edges = cudf.DataFrame({"src": ids[[0, 1, 2]], "dst": ids[[1, 2, 3]]})
    graph = edges.trav.graph()
    for start, source in enumerate(ids.tolist()):
        expected = np.abs(np.arange(4) - start)
        assert np.array_equal(graph.bfs(source)["distance"].to_numpy(), expected)
    for unknown in (0, 4, 10, 2_000_000_001):
        with pytest.raises(UnknownVertexError, match=str(unknown)):
            graph.bfs(unknown)
