"""Path layouts of a graph (docs/systems.md, L2), computed on the host for every engine or opened with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import whole_number
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.paths import PathLayout
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.build import layout_bytes
from rapids_trav.saved.folder import BLOCK, GraphFolder, ascend
from rapids_trav.saved.head import OFFSETS, damaged
from rapids_trav.saved.write import paths_array


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


def restore_layouts(folder: GraphFolder, edges: Adjacency) -> dict[int, PathLayout]:
    """Map the path layouts of a saved graph, and check that nothing in them is read out of bounds.

    The vertices of each path must be vertices of the graph, and all paths together have as many edges as the
    graph.  With the folder's `verify`, these must also be its edges with their weights, and the paths as
    strict or as long as `relaxed` says.
    """
    return {relaxed: _restored(folder, edges, relaxed) for relaxed in folder.head.path_layouts}


def _restored(folder: GraphFolder, edges: Adjacency, relaxed: int) -> PathLayout:
    vertices = folder.vertices(paths_array(relaxed, "vertices"))
    starts = folder.array(paths_array(relaxed, "starts"), *OFFSETS)
    weights = None if edges.weights is None else folder.weights(paths_array(relaxed, "weights"))
    fitting = (
        len(starts) > 0
        and int(starts[0]) == 0
        and int(starts[-1]) == len(vertices) == edges.n_edges + len(starts) - 1
        and ascend(starts)
        and all(bool((np.diff(part) > 1).all()) for part in _overlapping(starts))
        and (weights is None or (len(weights), weights.dtype) == (edges.n_edges, _dtype(edges)))
    )
    path = folder.path / f"{paths_array(relaxed, 'starts')}.npy"
    if not fitting:
        raise damaged(path, "does not cut the edges of the graph into paths")
    layout = PathLayout(vertices, starts, weights, edges.n_vertices, relaxed)
    if folder.verify:
        from rapids_trav.published.largegraph.path_decomposition import path_fault  # imports Numba

        if (fault := path_fault(layout, edges)) is not None:
            raise damaged(path.with_name(f"{paths_array(relaxed, 'vertices')}.npy"), fault)
    return layout.kept(lambda array: array)


def _dtype(edges: Adjacency) -> np.dtype | None:
    return None if edges.weights is None else edges.weights.dtype


def _overlapping(starts: np.ndarray) -> Iterable[np.ndarray]:
    """Return an iterator over parts of an array, each of which begins with the last entry before it."""
    return (starts[i : i + BLOCK + 1] for i in range(0, len(starts) - 1, BLOCK))
