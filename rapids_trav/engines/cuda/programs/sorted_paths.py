"""Shortest paths by weight over rows sorted by weight, in one launch (`kernels/sorted_paths.cu`).

U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49,
2003; V. Chakaravarthy et al., "Scalable single source shortest path algorithms for massively parallel
systems", IPDPS 2014.

1. `sort_rows` sorts each row by weight, once for a graph.
2. A search pushes along the light ends of rows until most edges have a settled end; the other vertices then
   pull.  So it reads about a tenth of the edges of a graph with skewed degrees.
3. How far to push is learned from the first search that meets hubs, which pushes without bound.  Distances
   from other sources differ mainly by how far the source is from the hubs.  In a graph with a long diameter,
   such as a grid, pushing never ends.

Distances are exactly those of the vertex program `shortest_paths`.
"""

from __future__ import annotations

import math

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, WeightedRows, search_offsets, sources
from rapids_trav.engines.cuda.device_memory import allocating, device_memory
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.cuda.runtime.memory import free_bytes, together
from rapids_trav.engines.runs import WeightedPaths
from rapids_trav.engines.weighted_rows import MOST_WINDOWS, SETTLED, narrowed, sample, window_width
from rapids_trav.programs.definition import DTYPES, Scalar

FILE = "sorted_paths.cu"
TUNED = loader.TUNABLES[FILE]
WARP, HEAD = 32, 64  # HEAD: edges of a row that are pushed before the rest of it is cut into chunks
CONTROL_BYTES, CORE = 128, 112  # struct Control, and where its field `core` begins
SORTED_AT_ONCE = 1 << 26  # entries, unless a single row has more
SORT_BYTES = 48  # per entry that is sorted at once, at most
LARGE = 4096  # a round is large if its rows have more than this part of the edges
pays_after = 0  # on a GPU sorting takes less time than one run of the program


def sort_rows(adjacency: Adjacency, weights: Array) -> WeightedRows | None:
    """Return the rows with the entries of each in ascending order of weight; None if memory is short.

    Weights of 8 bytes are stored in 4 if that loses nothing.
    """
    n_edges, vertex = adjacency.n_edges, adjacency.column_indices.dtype
    n_bytes = 2 * weights.dtype.itemsize * n_edges + SORT_BYTES * min(n_edges, SORTED_AT_ONCE)
    if n_edges == 0 or vertex.itemsize > 4 or n_bytes > free_bytes():
        return None
    with device_memory("the rows sorted by weight", n_bytes):
        weights = narrowed(weights)
        entries = cupy.empty((n_edges, 2), f"i{weights.dtype.itemsize}")
        for begin, end in _whole_rows(adjacency):
            part, own = entries[begin:end], weights[begin:end]
            order = _order(sources(adjacency, begin, end, cupy), own)
            part[:, 0] = adjacency.column_indices[begin:end][order]
            part[:, 1] = own[order].view(part.dtype)
        return WeightedRows(adjacency.row_offsets, entries, weights.dtype)


def _search_bytes(out: WeightedRows, *_: object) -> int:
    of_vertices = (32 + out.weight_dtype.itemsize) * out.n_vertices
    return of_vertices + (4 + out.row_offsets.dtype.itemsize) * _n_chunks(out)


def _n_chunks(out: WeightedRows) -> int:
    return 2 * out.n_edges // min(2 * HEAD, TUNED["CHUNK"]) + 1


@allocating("the shortest paths", _search_bytes)
def search(out: WeightedRows, into: WeightedRows, start: Array, predecessors: bool) -> WeightedPaths:
    """Return the shortest distances from the nearest of `start`; see `engines.interface.SortedPaths`."""
    n, weight, offset, vertex = out.n_vertices, out.weight_dtype, out.row_offsets.dtype, np.dtype(np.int32)
    n_chunks, start = _n_chunks(out), start.astype(vertex, copy=False)
    blocks = TUNED["RESIDENT_BLOCKS"] * loader.multiprocessors(cupy.cuda.runtime.getDevice())
    n_warps = blocks * TUNED["BLOCK_SIZE"] // WARP
    capacity = n_warps * -(-n // (n_warps * WARP)) * WARP  # each warp has as much for itself
    distance = cupy.empty(n, np.int64 if weight.kind == "i" else np.float64)
    stamps, vertices, next_vertices, lightest, chunk_vertices, chunk_begins = together(
        (n, np.uint32),
        (capacity, vertex),
        (capacity, vertex),
        (capacity, weight),
        (n_chunks, vertex),
        (n_chunks, offset),
    )
    control = cupy.zeros(CONTROL_BYTES, np.uint8)
    width, reach = window_width(out, cupy), out.learned.get("reach")
    arguments = arguments_of(FILE)(
        out_offsets=out.row_offsets,
        out_entries=out.entries,
        in_offsets=into.row_offsets,
        in_entries=into.entries,
        sources=start,
        distance=distance,
        stamps=stamps,
        list=vertices,
        next_list=next_vertices,
        lightest=lightest,
        chunk_vertices=chunk_vertices,
        chunk_begins=chunk_begins,
        control=control,
        n_vertices=n,
        n_sources=len(start),
        capacity=capacity,
        large=max(out.n_edges // (LARGE * WARP), 1),
        width=_bits(width, distance.dtype),
        reach=_bits(reach or 0, distance.dtype),
    )
    weight_kind = 1 + DTYPES.index(weight.name)
    kernels = loader.load_types(FILE, vertex, offset, WEIGHT=weight_kind)
    kernels.launch_grid("sorted_paths", (blocks,), arguments, block=TUNED["BLOCK_SIZE"], cooperative=True)
    if reach is None:
        _learn(out, distance, control)
    predecessor = None
    if predecessors:
        predecessor = cupy.full(n, -1, vertex)
        for name in ("head_predecessors", "chunk_predecessors"):
            kernels.launch(name, n, arguments, predecessor)
    return WeightedPaths(distance, predecessor)


def _bits(number: Scalar, dtype: np.dtype) -> int:
    """Return a number as the kernel compares distances."""
    return int(np.asarray(number, dtype).view(np.uint64))


def _whole_rows(adjacency: Adjacency) -> list[tuple[int, int]]:
    """Return the first and the last edge of parts of whole rows, of `SORTED_AT_ONCE` edges if rows allow."""
    offsets, parts, begin = adjacency.row_offsets, [], 0
    while begin < adjacency.n_edges:
        row = int(search_offsets(offsets, begin + SORTED_AT_ONCE, "right", cupy)) - 1
        end = int(offsets[row])
        if end <= begin:  # a single row is longer
            end = int(offsets[row + 1])
        parts.append((begin, end))
        begin = end
    return parts


def _order(rows: Array, weights: Array) -> Array:
    """Return the order of edges by row and, in each row, by weight."""
    bits = weights.view(f"u{weights.dtype.itemsize}")
    if bits.dtype.itemsize == 4:
        return cupy.argsort(rows.astype(np.uint64) << np.uint64(32) | bits)
    order = cupy.argsort(bits)
    return order[cupy.argsort(rows[order], kind="stable")]


def _learn(rows: WeightedRows, distance: Array, control: Array) -> None:
    """Learn how far to push from a search without bound, if it has met hubs."""
    far = np.iinfo(np.int64).max if distance.dtype.kind == "i" else math.inf
    if control[CORE : CORE + 8].view(distance.dtype).item() == far:
        return
    found = cupy.sort(distance[rows.entries[sample(rows, cupy), 0]])
    found = found[found < far]
    if len(found):
        near, settled = found[[len(found) // 100, int(SETTLED * (len(found) - 1))]].tolist()
        width = rows.learned["width"]  # the hubs are somewhere in the window in which they are met
        rows.learned["reach"] = settled - near + width if settled - near <= MOST_WINDOWS * width else 0
