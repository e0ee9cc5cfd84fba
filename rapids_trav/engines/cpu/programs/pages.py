"""The edges that an iteration gathers over: all in memory, or page by page through one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.csr.pages import page_rows
from rapids_trav.engines.runs import GatherView
from rapids_trav.memory.model.program import LEAST_PAGE, listed_at_once, page_bytes

PAGE_SHARE = 4  # a page takes 1/PAGE_SHARE of what is free; the rest is for pushing and other threads
NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Piece:
    """Vertices that gather, with their edges in memory; see `gather_parts` of `kernels`."""

    rows: Array  # the vertices, int64; if empty, all from `row` on
    row: int
    starts: Array  # (items + 1,): place of each item's first edge in the sequence that is cut into parts
    edges: Array  # position of each item's first edge in the whole adjacency
    shift: int  # position in the whole adjacency at which `columns` begins
    columns: Array
    weights: Array | None
    n_bytes: int = 0  # that were read for this piece

    @property
    def listed(self) -> bool:
        return len(self.rows) > 0

    @property
    def first(self) -> int:
        """The first vertex that gathers."""
        return int(self.rows[0]) if self.listed else self.row

    @property
    def after(self) -> int:
        """The number after the last vertex that gathers."""
        return int(self.rows[-1]) + 1 if self.listed else self.row + len(self.starts) - 1


class ResidentEdges:
    """Edges that are all in memory, as one piece."""

    def __init__(self, view: GatherView) -> None:
        self._into, self._weights = view.into, view.weights

    def pieces(self, rows: Array | None) -> Iterator[Piece]:
        """Yield the edges that `rows` gather over; None stands for all vertices."""
        into, weights = self._into, self._weights
        if rows is None:
            yield Piece(NO_ROWS, 0, into.row_offsets, into.row_offsets, 0, into.column_indices, weights)
        else:
            for some in _some(rows, into.n_vertices):
                starts, edges = _listed(some, into.row_offsets)
                yield Piece(some, 0, starts, edges, 0, into.column_indices, weights)

    def page(self, row: int, end: int) -> Piece:
        """Return the edges that the vertices from `row` to `end` - 1 gather over."""
        into = self._into
        offsets = into.row_offsets[row : end + 1]
        return Piece(NO_ROWS, row, offsets, offsets, 0, into.column_indices, self._weights)


class StreamedEdges:
    """Edges on the host or in files, of which one page at a time is in memory."""

    def __init__(self, view: GatherView, firsts: Array, longest: int, most_rows: int) -> None:
        self._into, self._weights, self._firsts = view.into, view.weights, firsts
        self._offsets = np.empty(most_rows + 1, self._into.row_offsets.dtype)
        self._columns = np.empty(longest, self._into.column_indices.dtype)
        self._page_weights = None if self._weights is None else np.empty(longest, self._weights.dtype)

    def pieces(self, rows: Array | None) -> Iterator[Piece]:
        """Yield the pages that hold edges of `rows` (None: of all vertices), each valid until the next."""
        bounds = None if rows is None else np.searchsorted(rows, self._firsts)
        for page in range(len(self._firsts) - 1):
            inside = None if rows is None else rows[bounds[page] : bounds[page + 1]]
            if inside is None or len(inside):
                yield from self._read(int(self._firsts[page]), int(self._firsts[page + 1]), inside)

    def _read(self, row: int, end: int, rows: Array | None) -> Iterator[Piece]:
        offsets = self._offsets[: end + 1 - row]
        offsets[:] = self._into.row_offsets[row : end + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        columns = self._columns[: last - first]
        columns[:] = self._into.column_indices[first:last]
        n_bytes = offsets.nbytes + columns.nbytes
        weights = None
        if self._weights is not None:
            weights = self._page_weights[: last - first]
            weights[:] = self._weights[first:last]
            n_bytes += weights.nbytes
        if rows is None:
            yield Piece(NO_ROWS, row, offsets, offsets, first, columns, weights, n_bytes)
            return
        for some in _some(rows, self._into.n_vertices):
            starts, edges = _listed(some - row, offsets)
            yield Piece(some, row, starts, edges, first, columns, weights, n_bytes)
            n_bytes = 0  # the page is read only once


def cut_within(view: GatherView, free: int) -> tuple[Array, int, int, int]:
    """Return pages for `free` bytes, which are exceeded if the smallest page does not fit; see `_cut`."""
    free = max(free, 0)
    wanted = max(free // PAGE_SHARE, min(free // 2, LEAST_PAGE)) or LEAST_PAGE
    for size in (wanted, LEAST_PAGE, free // PAGE_SHARE or LEAST_PAGE):
        cut = _cut(view, size)
        if cut[-1] <= free:
            break
    return cut


def least_page_bytes(view: GatherView) -> int:
    """Return the bytes of a buffer with which edges can always be streamed."""
    return _cut(view, LEAST_PAGE)[-1]


def _cut(view: GatherView, size: int) -> tuple[Array, int, int, int]:
    """Return the first rows of pages of `size` bytes, the most edges and rows of one, and a buffer's bytes.

    The most edges and the most rows may belong to different pages.  A longer row is a page by itself.
    """
    assert view.pages is not None
    firsts, offsets = view.pages.firsts, view.into.row_offsets
    edge, offset = view.into.column_indices.dtype.itemsize, offsets.dtype.itemsize
    edge += 0 if view.weights is None else view.weights.dtype.itemsize
    if view.pages.cut is not None:
        firsts = page_rows(offsets, max(size, 0), edge, offset)
    edges = int(np.diff(np.asarray(offsets[firsts], np.int64)).max(initial=0))
    rows = int(np.diff(firsts).max(initial=0))
    return firsts, edges, rows, page_bytes(edges, rows, edge, offset)


def _some(rows: Array, n_vertices: int) -> Iterator[Array]:
    """Return an iterator over the rows, with as many at a time as are listed at once."""
    step = listed_at_once(n_vertices)
    return (rows[first : first + step] for first in range(0, len(rows), step))


def _listed(rows: Array, offsets: Array) -> tuple[Array, Array]:
    """Return the positions of these rows' edges: when the rows are concatenated, and in the adjacency."""
    edges = offsets[rows]
    starts = np.zeros(len(rows) + 1, offsets.dtype)
    np.cumsum(offsets[rows + 1] - edges, dtype=offsets.dtype, out=starts[1:])
    return starts, edges
