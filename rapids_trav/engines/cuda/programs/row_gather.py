"""Launches of `gather_rows` and `gather_ahead` of `kernels/gas_rows.cu`.

If all rows gather, there are as many blocks as can be resident on the GPU, and each keeps the messages of the
first vertices in shared memory.  If only some rows gather, or messages change meanwhile, there are as many
blocks as the rows need, and no copies of messages.

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
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.cuda.runtime.loader import BLOCK, PROGRAM_TUNABLES, Kernels
from rapids_trav.engines.cuda.runtime.shared_memory import shared_bytes

GATHER_BLOCK = PROGRAM_TUNABLES["gas_rows.cu"]["GATHER_BLOCK"]
RESIDENT = PROGRAM_TUNABLES["gas_rows.cu"]["GATHER_RESIDENT"]
RowArguments = arguments_of("gas_rows.cu", "RowArguments")
AheadArguments = arguments_of("gas_rows.cu", "AheadArguments")
MOST_BYTES = 96 << 10  # bytes of messages in a block; the rest of the memory is first-level cache


class PreparedGather(NamedTuple):
    """A launch of `gather_rows` that can be repeated, with pointers of `arguments` set to other arrays."""

    arguments: ArgumentStruct
    launch: Callable[[], None]


class RowGather:
    """Launcher of `gather_rows` for a run over `n` vertices with values of one dtype."""

    def __init__(self, kernels: Kernels, dtype: np.dtype, n: int) -> None:
        self._kernels = kernels
        self._itemsize = dtype.itemsize
        self._n = n
        self._near: dict[str, int] = {}
        self._n_places = RESIDENT * loader.multiprocessors(cupy.cuda.runtime.getDevice())

    def prepared(self, n_threads: int, near: bool, **arguments: object) -> PreparedGather:
        """Return the gather at rows with work for `n_threads`, with copies of messages if `near`.

        `n_threads` is at least one, and `arguments` are those of `RowArguments` but for `n_near`.
        """
        most = self._n_places if near else loader.most_blocks() * BLOCK // GATHER_BLOCK
        n_near = self._n_near("gather_rows") if near else 0
        given = RowArguments(n_near=n_near, **arguments)
        launch = self._kernels.prepared(
            "gather_rows",
            (min(-(-n_threads // GATHER_BLOCK), most),),
            given,
            block=GATHER_BLOCK,
            shared_bytes=n_near * self._itemsize,
        )
        return PreparedGather(given, launch)

    def launch_ahead(self, n_threads: int, near: bool, **arguments: object) -> None:
        """Iterate over rows with work for `n_threads`, at least one, until the run ends; see `prepared`.

        `arguments` are those of `AheadArguments` but for `n_near`.
        """
        n_near = self._n_near("gather_ahead") if near else 0
        self._kernels.launch_grid(
            "gather_ahead",
            (min(-(-n_threads // GATHER_BLOCK), self._n_places),),  # they wait for each other
            AheadArguments(n_near=n_near, **arguments),
            block=GATHER_BLOCK,
            shared_bytes=n_near * self._itemsize,
            enable_cooperative_groups=True,
        )

    def _n_near(self, name: str) -> int:
        """Return the number of messages that a block of a kernel keeps in shared memory."""
        if name not in self._near:
            n_bytes = min(shared_bytes(self._kernels, name, RESIDENT), MOST_BYTES)
            self._near[name] = min(self._n, n_bytes // self._itemsize)
        return self._near[name]


PIECE_EDGES = PROGRAM_TUNABLES["gas_rows.cu"]["PIECE_EDGES"]
N_BINS = 5  # rows for one thread, for eight, for a warp, for a block, and rows in pieces
THREADS = (1, 8, 32, GATHER_BLOCK)  # threads for a row of each bin but the last
PIECES = N_BINS - 1


class Lists(NamedTuple):
    """Rows in the order of their bins: bin b holds `sizes[b]` rows from `begins[b]` on."""

    rows: Array
    begins: Array
    sizes: Array


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


class RowLists:
    """The lists of the rows `first` to `first + n_rows - 1` of an adjacency.

    Parameters
    ----------
    kernels : Kernels
        The kernels of `gas_rows.cu`.
    row_offsets : array
        Entry `v` is the offset of vertex `v`.
    dtype : numpy.dtype
        Dtype of the values that pieces pass on.
    """

    def __init__(
        self, kernels: Kernels, row_offsets: Array, vertex: np.dtype, dtype: np.dtype, first: int, n_rows: int
    ) -> None:
        self._kernels = kernels
        self._row_offsets = row_offsets
        self._first = first
        self.n_rows = n_rows
        sizes = cupy.zeros(N_BINS, np.uint64)
        self._list(None, None, None, None, sizes)
        self.counts = [int(size) for size in sizes.get()]
        self._begins = cupy.asarray(np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64))
        sizes.fill(0)
        self.all = Lists(cupy.empty(n_rows, vertex), self._begins, sizes)
        self._list(None, None, self.all.rows, self._begins, sizes)
        self.hubs = cut(row_offsets, self.all.rows[n_rows - self.counts[PIECES] :], dtype)
        self._marked: cupy.ndarray = None

    @property
    def n_threads(self) -> int:
        """Number of threads that have work if every row gathers."""
        by_row = sum(count * threads for count, threads in zip(self.counts, THREADS, strict=False))
        return by_row + GATHER_BLOCK * self.hubs.n_pieces

    def of_run(self, kernels: Kernels, dtype: np.dtype) -> RowLists:
        """Return the same lists for a run of another program, with working memory of its own."""
        lists = copy(self)
        lists._kernels, lists._marked = kernels, None
        lists.hubs = self.hubs.of_run(dtype)
        return lists

    def marked(self, marks: Array, active: Array | None, sizes: Array) -> Lists:
        """Return lists of the rows that are marked, or active if that is given; `sizes` are 0 before.

        The marks are cleared, except those of hubs.
        """
        if self._marked is None:
            self._marked = cupy.empty_like(self.all.rows)
        self._list(marks, active, self._marked, self._begins, sizes)
        return Lists(self._marked, self._begins, sizes)

    def _list(
        self,
        marks: Array | None,
        active: Array | None,
        rows: Array | None,
        begins: Array | None,
        sizes: Array,
    ) -> None:
        self._kernels.launch(
            "list_rows",
            self.n_rows,
            self._row_offsets,
            self._first,
            self.n_rows,
            marks,
            active,
            rows,
            begins,
            sizes,
        )


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
