"""Predecessors of shortest paths by weight."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.programs.definition import DTYPES, Scalar

_EDGES_A_THREAD = 32  # SPAN of the kernel over the threads of a warp


def tight_predecessors(into: Adjacency, weights: Array, distance: Array, unreached: Scalar) -> Array:
    """Return for each `v` the smallest nearer `u` with an edge u -> v that explains `distance[v]` by weight.

    Distances are int64 if the weights are integers, else float64; `unreached` is the distance that stands for
    "not reached".  The result is -1 for unreached vertices, and where no nearer vertex explains the distance.
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
