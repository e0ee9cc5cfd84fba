"""Predecessors and paths, made from finished searches and from distances by weight."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.interface import Ordered
from rapids_trav.programs.definition import DTYPES, Scalar

OfferArguments = arguments_of("ordered_tree.cu", "OfferArguments")
LEVELS = 256  # sums of edges of each search, as in ordered_tree.cu
_EDGES_A_THREAD = 32  # SPAN of the kernel over the threads of a warp
_VERTICES_A_THREAD = 8
_MOST_SEARCHES = 65535  # limit of gridDim.y


def smallest_predecessors(into: Adjacency, distance: Array) -> Array:
    """Return the smallest u with an edge u -> v and distance[u] == distance[v] - 1.

    `distance` is (n,) or (k, n).
    """
    return _of_rows("smallest_predecessors", into, distance, 0)


def first_predecessors(rows: Adjacency, first_row: int, distance: Array, order: Array) -> Array:
    """Return likewise the u that is first in `order`, (n,), for some of the vertices.

    The rows are those of the vertices from `first_row` on, and so are the predecessors.
    """
    return _of_rows("first_predecessors", rows, distance, first_row, order)


def _of_rows(kernel: str, into: Adjacency, distance: Array, first_row: int, *order: Array) -> Array:
    """Return the predecessors of the vertices whose rows are given, (rows,) or (k, rows)."""
    distance = cupy.ascontiguousarray(distance, np.int32)
    *searches, n_vertices = distance.shape
    predecessor = cupy.empty((*searches, into.n_vertices), into.column_indices.dtype)
    if predecessor.size:
        n_searches = predecessor.size // into.n_vertices
        rows = (into.row_offsets, into.column_indices, into.n_vertices, first_row)
        found = (n_vertices, n_searches, distance, *order, predecessor)
        grid = _grid(into.n_vertices, n_searches)
        loader.load_for("tree.cu", into).launch_grid(kernel, grid, *rows, *found)
    return predecessor


def ordered_predecessors(
    into: Adjacency, distance: Array, ordered: Ordered, symmetric: bool, examined: Array | None = None
) -> Array:
    """Return the smallest u in the given order; see `kernels/ordered_tree.cu`.

    `symmetric` says whether rows have the edges of both directions.  `examined`, uint64 (1,), grows by the
    number of edges read, if it is given.
    """
    n, vertex = into.n_vertices, into.column_indices.dtype
    distance = cupy.ascontiguousarray(distance, np.int32)
    if not distance.size:
        return cupy.empty(distance.shape, vertex)
    n_searches = distance.size // n
    near, predecessor, level_edges = together(
        (distance.size, np.uint8), (distance.size, vertex), (n_searches * LEVELS, np.uint64)
    )
    level_edges.fill(0)
    kernels = loader.load_for("ordered_tree.cu", into)
    levels_grid = _grid(-(-n // _VERTICES_A_THREAD), n_searches)
    kernels.launch_grid(
        "list_levels", levels_grid, into.row_offsets, n, n_searches, distance, near, level_edges, predecessor
    )
    arguments = OfferArguments(
        row_offsets=into.row_offsets,
        column_indices=into.column_indices,
        n_vertices=n,
        n_edges=into.n_edges,
        n_searches=n_searches,
        symmetric=int(symmetric),
        distances=distance,
        near=near,
        level_edges=level_edges,
        order=ordered.order,
        places=predecessor,
        examined=examined,
    )
    if into.n_edges:
        kernels.launch_grid(
            "offer_predecessors", _grid(-(-into.n_edges // _EDGES_A_THREAD), n_searches), arguments
        )
    kernels.launch("name_predecessors", distance.size, predecessor, distance.size, ordered.rank)
    return predecessor.reshape(distance.shape)


def _grid(n_threads: int, n_searches: int) -> tuple[int, int]:
    return min(-(-n_threads // loader.BLOCK), loader.most_blocks()), min(n_searches, _MOST_SEARCHES)


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


_EDGES_OF_PATHS = 32  # SPAN of the kernel over the threads of a warp


def tight_predecessors(into: Adjacency, weights: Array, distance: Array, unreached: Scalar) -> Array:
    """Return for each `v` the smallest nearer `u` with an edge u -> v that explains `distance[v]` by weight.

    Distances are int64 if the weights are integers, else float64; `unreached` is the distance that stands for
    "not reached".  The result is -1 for unreached vertices, and where no nearer vertex explains the distance.
    """
    predecessor = cupy.full(into.n_vertices, -1, into.column_indices.dtype)
    exact = np.dtype(np.int64 if weights.dtype.kind == "i" else np.float64)
    kernels = loader.load_for("shortest_tree.cu", into, WEIGHT=1 + DTYPES.index(weights.dtype.name))
    n_threads = -(-into.n_edges // _EDGES_OF_PATHS)
    kernels.launch(
        "tight_predecessors", n_threads, into.row_offsets, into.column_indices, weights, into.n_vertices,
        into.n_edges, distance.astype(exact, copy=False), exact.type(unreached), predecessor,
    )  # fmt: skip
    return predecessor
