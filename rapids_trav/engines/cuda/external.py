"""Compressed rows that are larger than the GPU, built on it and kept in host memory.

1. Count the edges of every row, chunk by chunk; their running sum is where each row begins.
2. Sort each block of edges by row, and write every entry to the next free place of its row: the
   entries of a row in one block are neighbours there, and the rows ascend.
3. Page by page, sort each row.

The host holds nothing but the result: sorted runs of keys, as an external sort has them, would take twice
its size beside it.  The GPU holds 16 bytes a vertex and, within the budget, a block or a page.

`xp` is CuPy, or NumPy where there is no GPU: the steps are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from rapids_trav.errors import TravMemoryError
from rapids_trav.sizes import readable
from rapids_trav.structures import Adjacency, Array

Chunks = Callable[[], Iterable[tuple[Array, ...]]]

ENTRY_BYTES = 96  # what a block takes for each entry while it is sorted and placed, with weights
ROW_BYTES = 16
LARGEST_BLOCK = 1 << 28  # entries; longer blocks are no faster
WINDOW = 1 << 30  # entries of the result that are written to at once: CuPy indexes with 32 bits
_KEY_SHIFT = 32
_OF_HOST = 1  # cudaMemoryTypeHost


class Outside(Protocol):
    """What a build needs of the memory around it; `storage.paged` has it."""

    budget: Any  # of the device

    def allocate(self, n: int, dtype: Any, what: str) -> np.ndarray:
        """A host array of the result."""

    def cut(self, row_offsets: np.ndarray, page_bytes: int, edge_bytes: int, row_bytes: int) -> np.ndarray:
        """First rows of pages that fit, and the number of rows."""


def build_adjacency(
    chunks: Chunks,
    n_vertices: int,
    outside: Outside,
    xp: Any,
    count_ids: Callable[[Array, Array], None],
    reach: Callable[[np.ndarray], Array | None],
    *,
    symmetric: bool = False,
    transpose: bool = False,
) -> Adjacency:
    """Adjacency, in host arrays, of the edges u -> v (and weights) in `chunks()`, as the engine has it.

    `reach` gives the array of `xp` over the same memory as a host array, or None if there can be none.
    """
    vertex = np.dtype(np.int32 if n_vertices < 2**31 else np.int64)
    budget = outside.budget
    with budget.hold(ROW_BYTES * n_vertices, "row counts of the build"):
        degree = xp.zeros(n_vertices, np.int64)
        weight_dtype = None
        for rows, columns, weights in _blocks(chunks, transpose, symmetric, budget):
            weight_dtype = weight_dtype or getattr(weights, "dtype", None)
            count_ids(rows, degree)
            if symmetric:
                count_ids(columns[rows != columns], degree)
        free = xp.cumsum(degree)
        row_offsets = outside.allocate(n_vertices + 1, np.int64, "row offsets")
        row_offsets[0] = 0
        _to_host(free, row_offsets[1:])
        free -= degree
        del degree

        n_entries = int(row_offsets[-1])
        column_indices = outside.allocate(n_entries, vertex, "column indices")
        edge_weights = None if weight_dtype is None else outside.allocate(n_entries, weight_dtype, "weights")
        for rows, columns, weights in _blocks(chunks, transpose, symmetric, budget):
            if symmetric:
                rows, columns, weights = _both_ways(rows, columns, weights, xp)
            if len(rows):
                order, place = _places(rows, free, xp)
                _write(column_indices, place, columns[order], reach, xp)
                if edge_weights is not None and weights is not None:
                    _write(edge_weights, place, weights[order], reach, xp)
        del free
    firsts = outside.cut(row_offsets, budget.free, ENTRY_BYTES, ROW_BYTES)
    for first, last in pairwise(firsts.tolist()):
        _sort_rows(row_offsets[first : last + 1], column_indices, edge_weights, budget, xp)
    return Adjacency(row_offsets, column_indices, weights=edge_weights)


def _blocks(
    chunks: Chunks, transpose: bool, symmetric: bool, budget: Any
) -> Iterator[tuple[Array, Array, Array | None]]:
    """The edges as rows, columns and weights; each block's memory is held while it is in use."""
    entry_bytes = ENTRY_BYTES * (2 if symmetric else 1)
    longest = max(min(budget.free // entry_bytes, LARGEST_BLOCK), 1)
    for u, v, *w in chunks():
        rows, columns = (v, u) if transpose else (u, v)
        for begin in range(0, max(len(u), 1), longest):
            part = slice(begin, begin + longest)
            with budget.hold(entry_bytes * len(rows[part]), "a block of edges"):
                yield rows[part], columns[part], w[0][part] if w else None


def _both_ways(rows: Array, columns: Array, weights: Array | None, xp: Any) -> tuple:
    """The block with each edge in both directions, self-loops once."""
    other = rows != columns
    both = xp.concatenate([rows, columns[other]]), xp.concatenate([columns, rows[other]])
    return *both, None if weights is None else xp.concatenate([weights, weights[other]])


def _places(rows: Array, free: Array, xp: Any) -> tuple[Array, Array]:
    """The order of a block by row, and where each entry in that order goes; moves the free places on."""
    order = xp.argsort(rows)
    rows = rows[order]
    new = xp.ones(len(rows), bool)
    new[1:] = rows[1:] != rows[:-1]
    begins = xp.flatnonzero(new)
    entry = xp.arange(len(rows))
    place = free[rows] + entry - begins[xp.cumsum(new, dtype=np.int64) - 1]
    free[rows[begins]] += xp.concatenate([begins[1:], entry[-1:] + 1]) - begins
    return order, place


def _write(target: np.ndarray, place: Array, values: Array, reach: Callable, xp: Any) -> None:
    """``target[place] = values``, by the device itself if it reaches the target; places ascend."""
    edges = np.arange(0, len(target) + WINDOW, WINDOW)
    cuts = xp.searchsorted(place, xp.asarray(edges)).tolist()
    for window, (begin, end) in zip(edges.tolist(), pairwise(cuts), strict=False):
        if begin < end:
            part = target[window : window + WINDOW]
            reached = reach(part)
            where, what = place[begin:end] - window, values[begin:end].astype(target.dtype, copy=False)
            if reached is not None:
                reached[where] = what
            else:
                part[_to_host(where)] = _to_host(what)


def _sort_rows(
    offsets: np.ndarray, column_indices: np.ndarray, weights: np.ndarray | None, budget: Any, xp: Any
) -> None:
    """Sort the rows of a page, that begin at `offsets`, each by itself."""
    begin, end = int(offsets[0]), int(offsets[-1])
    columns = column_indices[begin:end]
    values = None if weights is None else weights[begin:end]
    n_bytes = ENTRY_BYTES * len(columns) + ROW_BYTES * (len(offsets) - 1)
    if not len(columns):
        return
    if n_bytes > budget.free:  # a single row that is longer than the device may hold
        in_order = np.argsort(columns, kind="stable")
        columns[:] = columns[in_order]
        if values is not None:
            values[:] = values[in_order]
        return
    with budget.hold(n_bytes, "a page of edges"):
        ends = xp.asarray(offsets[1:]) - begin
        row = xp.searchsorted(ends, xp.arange(len(columns)), side="right")
        column = xp.asarray(columns)
        if column.dtype.itemsize == 4:
            keys = row << _KEY_SHIFT | column
            order = None if values is None else xp.argsort(keys)
            keys = xp.sort(keys) if order is None else keys[order]
            _to_host((keys & 0xFFFFFFFF).astype(column.dtype), columns)
        else:
            order = xp.lexsort(xp.stack([column, row]))
            _to_host(column[order], columns)
        if values is not None:
            _to_host(xp.asarray(values)[order], values)


def _to_host(array: Array, out: np.ndarray | None = None) -> np.ndarray:
    """A NumPy array of the same, in `out` if it is given."""
    if hasattr(array, "get"):
        return array.get(out=out)
    if out is None:
        return array
    out[:] = array
    return out


def empty_pinned(n: int, dtype: Any) -> np.ndarray:
    """An array of n entries in host memory that stays in place, and that the GPU reaches.

    It goes back to the system when it is no longer used: CuPy's pool would keep it.
    """
    import cupy

    n_bytes = n * np.dtype(dtype).itemsize
    if n_bytes == 0:
        return np.empty(0, dtype)
    try:
        memory = cupy.cuda.PinnedMemoryPointer(cupy.cuda.PinnedMemory(n_bytes), 0)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise MemoryError(f"{readable(n_bytes)} of host memory cannot be pinned: {error}") from error
    return np.ndarray(n, dtype, memory)


def over_host(array: np.ndarray) -> Array | None:
    """The GPU's array over the memory of one from `empty_pinned`, or a slice of one; None for any other."""
    import cupy

    if array.nbytes == 0:
        return cupy.empty(0, array.dtype)
    pointer, runtime = array.ctypes.data, cupy.cuda.runtime
    if runtime.pointerGetAttributes(pointer).type != _OF_HOST:
        return None
    memory = cupy.cuda.UnownedMemory(pointer, array.nbytes, array, runtime.getDevice())
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


def reached(adjacency: Adjacency, first_resident: int) -> Adjacency:
    """An adjacency of host arrays as kernels read it.

    Offsets and first neighbours are on the device, columns stay where they are; of the edges from
    `first_resident` on the device has a copy as well.
    """
    import cupy

    from rapids_trav.engines.cuda import build

    columns = over_host(adjacency.column_indices)
    if columns is None:
        raise TravMemoryError(
            f"The edges, {readable(adjacency.column_indices.nbytes)}, lie in a file, where searches on a GPU "
            f"do not reach them, since so much host memory was not left: free some and build the graph "
            f"again, or search with engine='cpu'."
        )
    found = build.with_first_neighbors(_offsets(adjacency), columns)
    kept = cupy.asarray(adjacency.column_indices[first_resident:])
    return replace(found, resident=(first_resident, kept) if len(kept) else None)


def on_device(adjacency: Adjacency) -> Adjacency:
    """An adjacency of host arrays with everything on the device."""
    import cupy

    from rapids_trav.engines.cuda import build

    found = build.with_first_neighbors(_offsets(adjacency), cupy.asarray(adjacency.column_indices))
    weights = None if adjacency.weights is None else cupy.asarray(adjacency.weights)
    return replace(found, weights=weights)


def _offsets(adjacency: Adjacency) -> Array:
    """The row offsets on the device, in the type that kernels take."""
    import cupy

    from rapids_trav.engines.cuda import build

    edge = np.int32 if adjacency.n_edges < build.NARROW_OFFSETS else np.int64
    return cupy.asarray(adjacency.row_offsets.astype(edge))
