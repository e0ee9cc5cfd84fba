"""Decomposition of the edges of a graph into paths, computed on the host for every engine."""

from __future__ import annotations

from dataclasses import replace

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import whole_number
from rapids_trav.csr.paths import PathLayout
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.build import layout_bytes


def path_layout(graph: TraversableGraph, relaxed: object) -> PathLayout:
    """Return the layout that `Graph.path_layout` documents."""
    most = whole_number("relaxed", relaxed, of="edges")
    kept = graph.storage.layouts.get(most)
    if kept is None:
        kept = _computed(graph, most)
    return replace(kept)  # what its properties compute is freed with the caller's reference


def _computed(graph: TraversableGraph, most: int) -> PathLayout:
    """Return a new layout, which the graph keeps."""
    rows = graph.storage.forward(weighted=graph.weight is not None)
    weight = 0 if rows.weights is None else rows.weights.dtype.itemsize
    needed = layout_bytes(rows.n_vertices, rows.n_edges, weight, relaxed=most > 0)
    budget = graph.budget if graph.engine.place == "host" else None
    with holding(budget, needed, "the paths of the edges"):
        from rapids_trav.published.largegraph.path_decomposition import decompose  # imports Numba

        return graph.storage.keep_layout(decompose(rows.on_host(), most))
