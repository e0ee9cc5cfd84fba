"""Searches and the steps around them, over graphs in GPU memory."""

from __future__ import annotations

from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Resident
from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.cuda.build.in_memory import build_adjacency, wide_adjacency, with_first_neighbors
from rapids_trav.engines.interface import BfsOptions
from tests.gpu.small_graphs import GRAPHS, Graph, GraphView, check_tree, random, star

EXTRA = {
    "wide star": star(20000),
    "skewed": random(3000, 60000, symmetric=True, seed=1),
}


def check_graph(graph: Graph, engine: CudaEngine, bits: tuple[int, int]) -> None:
    """Check every variant, batch, tree and path on one graph, with ids and offsets of these bit widths."""
    view = GraphView(graph, engine)
    for name in ("out", "into"):
        view.__dict__[name] = _widened(getattr(view, name), *bits)
    if graph.symmetric:
        view.__dict__["into"] = view.out
    sources = [0] if graph.n == 1 else [0, graph.n - 1]
    expected = graph.distance(sources)
    for variant in engine.variants:
        for trace in (False, True):
            found = engine.search(view, cupy.asarray(sources), BfsOptions(variant=variant, trace=trace))
            assert np.array_equal(found.distance.get(), expected), variant
            check_tree(graph, sources, found.distance.get(), found.predecessor.get())
    for policy in ("beamer", "push", "pull"):
        options = BfsOptions(variant="direction", policy=policy, predecessors=False)
        assert np.array_equal(engine.search(view, cupy.asarray(sources), options).distance.get(), expected), (
            policy
        )

    hubs = engine.search(view, cupy.asarray(sources), BfsOptions(hub_degree=0))
    assert np.array_equal(hubs.distance.get(), expected)
    queued = engine.bfs_stream(view, (cupy.asarray([source]) for source in sources), BfsOptions(), 2)
    for source, found in zip(sources, queued, strict=True):
        distance = found.distance.get()
        assert np.array_equal(distance, graph.distance([source]))
        check_tree(graph, [source], distance, found.predecessor.get())

    many = np.arange(70) % graph.n
    each = engine.search_each(view, cupy.asarray(many), BfsOptions())
    rows = {source: graph.distance([source]) for source in many}
    assert np.array_equal(each.distance.get(), np.array([rows[source] for source in many]))
    smallest = engine.smallest_predecessors(view, each.distance).get()
    for row, source in enumerate(many):
        check_tree(graph, [source], each.distance[row].get(), each.predecessor[row].get())
        check_tree(graph, [source], each.distance[row].get(), smallest[row])
    reached = cupy.asarray(np.flatnonzero(each.distance[0].get() >= 0))
    lengths, vertices = engine.walk(each.predecessor[0], reached)
    assert int(lengths.sum()) == len(vertices)


def check_resident(graph: Graph, engine: CudaEngine) -> None:
    """Check a search that reads a part of its edges from a separate array."""
    view = GraphView(graph, engine)
    for name in ("out", "into"):
        rows = getattr(view, name)
        middle = rows.n_edges // 2
        columns = cupy.concatenate([rows.column_indices[: middle // 2], rows.column_indices[middle:]])
        view.__dict__[name] = replace(rows, resident=Resident(middle // 2, middle, columns))
    found = engine.search(view, cupy.asarray([0]), BfsOptions())
    assert np.array_equal(found.distance.get(), graph.distance([0]))


def _widened(adjacency: Adjacency, vertex_bits: int, edge_bits: int) -> Adjacency:
    return with_first_neighbors(
        adjacency.row_offsets.astype(f"int{edge_bits}", copy=False),
        adjacency.column_indices.astype(f"int{vertex_bits}", copy=False),
    )


def check_builds(graph: Graph, engine: CudaEngine) -> None:
    """Check rows built from several chunks: in one sort, in ranges of rows, with 64-bit ids."""
    view = GraphView(graph, engine, 3)
    built = (
        build_adjacency(view.chunks, graph.n, symmetric=graph.symmetric),
        build_adjacency(view.chunks, graph.n, symmetric=graph.symmetric, large=1),
        wide_adjacency(list(view.chunks()), graph.n, graph.symmetric),
    )
    offsets, columns = graph.rows()
    for rows in built:
        assert np.array_equal(rows.row_offsets.get(), offsets)
        assert np.array_equal(rows.column_indices.get(), columns)


def run() -> None:
    engine = CudaEngine(least_pull=0)  # switches by the ratio alone, since these graphs are small
    for name, graph in (GRAPHS | EXTRA).items():
        print(name, flush=True)
        check_graph(graph, engine, (32, 32))
        check_resident(graph, engine)
    for name in ("star", "directed", "undirected", "loops", "no edges"):
        check_builds(GRAPHS[name], engine)
    for capacity in (1, 4):
        check_graph(GRAPHS["star"], CudaEngine(private_capacity=capacity), (32, 32))
    for graph in (GRAPHS["dense"], EXTRA["skewed"]):
        check_graph(graph, CudaEngine(), (32, 32))
    for bits in ((32, 64), (64, 64)):
        print(f"{bits[0]}-bit ids, {bits[1]}-bit offsets", flush=True)
        check_graph(GRAPHS["directed"], engine, bits)
