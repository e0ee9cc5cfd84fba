"""The rows that `gather_rows` and `gather_ahead` of `kernels/gas_rows.cu` reduce.

Rows are sorted by length into bins; a bin's rows are each reduced by a number of threads that suits their
length.  Rows of hubs are cut into pieces, so that a single row never keeps the GPU waiting for one block.
The lists of all rows are made once; the lists of notified rows are made in every iteration that has any,
without reporting their number to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.loader import BLOCK, PROGRAM_TUNABLES, Kernels, grid_of

GATHER_BLOCK = PROGRAM_TUNABLES["gas_rows.cu"]["GATHER_BLOCK"]
PIECE_EDGES = PROGRAM_TUNABLES["gas_rows.cu"]["PIECE_EDGES"]
N_BINS = 4  # rows for one thread, for eight, for a warp, and rows in pieces
THREADS = (1, 8, 32)  # threads for a row of each bin but the last
PIECE_THREADS = 32
PIECES = N_BINS - 1


class Hubs(NamedTuple):
    """The rows that are cut: piece p is of hub `piece_hubs[p]`, whose first piece is `first_pieces[hub]`."""

    rows: Array
    first_pieces: Array
    piece_hubs: Array
    results: Array
    tickets: Array

    @property
    def n_pieces(self) -> int:
        return len(self.piece_hubs)

    def of_run(self, dtype: np.dtype) -> Hubs:
        """Return the same pieces with working memory of their own, for values of a dtype."""
        n_hubs = len(self.rows)
        tickets = cupy.zeros(n_hubs, np.uint32) if n_hubs else self.tickets
        return self._replace(results=cupy.empty(self.n_pieces, dtype), tickets=tickets)


class Lists(NamedTuple):
    """Rows in the order of their bins: bin b holds `sizes[b]` rows from `begins[b]` on."""

    rows: Array
    begins: Array
    sizes: Array
    hubs: Hubs
    n_threads: int  # that have work if every row of the page gathers


class RowLists:
    """The rows of each page of an adjacency, the vertices `firsts[page]` to `firsts[page + 1] - 1`, by bin.

    Their numbers are counted here, by `kernels`, those of `gas_rows.cu`; `listing` makes the lists.  Pieces
    pass on values of `dtype`, and `room` is memory with an entry for each row of the longest page.
    """

    def __init__(
        self, kernels: Kernels, row_offsets: Array, firsts: np.ndarray, dtype: np.dtype, room: Array
    ) -> None:
        self._kernels, self._row_offsets, self._firsts = kernels, row_offsets, firsts.tolist()
        k = len(firsts) - 1
        self._sizes, self._begins = cupy.zeros((k, N_BINS), np.uint64), cupy.zeros((k, N_BINS + 1), np.int64)
        self._no_hubs = cut(row_offsets, room[:0], dtype)
        self._hubs: dict[int, Hubs] = {}
        pages = [page for page in range(k) if self.n_rows(page)]
        for page in pages:
            self.listing(page, None, None, None, self._sizes[page])()
        self.counts = self._sizes.get().astype(np.int64)
        begins = np.zeros((k, N_BINS + 1), np.int64)
        np.cumsum(self.counts, axis=1, out=begins[:, 1:])
        self._begins[...] = cupy.asarray(begins)
        self.restart()
        for page in np.flatnonzero(self.counts[:, PIECES]).tolist():
            self.listing(page, None, None, room, self._sizes[page])()
            n_rows = self.n_rows(page)
            self._hubs[page] = cut(row_offsets, room[n_rows - int(self.counts[page, PIECES]) : n_rows], dtype)
        self.restart()

    def restart(self) -> None:
        """Reset the lists before an iteration."""
        self._sizes.fill(0)

    def n_rows(self, page: int) -> int:
        return self._firsts[page + 1] - self._firsts[page]

    def lists(self, page: int, rows: Array, sizes: Array) -> Lists:
        """Return a page's lists, which `listing` makes, in these arrays."""
        hubs = self._hubs.get(page, self._no_hubs)
        by_row = sum(int(n) * threads for n, threads in zip(self.counts[page], THREADS, strict=False))
        return Lists(rows, self._begins[page], sizes, hubs, by_row + PIECE_THREADS * hubs.n_pieces)

    def listing(
        self, page: int, marks: Array | None, active: Array | None, rows: Array | None, sizes: Array
    ) -> Callable[[], None]:
        """Return the launch that lists those of a page's rows that are marked, or active; None: all.

        It clears the marks except those of hubs.  Without memory for the `rows` it counts them.
        """
        n_rows, begins = self.n_rows(page), None if rows is None else self._begins[page]
        return self._kernels.prepared(
            "list_rows", grid_of(n_rows), self._row_offsets, self._firsts[page], n_rows, marks, active, rows,
            begins, sizes,
        )  # fmt: skip


class AllRows(RowLists):
    """All rows, in one page whose lists are made once, and lists of some of them."""

    def __init__(self, kernels: Kernels, row_offsets: Array, vertex: np.dtype, dtype: np.dtype) -> None:
        n = len(row_offsets) - 1
        rows = cupy.empty(n, vertex)
        super().__init__(kernels, row_offsets, np.array([0, n]), dtype, rows)
        self.all = self.lists(0, rows, self._sizes[0])
        if n:
            self.listing(0, None, None, rows, self._sizes[0])()
        self._marked: cupy.ndarray = None

    def of_run(self, kernels: Kernels, dtype: np.dtype) -> AllRows:
        """Return the same lists for a run of another program, with working memory of its own."""
        lists = copy(self)
        lists._kernels, lists._marked = kernels, None
        lists.all = self.all._replace(hubs=self.all.hubs.of_run(dtype))
        return lists

    def marked(self, marks: Array, active: Array | None, sizes: Array) -> Lists:
        """Return lists of the rows that are marked, or active if that is given; `sizes` are 0 before."""
        if self._marked is None:
            self._marked = cupy.empty_like(self.all.rows)
        self.listing(0, marks, active, self._marked, sizes)()
        return self.all._replace(rows=self._marked, sizes=sizes)


def cut(row_offsets: Array, hubs: Array, dtype: np.dtype) -> Hubs:
    """Cut the hubs' rows into pieces."""
    first_pieces, piece_hubs = cupy.zeros(len(hubs) + 1, np.int32), cupy.empty(0, np.int32)
    if len(hubs):
        hubs = cupy.sort(hubs)
        degrees = row_offsets[hubs + 1] - row_offsets[hubs]
        first_pieces[1:] = cupy.cumsum(-(-degrees // PIECE_EDGES))
        every = cupy.arange(int(first_pieces[-1]), dtype=np.int32)
        piece_hubs = (cupy.searchsorted(first_pieces, every, side="right") - 1).astype(np.int32)
    results, tickets = cupy.empty(len(piece_hubs), dtype), cupy.zeros(len(hubs), np.uint32)
    return Hubs(hubs, first_pieces, piece_hubs, results, tickets)


def expansion_blocks(n_light: int, n_heavy: int) -> tuple[tuple[int] | None, tuple[int, int] | None]:
    """Return the grids for the two parts of a queue; None for an empty part."""
    light = (min(-(-n_light // BLOCK), loader.most_blocks()),) if n_light else None
    return light, loader.column_blocks(n_heavy) if n_heavy else None
