"""Predecessors and paths, made from finished searches."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime import loader

_MOST_SEARCHES = 65535  # limit of gridDim.y


def smallest_predecessors(
    into: Adjacency, distance: Array, order: Array | None = None, first_row: int = 0
) -> Array:
    """Return the smallest u with an edge u -> v and distance[u] == distance[v] - 1.

    `distance` is (n,) or (k, n); `order`, (n,), has the keys by which vertices are compared, if it is given.
    The rows are those of the vertices from `first_row` on, and so are the predecessors.
    """
    distance = cupy.ascontiguousarray(distance, np.int32)
    *searches, n_vertices = distance.shape
    predecessor = cupy.empty((*searches, into.n_vertices), into.column_indices.dtype)
    if predecessor.size:
        n_searches = predecessor.size // into.n_vertices
        blocks = min(-(-into.n_vertices // loader.BLOCK), loader.most_blocks())
        loader.load_for("tree.cu", into).launch_grid(
            "smallest_predecessors" if order is None else "first_predecessors",
            (blocks, min(n_searches, _MOST_SEARCHES)),
            into.row_offsets,
            into.column_indices,
            into.n_vertices,
            first_row,
            n_vertices,
            n_searches,
            distance,
            *([] if order is None else [order]),
            predecessor,
        )
    return predecessor


def walk(predecessor: Array, targets: Array) -> tuple[Array, Array]:
    """Return root-to-target paths, concatenated: lengths int64 (t,), vertices (sum of lengths,).

    A negative target has an empty path.  An unreached vertex has no predecessor, so its path is itself alone.
    """
    kernels = loader.load("tree.cu", vertex_bits=8 * predecessor.dtype.itemsize)
    predecessor = cupy.ascontiguousarray(predecessor)
    targets = cupy.ascontiguousarray(targets, predecessor.dtype)
    lengths = cupy.empty(len(targets), np.int64)
    kernels.launch("walk_lengths", len(targets), predecessor, targets, len(targets), lengths)
    ends = cupy.cumsum(lengths)
    vertices = cupy.empty(int(ends[-1]) if len(ends) else 0, predecessor.dtype)
    kernels.launch("walk_vertices", len(targets), predecessor, targets, len(targets), ends, vertices)
    return lengths, vertices
