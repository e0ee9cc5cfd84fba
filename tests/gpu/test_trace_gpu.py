"""The trace of a search, field by field, compared with counts from its answer."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest
from pairs import pairs

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import generators
from rapids_trav.engines.interface import BfsOptions

from .small_graphs import GRAPHS, Graph, GraphView, grid, path, random, star

pytestmark = pytest.mark.gpu

VARIANTS = ("auto", "push", "pull", "edge", "frontier", "private", "direction", "fused")
FUSED = ("auto", "fused")
TRACED = {
    "star": star(3000),
    "path": path(3000),
    "grid": grid(60),
    "directed": GRAPHS["directed"],
    "dense": random(2000, 60_000, symmetric=True, seed=2),
    "wide": random(40_000, 400_000, symmetric=False, seed=4),
    "loops": GRAPHS["loops"],
    "multi": GRAPHS["multi"],
}


def rmat(scale: int, seed: int) -> Graph:
    edges = generators.rmat(scale, seed=seed)
    return Graph(1 << scale, edges["src"].to_numpy(), edges["dst"].to_numpy(), symmetric=True)


def degrees(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return out-degrees and in-degrees."""
    return np.diff(graph.rows()[0]), np.diff(graph.rows(transpose=True)[0])


def check(graph, degrees, view, variant, distance, trace, seconds, host=False) -> None:
    """Compare every field of every row with values that follow from the distances and degrees."""
    out, into = degrees
    vertex_bytes = view.out.column_indices.dtype.itemsize
    assert [row.level for row in trace] == list(range(1, len(trace) + 1))
    assert len(trace) in (distance.max(), distance.max() + 1)
    for row in trace:
        frontier = distance == row.level - 1
        assert row.frontier == np.count_nonzero(frontier)
        if variant == "edge":
            assert row.edges == out.sum()
        elif row.direction == "pull":
            waiting = (distance < 0) | (distance >= row.level)
            # The fused search reads long rows from their beginning again when it spreads them over the grid.
            most = into[waiting].sum() * (2 if variant in FUSED else 1)
            assert np.count_nonzero(distance == row.level) <= row.edges <= most
        else:
            # The only edge of a leaf leads back to its predecessor and is not followed.
            leaves_left = variant in FUSED and graph.symmetric and row.level > 1
            assert row.edges == out[frontier & (out > (1 if leaves_left else 0))].sum()
        assert vertex_bytes * row.edges <= row.bytes <= (vertex_bytes + 16) * (row.edges + 3 * graph.n)
        if not host:
            assert row.host_bytes == 0
        elif row.direction == "push":
            assert row.host_bytes == vertex_bytes * row.edges
        else:  # first neighbours are in a separate array on the device
            assert 0 <= row.host_bytes <= vertex_bytes * row.edges
        assert row.milliseconds >= 0
    # This does not test speed: a time that was never written would be decades.
    assert sum(row.milliseconds for row in trace) <= 1e3 * seconds + 1


def traced(engine, view, sources, variant: str):
    engine.synchronize()
    begin = perf_counter()
    found = engine.search(view, engine.xp.asarray(sources), BfsOptions(variant=variant, trace=True))
    engine.synchronize()
    return found.distance.get(), found.trace, perf_counter() - begin


@pairs(
    name=TRACED,
    variant=VARIANTS,
    least_pull=[0, 1 << 20],  # of the fused search alone
    sources=["first", "last", "several"],
    allowed=lambda name, variant, least_pull, sources: variant in FUSED or not least_pull,
)
def test_every_field_is_what_the_answer_says(cupy, name, variant, least_pull, sources):
    from rapids_trav.engines.cuda import CudaEngine

    from .poisoned import poison_shared_memory

    engine, graph = CudaEngine(least_pull=least_pull), TRACED[name]
    view = GraphView(graph, engine)
    _, of = (view.out, view.into, view.coo), degrees(graph)
    several = range(0, graph.n, 1 + graph.n // 5)
    sources = {"first": [0], "last": [graph.n - 1], "several": list(several)}[sources]
    poison_shared_memory()
    distance, trace, seconds = traced(engine, view, sources, variant)
    assert np.array_equal(distance, graph.distance(sources))
    check(graph, of, view, variant, distance, trace, seconds)


def test_more_sources_than_one_block_takes(engine):
    """The whole grid claims the sources and writes the first row of the trace."""
    from .poisoned import poison_shared_memory

    graph = TRACED["wide"]
    view, of, sources = GraphView(graph, engine), degrees(graph), tuple(range(0, graph.n, 17))
    assert len(sources) > 1024
    for _ in range(3):
        poison_shared_memory()
        distance, trace, seconds = traced(engine, view, sources, "fused")
        assert np.array_equal(distance, graph.distance(sources))
        check(graph, of, view, "fused", distance, trace, seconds)


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_read_from_the_host_in_memory(cupy, seed, predecessors):
    """The search is repeated over several roots, as the contents of shared memory differ between searches."""
    pytest.importorskip("cudf")
    from .poisoned import poison_shared_memory

    edges = generators.rmat(16, seed=seed, library="cudf")
    graph = edges.trav.graph()
    for root in edges["src"][:12].to_arrow().to_pylist():
        for poisoned in (False, True):
            if poisoned:
                poison_shared_memory()
            trace = graph.bfs(root, trace=True, predecessors=predecessors).trace
            assert trace["host_bytes"].to_arrow().to_pylist() == [0] * len(trace)


@pytest.mark.parametrize("symmetric", [False, True])
def test_edges_read_in_host_memory_are_counted(engine, symmetric):
    import cupyx

    from .poisoned import poison_shared_memory

    base = TRACED["wide"]
    graph = Graph(base.n, base.u, base.v, symmetric)
    view, of, kept = GraphView(graph, engine), degrees(graph), []  # memory that the device reads

    def outside(rows):
        host = cupyx.empty_pinned(rows.n_edges, np.int32)
        host[:] = rows.column_indices.get()
        kept.append(host)
        memory = engine.xp.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host, 0)
        columns = engine.xp.ndarray(host.shape, np.int32, engine.xp.cuda.MemoryPointer(memory, 0))
        return replace(rows, column_indices=columns)

    out, into = outside(view.out), view.into
    view.__dict__ |= {"out": out, "into": out if symmetric else outside(into)}
    for source in (0, 17, graph.n - 1):
        poison_shared_memory()
        distance, trace, seconds = traced(engine, view, (source,), "fused")
        assert np.array_equal(distance, graph.distance([source]))
        check(graph, of, view, "fused", distance, trace, seconds, host=True)
        assert sum(row.host_bytes for row in trace) > 0


def test_the_trace_of_a_frame_counts_its_graph(cupy):
    pytest.importorskip("cudf")
    for seed in (3, 4):
        graph = rmat(14, seed)
        out, _ = degrees(graph)
        frame = generators.rmat(14, seed=seed, library="cudf").trav.graph()
        for root in np.flatnonzero(out)[:3].tolist():
            trace = frame.bfs(root, trace=True).trace.to_pandas()
            sizes = np.bincount(graph.distance([root]) + 1)[1:]
            assert trace["frontier"].tolist() == sizes.tolist()[: len(trace)]
            assert trace["edges"].between(0, 2 * out.sum()).all()
            assert trace["host_bytes"].eq(0).all()
