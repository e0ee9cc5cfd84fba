"""Building of compressed rows from edges in GPU memory: pack, sort, unpack.

1. Pack each edge into a 64-bit key, with the row in the high half and the column in the low half, directly
   into one array for all chunks.
2. Sort the keys in place (a radix sort).
3. Row r starts at the first key that is not below r * 2^32; the columns are the low halves of the keys.

With M entries (twice the edges if symmetric), peak memory is 16 M bytes during the sort, for the keys and the
sort's other buffer, and the current chunk.  If M is large, the rows are built in a few ranges, one after
another, so that the sort needs only a part of that, and the peak is 10 M bytes with the edges and the
columns.  With 2^31 vertices or more a key does not fit into 64 bits; rows and columns are then sorted through
an index, which takes about 48 M bytes.

Edges with weights of w bytes are sorted through an index as well, which takes 40 + w bytes an entry, or only
a part of this range by range, in addition to the edges, columns and weights.  `memory.model.build` has the
formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.cuda.device_memory import device_memory
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.memory.model.build import LARGE, RANGES, device_build_bytes, vertex_bytes

Chunks = Callable[[], Iterable[tuple[Array, ...]]]
Parts = list[tuple[Array, ...]]

NARROW_OFFSETS = 2**31 - 2**16  # kernels index a few thousand entries past the end of a row
_KEY_SHIFT = 32
MOST_OF_A_RANGE = 3 / 8  # largest share of the entries; a range with more saves no memory
_ROW_BLOCKS = 4096  # blocks of rows from which ranges are composed
HUB_DEGREE = 128  # most entries of a row that is not a hub


def build_adjacency(
    chunks: Chunks,
    n_vertices: int,
    *,
    symmetric: bool = False,
    transpose: bool = False,
    large: int = LARGE,
) -> Adjacency:
    """Build an adjacency of the edges u -> v in `chunks()`, with weights if these are triples.

    See `interface.Builder.build_adjacency`.
    """

    # All chunks are held while they are packed, which takes less than the sort that follows.
    parts = [(v, u, *w) if transpose else (u, v, *w) for u, v, *w in chunks()]
    n_edges = sum(len(part[0]) for part in parts)
    n_entries = 2 * n_edges if symmetric else n_edges
    weighted = bool(parts) and len(parts[0]) == 3
    weight = parts[0][2].dtype.itemsize if weighted else 0
    task = "building the adjacency" + (" with weights" if weighted else "")
    n_bytes = device_build_bytes(n_vertices, n_entries, weight, symmetric=symmetric, large=large)
    with device_memory(task, n_bytes):
        if vertex_bytes(n_vertices) == 8:
            return wide_adjacency(parts, n_vertices, symmetric)
        if n_entries >= large:
            parts[:] = [_contiguous(part) for part in parts]
            ranges = _row_ranges(parts, n_vertices, symmetric, RANGES[weighted])
            if not weighted or max(size for *_, size in ranges) <= MOST_OF_A_RANGE * n_entries:
                return _adjacency_by_ranges(parts, n_vertices, ranges, symmetric)
        return _narrow_adjacency(parts, n_vertices, n_entries, symmetric, weighted)


def _contiguous(part: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return both ends in 32 bits, and the weights if there are any, as kernels read them."""
    ends = [cupy.ascontiguousarray(end, np.int32) for end in part[:2]]
    return *ends, *(cupy.ascontiguousarray(weights) for weights in part[2:])


def _narrow_adjacency(
    parts: Parts, n_vertices: int, n_entries: int, symmetric: bool, weighted: bool
) -> Adjacency:
    weights: Array | None = None
    if weighted:  # the keys are packed from the last part to the first
        copies = 2 if symmetric else 1
        weights = cupy.concatenate([part[2] for part in reversed(parts) for _ in range(copies)])
    keys = _packed(parts, n_entries, symmetric)
    if n_entries and weights is not None:
        order = cupy.argsort(keys)
        keys, weights = keys[order], weights[order]
        del order
    elif n_entries:
        keys.sort()
    adjacency = _unpacked(keys, n_vertices)
    return adjacency if weights is None else replace(adjacency, weights=weights[: adjacency.n_edges])


def _adjacency_by_ranges(
    parts: Parts, n_vertices: int, ranges: list[tuple[int, int, int]], symmetric: bool
) -> Adjacency:
    """Build the adjacency one range of rows after another; empties `parts`."""
    kernels = loader.load("build.cu")
    n_kept = sum(size for *_, size in ranges)
    weight_type = parts[0][2].dtype if len(parts[0]) == 3 else None
    weight_bytes = np.int32(0 if weight_type is None else weight_type.itemsize)
    row_offsets = cupy.empty(n_vertices + 1, edge_type(n_kept))
    column_indices = cupy.empty(n_kept, np.int32)
    weights: Array | None = None if weight_type is None else cupy.empty(n_kept, weight_type)
    filled = 0
    for first, after, size in ranges:
        here = slice(filled, filled + size)
        filled += size
        keys, taken = cupy.empty(size, np.uint64), cupy.zeros(1, np.uint64)
        own_weights = None if weight_type is None else cupy.empty(size, weight_type)
        for part in parts:
            kernels.launch(
                "select_rows", len(part[0]), *part[:2], len(part[0]), np.int32(symmetric), first, after,
                taken, keys, None if own_weights is None else part[2], weight_bytes, own_weights,
            )  # fmt: skip
        part = ()
        if filled == n_kept:  # the edges are not needed any more
            parts.clear()
        if size and weights is not None and own_weights is not None:
            order = cupy.argsort(own_weights)  # warps find equal keys in any order
            keys, own_weights = keys[order], own_weights[order]
            order = cupy.argsort(keys, kind="stable")
            keys, weights[here] = keys[order], own_weights[order]
            del order
        elif size:
            keys.sort()
        _row_starts(keys, row_offsets, first, after, here.start)
        kernels.launch("unpack_columns", size, keys, size, column_indices[here])
        del keys, own_weights  # before the next are allocated
    row_offsets[n_vertices] = filled
    return replace(with_first_neighbors(row_offsets, column_indices), weights=weights)


def _row_ranges(parts: Parts, n_vertices: int, symmetric: bool, n_ranges: int) -> list[tuple[int, int, int]]:
    """Return about `n_ranges` ranges with nearly equal entries: first row, row after the last, and entries.

    A block of rows with more entries than a range should have is a range by itself.
    """
    shift = max((n_vertices - 1).bit_length() - (_ROW_BLOCKS - 1).bit_length(), 0)
    n_blocks = ((n_vertices - 1) >> shift) + 1
    count = cupy.zeros(n_blocks, np.uint64)
    kernels = loader.load("build.cu")
    for u, v, *_ in parts:
        kernels.launch_grid(
            "count_row_blocks", (loader.column_blocks(1)[1],), u, v, len(u), np.int32(symmetric),
            np.int32(shift), np.int32(n_blocks), count, shared_bytes=4 * n_blocks,
        )  # fmt: skip
    ends = np.cumsum(count.get().astype(np.int64))
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, n_ranges) // n_ranges) + 1
    cuts = np.unique([0, *cuts, n_blocks])
    before = np.concatenate([[0], ends])
    return [
        (int(first) << shift, min(int(after) << shift, n_vertices), int(before[after] - before[first]))
        for first, after in pairwise(cuts)
    ]


def _packed(parts: Parts, n_entries: int, symmetric: bool) -> Array:
    """Pack edges as keys, with those of each part followed by their mirror images; empty `parts`."""
    packing = loader.load("build.cu")
    keys = cupy.empty(n_entries, np.uint64)
    filled = 0
    while parts:  # each is freed when packed
        u, v = parts.pop()[:2]
        taken = 2 * len(u) if symmetric else len(u)
        ends = [cupy.ascontiguousarray(end, np.int32) for end in (u, v)]
        name = "pack_both" if symmetric else "pack_edges"
        packing.launch(name, len(u), *ends, len(u), keys[filled : filled + taken])
        filled += taken
        del u, v, ends
    return keys


def _unpacked(keys: Array, n_vertices: int) -> Adjacency:
    """Return the rows of sorted keys."""
    row_offsets = cupy.empty(n_vertices + 1, edge_type(len(keys)))
    _row_starts(keys, row_offsets, 0, n_vertices + 1)
    n_kept = int(row_offsets[-1])  # the mirrored self-loops come after these
    column_indices = cupy.empty(n_kept, np.int32)
    loader.load("build.cu").launch("unpack_columns", n_kept, keys, n_kept, column_indices)
    del keys
    return with_first_neighbors(row_offsets, column_indices)


def wide_adjacency(parts: Parts, n_vertices: int, symmetric: bool) -> Adjacency:
    """Build the rows of the edges with 64-bit columns, for 2^31 vertices or more."""
    rows, columns, weights = [], [], []
    for u, v, *w in parts:
        rows.append(u.astype(np.int64, copy=False))
        columns.append(v.astype(np.int64, copy=False))
        weights += w
        if symmetric:
            once = u != v
            rows.append(columns[-1][once])
            columns.append(rows[-2][once])
            weights += [part[once] for part in w]
    ends = cupy.empty((2, sum(len(part) for part in rows)), np.int64)
    if ends.size:
        cupy.concatenate(columns, out=ends[0])
        cupy.concatenate(rows, out=ends[1])
    del rows, columns
    order = cupy.lexsort(ends) if ends.size else cupy.empty(0, np.int64)
    row_offsets = cupy.empty(n_vertices + 1, np.int64)
    _row_starts(ends[1][order].view(np.uint64), row_offsets, 0, n_vertices + 1, shift=0)
    adjacency = with_first_neighbors(row_offsets, ends[0][order])
    return replace(adjacency, weights=cupy.concatenate(weights)[order]) if weights else adjacency


def with_first_neighbors(row_offsets: Array, column_indices: Array) -> Adjacency:
    """Return the adjacency of these rows with the extra data of searches: first neighbours, hubs, degrees."""
    n_rows = len(row_offsets) - 1
    rows = Adjacency(row_offsets, column_indices)
    first = cupy.empty(n_rows, column_indices.dtype)
    kernels = loader.load_for("build.cu", rows)
    kernels.launch("first_neighbors", n_rows, row_offsets, column_indices, n_rows, first)
    words = cupy.empty((-(-n_rows // 32), 2), row_offsets.dtype)
    kernels.launch("word_rows", n_rows, row_offsets, n_rows, words)
    degrees = cupy.diff(row_offsets)
    # CuPy has a compiled sum for int64; for bool it compiles one with CUB's headers, in every thread anew.
    n_hubs = int((degrees > HUB_DEGREE).astype(np.int64).sum())
    squares = cupy.square(degrees, dtype=np.float64)
    mean = float(squares.sum()) / max(rows.n_edges, 1)
    return replace(rows, first_neighbors=first, word_rows=words, neighbor_degree=mean, n_hubs=n_hubs)


def edge_type(n_entries: int) -> np.dtype:
    """Return the dtype of row offsets that kernels take for so many edges."""
    return np.dtype(np.int32 if n_entries < NARROW_OFFSETS else np.int64)


def _row_starts(
    keys: Array, row_offsets: Array, first: int, after: int, before: int = 0, shift: int = _KEY_SHIFT
) -> None:
    """Write where the rows from `first` on begin to `row_offsets`; `before` entries precede these keys."""
    kernels = loader.load("build.cu", edge_bits=8 * row_offsets.dtype.itemsize)
    kernels.launch(
        "row_starts", after - first, keys, len(keys), first, after, before, np.int32(shift), row_offsets
    )


def count_ids(ids: Array, count: Array) -> None:
    """Add to `count`, int64, the number of times each id occurs in `ids`.

    CuPy's bincount takes gigabytes for a million bins, because CUB's histogram, which it calls, has one
    histogram for each block.
    """
    kernels = loader.load("build.cu", vertex_bits=8 * ids.dtype.itemsize)
    kernels.launch("count_ids", len(ids), cupy.ascontiguousarray(ids), len(ids), count)


def expand_rows(adjacency: Adjacency) -> EdgeList:
    """Return the edges one by one in row order, sharing `column_indices` with the adjacency."""
    rows = cupy.empty_like(adjacency.column_indices)
    kernels = loader.load_for("build.cu", adjacency)
    kernels.launch("expand_rows", len(rows), adjacency.row_offsets, adjacency.n_vertices, len(rows), rows)
    return EdgeList(rows, adjacency.column_indices)
