"""Predecessors of shortest paths by weight."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.programs.definition import DTYPES, Scalar

_EDGES_A_THREAD = 32  # SPAN of the kernel over the threads of a warp


def tight_predecessors(into: Adjacency, weights: Array, distance: Array, unreached: Scalar) -> Array:
    """For each vertex `v` the smallest `u` that is nearer and explains `distance[v]`, over an edge u -> v.

    Distances are int64 if the weights are integers, float64 if not; `unreached` is that of what was not
    reached.  -1 there, and where no nearer vertex does.
    """
    predecessor = cupy.full(into.n_vertices, -1, into.column_indices.dtype)
    exact = np.dtype(np.int64 if weights.dtype.kind == "i" else np.float64)
    kernels = loader.load_for("shortest_tree.cu", into, WEIGHT=1 + DTYPES.index(weights.dtype.name))
    n_threads = -(-into.n_edges // _EDGES_A_THREAD)
    kernels.launch(
        "tight_predecessors", n_threads, into.row_offsets, into.column_indices, weights, into.n_vertices,
        into.n_edges, distance.astype(exact, copy=False), exact.type(unreached), predecessor,
    )  # fmt: skip
    return predecessor
