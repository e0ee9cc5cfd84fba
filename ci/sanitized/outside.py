"""Rows that are built in pieces and kept in pinned host memory, and searches that read them there."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.pages import page_rows
from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.memory.budget import Budget
from tests.gpu.small_graphs import GRAPHS, Graph, GraphView, check_tree

VERTEX_BYTES = 16  # bytes that a build takes per vertex
ROOM = (60_000, 600_000)  # bytes for edges: few, and more


class Outside:
    """Pinned memory, and a budget for device memory."""

    cut = staticmethod(page_rows)

    def __init__(self, engine: CudaEngine, n_bytes: int) -> None:
        self._engine = engine
        self.budget = Budget(n_bytes)

    def allocate(self, n: int, dtype: Any, what: str) -> np.ndarray:
        return self._engine.empty_pinned(n, dtype)

    def allocate_spare(self, n: int, dtype: Any, what: str, n_threads: int) -> np.ndarray:
        return np.empty(n, dtype)


def built(graph: Graph, engine: CudaEngine, room: int, transpose: bool = False) -> Adjacency:
    """Build the rows with weights u + v / 1024, for which the order of repeated edges is irrelevant."""
    view = GraphView(graph, engine, 2)

    def chunks():
        return ((u, v, (u + v / 1024).astype(np.float32)) for u, v in view.chunks())

    outside = Outside(engine, VERTEX_BYTES * graph.n + room)
    rows = engine.build_outside(
        chunks, graph.n, outside, symmetric=graph.symmetric, transpose=transpose and not graph.symmetric
    )
    assert outside.budget.used == 0
    offsets, columns = graph.rows(transpose)
    assert np.array_equal(rows.row_offsets, offsets)
    assert np.array_equal(rows.column_indices, columns)
    own = np.repeat(np.arange(graph.n), np.diff(offsets))
    u, v = (columns, own) if transpose else (own, columns)
    given = (u + v / 1024).astype(np.float32)
    mirrored = (v + u / 1024).astype(np.float32) if graph.symmetric else given
    assert np.all((rows.weights == given) | (rows.weights == mirrored))
    return rows


def check_outside(graph: Graph, engine: CudaEngine, room: int) -> None:
    """Check searches that read all of the columns over the bus, and only a part of them."""
    out = built(graph, engine, room)
    into = out if graph.symmetric else built(graph, engine, room, transpose=True)
    sources = [0, graph.n - 1]
    for first_row in (graph.n // 2, graph.n):
        view = GraphView(graph, engine)
        for name, rows in (("out", out), ("into", into)):
            begin = int(rows.row_offsets[first_row])
            view.__dict__[name] = engine.reach_outside(rows, begin // 2, begin)
        if graph.symmetric:
            view.__dict__["into"] = view.out
        for variant in ("auto", "direction"):
            found = engine.search(view, cupy.asarray(sources), BfsOptions(variant=variant, trace=True))
            assert np.array_equal(found.distance.get(), graph.distance(sources)), variant
            check_tree(graph, sources, found.distance.get(), found.predecessor.get())
        each = engine.search_each(view, cupy.asarray(sources), BfsOptions())
        assert np.array_equal(each.distance.get(), np.array([graph.distance([s]) for s in sources]))
    cupy.cuda.runtime.deviceSynchronize()  # before the host memory is freed


def run() -> None:
    print("outside the GPU's memory", flush=True)
    engine = CudaEngine(least_pull=0)  # switches by the ratio alone, since these graphs are small
    for name in ("star", "directed", "undirected", "loops"):
        for room in ROOM:
            check_outside(GRAPHS[name], engine, room)
