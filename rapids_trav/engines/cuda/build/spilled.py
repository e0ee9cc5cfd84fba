"""Building of compressed rows that are larger than the GPU, on the GPU, with the result in host memory.

1. Count the edges of every row, chunk by chunk; the running sum is where each row begins.
2. Fill the rows in ranges that fit on the GPU, at 4 bytes an entry: for each range, read all edges and put
   the entries of its rows at the next free places.
3. Page by page, sort each row of the range, and copy the page to the host.

The result thus crosses the bus once, in long copies, although the edges are read once for each range.
Entries that are written one by one cross the bus at a twentieth of its speed, but if more than `MOST_RANGES`
ranges would be needed, that is still cheaper.  Step 2 then reads the edges once, sorts each block by row so
that the entries of a row are adjacent, and writes them to their places in host memory, from which step 3
takes its pages.

The host holds nothing but the result; the sorted runs of keys of an external sort would take twice its size
in addition.  The GPU holds 16 bytes a vertex and, within the budget, a range and a block or a page.

`xp` is CuPy, or NumPy where there is no GPU: the steps are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, sources
from rapids_trav.engines.cuda.build.places import both_ways, places, to_host, write
from rapids_trav.engines.interface import Chunks, HostArrays
from rapids_trav.errors import EDGES_CHANGED, TravError
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import ENTRY_BYTES, ROW_BYTES

LARGEST_BLOCK = 1 << 28  # entries; longer blocks are no faster
MOST_RANGES = 8
WORK_SHARE = 8  # 1/WORK_SHARE of the free budget is for a block or a page beside the range
_KEY_SHIFT = 32


@dataclass(frozen=True)
class Device:
    """The functions of the engine that a build needs."""

    xp: ModuleType
    count_ids: Callable[[Array, Array], None]  # adds to the counts the number of times each id occurs
    place: Callable[..., None]  # with the signature and the result of `places.place_plainly`
    # The array of `xp` over the memory of a host array, if there can be one.
    reach: Callable[[Array], Array | None]


def build_adjacency(
    chunks: Chunks,
    n_vertices: int,
    outside: HostArrays,
    device: Device,
    *,
    symmetric: bool = False,
    transpose: bool = False,
) -> Adjacency:
    """Build an adjacency, in host arrays, of the edges u -> v (and weights) in `chunks()`.

    It is an error if these differ from one reading to the next.
    """
    budget, xp = outside.budget, device.xp
    edges = _Edges(chunks, symmetric, transpose, budget)
    with budget.hold(ROW_BYTES * n_vertices, "row counts of the build"):
        free = xp.zeros(n_vertices, np.int64)
        weight_dtype = None
        for rows, columns, weights in edges.blocks():
            weight_dtype = weight_dtype or getattr(weights, "dtype", None)
            device.count_ids(rows, free)
            if symmetric:
                device.count_ids(columns[rows != columns], free)
        ends = xp.cumsum(free)
        xp.subtract(ends, free, out=free)
        row_offsets = outside.allocate(n_vertices + 1, np.int64, "row offsets")
        row_offsets[0] = 0
        to_host(ends, row_offsets[1:])

        n_entries, vertex = int(row_offsets[-1]), np.dtype(np.int32 if n_vertices < 2**31 else np.int64)
        built = Adjacency(
            row_offsets,
            outside.allocate(n_entries, vertex, "column indices"),
            weights=None if weight_dtype is None else outside.allocate(n_entries, weight_dtype, "weights"),
        )
        firsts = _ranges(built, outside)
        if firsts is None:
            _fill_on_host(built, edges, free, ends, device)
        else:
            for first, after in pairwise(firsts):
                _fill_range(built, first, after, edges, free, ends, outside, device)
        del free, ends
    if firsts is None:
        for first, after in pairwise(outside.cut(row_offsets, budget.free, ENTRY_BYTES, ROW_BYTES).tolist()):
            page = slice(int(row_offsets[first]), int(row_offsets[after]))
            weights = None if built.weights is None else built.weights[page]
            _sort_rows(built, first, after, built.column_indices[page], weights, budget, xp)
    return built


class _Edges:
    """The edges as rows, columns and weights; the memory of a block is charged while it is in use."""

    def __init__(self, chunks: Chunks, symmetric: bool, transpose: bool, budget: Budget) -> None:
        self._chunks, self._transpose, self._budget = chunks, transpose, budget
        self.symmetric = symmetric

    def blocks(self) -> Iterator[tuple[Array, Array, Array | None]]:
        entry_bytes = ENTRY_BYTES * (2 if self.symmetric else 1)
        longest = max(min(self._budget.free // entry_bytes, LARGEST_BLOCK), 1)
        for u, v, *w in self._chunks():
            rows, columns = (v, u) if self._transpose else (u, v)
            for begin in range(0, max(len(u), 1), longest):
                part = slice(begin, begin + longest)
                with self._budget.hold(entry_bytes * len(rows[part]), "a block of edges"):
                    yield rows[part], columns[part], w[0][part] if w else None


def _ranges(built: Adjacency, outside: HostArrays) -> list[int] | None:
    """Return the first rows of the ranges that the device holds in turn, and the row count, or None.

    None means that there are too many ranges, or that a single row does not fit.
    """
    free, offsets = outside.budget.free, built.row_offsets
    room = free - max(free // WORK_SHARE, 2 * ENTRY_BYTES)
    entry_bytes = sum(part.dtype.itemsize for part in _entries(built))
    if room <= 0 or entry_bytes * built.n_edges > MOST_RANGES * room:
        return None
    firsts = outside.cut(offsets, room, entry_bytes, 0)
    too_long = bool((np.diff(offsets[firsts]) * entry_bytes > room).any())  # a single row
    return None if too_long or len(firsts) > MOST_RANGES + 1 else firsts.tolist()


def _entries(built: Adjacency) -> list[Array]:
    return [built.column_indices] if built.weights is None else [built.column_indices, built.weights]


def _fill_range(
    built: Adjacency,
    first: int,
    after: int,
    edges: _Edges,
    free: Array,
    ends: Array,
    outside: HostArrays,
    device: Device,
) -> None:
    """Run steps 2 and 3 for the rows `first` to `after - 1`."""
    budget, xp, offsets = outside.budget, device.xp, built.row_offsets
    begin, end = int(offsets[first]), int(offsets[after])
    n_bytes = sum(part.dtype.itemsize for part in _entries(built)) * (end - begin)
    with budget.hold(n_bytes, "a range of rows"):
        placed, *own = (xp.empty(end - begin, part.dtype) for part in _entries(built))
        placed_weights = own[0] if own else None
        for rows, columns, weights in edges.blocks():
            device.place(
                rows, columns, weights, edges.symmetric, first, after, begin, free, placed, placed_weights
            )
        if bool((free[first:after] != ends[first:after]).any()):
            raise TravError(EDGES_CHANGED)
        pages = outside.cut(offsets[first : after + 1], budget.free, ENTRY_BYTES, ROW_BYTES) + first
        for row, behind in pairwise(pages.tolist()):
            page = slice(int(offsets[row]) - begin, int(offsets[behind]) - begin)
            own_weights = None if placed_weights is None else placed_weights[page]
            _sort_rows(built, row, behind, placed[page], own_weights, budget, xp)


def _fill_on_host(built: Adjacency, edges: _Edges, free: Array, ends: Array, device: Device) -> None:
    """Run step 2 for all rows at once, writing directly to the host."""
    xp = device.xp
    for rows, columns, weights in edges.blocks():
        if edges.symmetric:
            rows, columns, weights = both_ways(rows, columns, weights, xp)
        order, place = places(rows, free, xp)
        if bool((free[rows] > ends[rows]).any()):
            raise TravError(EDGES_CHANGED)
        write(built.column_indices, place, columns[order], device.reach, xp)
        if built.weights is not None and weights is not None:
            write(built.weights, place, weights[order], device.reach, xp)
    if bool((free != ends).any()):
        raise TravError(EDGES_CHANGED)


def _sort_rows(
    built: Adjacency,
    first: int,
    after: int,
    columns: Array,
    weights: Array | None,
    budget: Budget,
    xp: ModuleType,
) -> None:
    """Sort each of the rows `first` to `after - 1`, given as unsorted entries, into the result."""
    begin, end = int(built.row_offsets[first]), int(built.row_offsets[after])
    out_columns = built.column_indices[begin:end]
    out_weights = None if built.weights is None else built.weights[begin:end]
    n_bytes = ENTRY_BYTES * (end - begin) + ROW_BYTES * (after - first)
    if begin == end:
        return
    if n_bytes > budget.free:  # a long row, or another question has taken memory since the page was cut
        columns, weights = to_host(columns), None if weights is None else to_host(weights)
        if after - first == 1:
            order = np.argsort(columns, kind="stable")
        else:
            order = np.lexsort((columns, sources(built, begin, end, np)))
        out_columns[:] = columns[order]
        if out_weights is not None and weights is not None:
            out_weights[:] = weights[order]
        return
    with budget.hold(n_bytes, "a page of edges"):
        columns = xp.asarray(columns)
        rows = sources(built, begin, end, xp)
        if columns.dtype.itemsize == 8:
            order = xp.lexsort(xp.stack([columns, rows]))
        else:
            keys = rows.astype(np.int64)
            keys <<= _KEY_SHIFT
            keys |= columns
            if weights is None:
                keys.sort()
                keys &= 0xFFFFFFFF
                to_host(keys.astype(columns.dtype), out_columns)
                return
            order = xp.argsort(keys)
        to_host(columns[order], out_columns)
        if out_weights is not None:
            to_host(xp.asarray(weights)[order], out_weights)
