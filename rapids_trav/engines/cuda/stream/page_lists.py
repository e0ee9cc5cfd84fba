"""The rows of each page, sorted into bins for `gather_rows`; see `row_gather.py`.

The number of a page's rows in each bin is counted once.  The lists themselves are made when the page is
gathered over, on its stream and in its buffer, and the host does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.row_gather import (
    GATHER_BLOCK,
    N_BINS,
    PIECES,
    THREADS,
    Hubs,
    Lists,
    cut,
)
from rapids_trav.engines.cuda.runtime.loader import BLOCK, Kernels, grid_of, most_blocks
from rapids_trav.engines.cuda.stream.plan import StreamPlan

_MOST_ROWS_OF_BLOCKS = 65535


class PageLists:
    """Lists of the rows of each page of an adjacency.

    Parameters
    ----------
    rows_kernels, pages_kernels : Kernels
        The kernels of `gas_rows.cu` and `pages.cu`.
    row_offsets : array
        Offsets of all rows, on the device.
    dtype : numpy.dtype
        Dtype of the values.
    room : vertex array
        Scratch memory with an entry for each row of the longest page.
    """

    def __init__(
        self,
        rows_kernels: Kernels,
        pages_kernels: Kernels,
        row_offsets: Array,
        plan: StreamPlan,
        dtype: np.dtype,
        room: Array,
    ) -> None:
        self._rows_kernels, self._pages_kernels = rows_kernels, pages_kernels
        self._row_offsets, self._plan = row_offsets, plan
        k = plan.n_pages
        self._sizes = cupy.zeros((k, N_BINS), np.uint64)
        self._begins = cupy.zeros((k, N_BINS + 1), np.int64)
        self._marked = cupy.zeros((k, 2), np.uint64)
        self._firsts = cupy.asarray(plan.firsts)
        for page in range(k):
            self._list(page, None, None, None)
        self.counts = self._sizes.get().astype(np.int64)
        begins = np.zeros((k, N_BINS + 1), np.int64)
        np.cumsum(self.counts, axis=1, out=begins[:, 1:])
        self._begins[...] = cupy.asarray(begins)
        self._no_hubs = cut(row_offsets, room[:0], dtype)
        self._hubs: dict[int, Hubs] = {}
        self.restart()
        for page in np.flatnonzero(self.counts[:, PIECES]).tolist():
            n_rows = int(self.counts[page].sum())
            self._list(page, None, room, self._begins[page])
            self._hubs[page] = cut(row_offsets, room[n_rows - int(self.counts[page, PIECES]) : n_rows], dtype)

    def restart(self) -> None:
        """Reset the lists before an iteration."""
        self._sizes.fill(0)

    def hubs(self, page: int) -> Hubs:
        return self._hubs.get(page, self._no_hubs)

    def n_threads(self, page: int) -> int:
        """Return the number of threads that have work if every row of the page gathers."""
        by_row = sum(int(n) * threads for n, threads in zip(self.counts[page], THREADS, strict=False))
        return by_row + GATHER_BLOCK * self.hubs(page).n_pieces

    def prepared(self, page: int, room: Array, marks: Array | None) -> tuple[Lists, Callable[[], None]]:
        """Return a page's lists in `room`, and the launch that makes them of the marked rows (None: all).

        It clears the marks except those of hubs.  The page has rows.
        """
        lists = Lists(room, self._begins[page], self._sizes[page])
        return lists, self._listing(page, marks, room, lists.begins)

    def marked(self, marks: Array) -> np.ndarray:
        """Return the marked rows of each page, and their edges, (k, 2); wait for them."""
        self._marked.fill(0)
        k = self._plan.n_pages
        if k:
            longest = int(np.diff(self._plan.firsts).max())
            wide = max(1, min(-(-longest // BLOCK), most_blocks() // k))
            self._pages_kernels.launch_grid(
                "count_pages", (wide, min(k, _MOST_ROWS_OF_BLOCKS)), self._row_offsets, self._firsts, k,
                marks, self._marked,
            )  # fmt: skip
        return self._marked.get().astype(np.int64)

    def _list(self, page: int, marks: Array | None, rows: Array | None, begins: Array | None) -> None:
        first, after = self._plan.rows(page)
        if after > first:
            self._listing(page, marks, rows, begins)()

    def _listing(
        self, page: int, marks: Array | None, rows: Array | None, begins: Array | None
    ) -> Callable[[], None]:
        """Return the launch that lists a page's rows, or counts them."""
        first, after = self._plan.rows(page)
        return self._rows_kernels.prepared(
            "list_rows", grid_of(after - first), self._row_offsets, first, after - first, marks, None, rows,
            begins, self._sizes[page],
        )  # fmt: skip
