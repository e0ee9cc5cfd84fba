"""Gathering by shards, which `kernels/gas_shards.cu` keeps in shared memory, with copies of each vertex.

`shards.py` defines shards and the number of copies.  This module launches the kernel, over all shards for
edges in the GPU's memory, or over those of a page.

Gathering by shards page by page: a page is a run of whole shards.

1. Pages are the longest runs of rows that fit (`csr/pages.py`).  Shards are cut within each page, so that the
   last shard ends where the page does; a shard larger than a page is split.
2. The place of each edge in its shard takes 2 bytes.  In each iteration it is computed from the row offsets,
   which are on the device, into the page's buffer.  If places were copied with the page instead, a page of
   4-byte columns would take half as many bytes again on the link, and pages that stay would take more memory.
   The device's memory writes and reads them sixty times as fast as the link copies.
"""

from __future__ import annotations

from collections.abc import Iterable

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.state import FRONTIER, Edges, ProgramState
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, shared_bytes
from rapids_trav.engines.cuda.runtime.memory import shifted
from rapids_trav.engines.cuda.stream.plan import StreamPlan
from rapids_trav.engines.runs import RunOptions
from rapids_trav.published.garaph.shards import capacity, cut_shards, edges_to_a_piece

ShardArguments = arguments_of("gas_shards.cu", "ShardArguments")
LOCAL = np.dtype(np.uint16)  # of an edge's place in its shard
REPLICA_COUNTERS = ("filled", "merged")  # in the order of `ReplicaCounter` in gas_shards.cu


class ShardPieces:
    """The shards of a run's in-edges and their pieces on the device, and launches over runs of pieces.

    The offsets are given on the host, too; a launch is over `most_edges` at most, and `page_ends` are those
    of `shards.cut_shards`.
    """

    def __init__(
        self,
        state: ProgramState,
        options: RunOptions,
        row_offsets: Array,
        most_edges: int,
        page_ends: Iterable[int] = (),
    ) -> None:
        self._state, self._row_offsets, dtype = state, state.view.into.row_offsets, state.dtype
        kernels = self._kernels = state.kernels("gas_shards.cu", COUNTS=int(options.trace))
        tunables = PROGRAM_TUNABLES["gas_shards.cu"]
        self._block = tunables["BLOCK_SIZE"]
        resident = tunables["RESIDENT_BLOCKS"]
        room = capacity(shared_bytes(kernels, "gather_shards", resident), dtype.itemsize)
        self._n_blocks = resident * loader.multiprocessors(cupy.cuda.runtime.getDevice())
        piece_edges = edges_to_a_piece(most_edges, self._n_blocks)
        self.shards = shards = cut_shards(row_offsets, room, piece_edges, options.replication, page_ends)
        self._n_bytes = shards.most_copies * dtype.itemsize
        # As kernels take it, by name and in their order.
        self._table: dict[str, Array | int] = {
            "firsts": cupy.asarray(shards.firsts),
            "factors": cupy.asarray(shards.factors),
            "first_pieces": cupy.asarray(shards.first_pieces),
            "piece_shards": cupy.asarray(shards.piece_shards),
            "piece_edges": shards.piece_edges,
        }
        self._results = cupy.empty(shards.n_pieces, dtype)
        self._tickets = cupy.zeros(len(shards.factors), np.uint32)
        self.cycles: Array | None = None  # int64, for each piece: gets the clock cycles that it takes
        self._counts: cupy.ndarray = None
        if options.trace:
            self._counts = cupy.zeros(len(REPLICA_COUNTERS), np.uint64)

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that are held."""
        held = (*self._table.values(), self._results, self._tickets)
        return sum(array.nbytes for array in held if isinstance(array, cupy.ndarray))

    @property
    def counters(self) -> dict[str, int]:
        """Counts of the uses of the copies so far, if they are counted; see `Run.counters`."""
        if self._counts is None:
            return {}
        return dict(zip(REPLICA_COUNTERS, self._counts.tolist(), strict=True))

    def name(self, pieces: tuple[int, int], local_ids: Array | np.uint64) -> None:
        """Write each edge's place in its shard, for the pieces from the first up to the last.

        `local_ids` is that of edge 0, or its address.
        """
        first, after = pieces
        self._kernels.launch_grid(
            "name_rows", self._grid(after - first), self._row_offsets, *self._table.values(), first,
            after - first, local_ids, block=self._block,
        )  # fmt: skip

    def gather_pieces(
        self, pieces: tuple[int, int], edges: Edges, local_ids: Array | int, next_piece: Array, row: Array
    ) -> None:
        """Gather at the vertices of whole shards and apply, and count in `row`.

        `pieces` are the first of the shards and the first after them, `edges` columns and weights from edge 0
        on, and `next_piece` a 0 that belongs to this launch.
        """
        columns, weights = edges
        first, after = pieces
        arguments = ShardArguments(
            row_offsets=self._row_offsets,
            column_indices=columns,
            weights=weights,
            messages=self._state.messages,
            **self._table,
            first_number=first,
            n_pieces=after - first,
            next_piece=next_piece,
            local_ids=local_ids,
            results=self._results,
            tickets=self._tickets,
            cycles=self.cycles,
            replica_counters=self._counts,
            **self._state.vertices(row),
        )
        grid = self._grid(after - first)
        self._kernels.launch_grid(
            "gather_shards", grid, arguments, block=self._block, shared_bytes=self._n_bytes
        )

    def _grid(self, n_pieces: int) -> tuple[int]:
        return (max(1, min(n_pieces, self._n_blocks)),)


class ShardGather(ShardPieces):
    """The shards of the in-edges in the GPU's memory, which take 2 bytes for each edge."""

    def __init__(self, state: ProgramState, options: RunOptions) -> None:
        into = state.view.into
        super().__init__(state, options, cupy.asnumpy(into.row_offsets), into.n_edges)
        self._local_ids = cupy.empty(into.n_edges, np.uint16)
        self.name(self._all, self._local_ids)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._local_ids.nbytes

    def gather(self, row: Array) -> None:
        """Gather at every vertex and apply, and count in `row`."""
        view = self._state.view
        # Programs do not use this counter of the iteration's row otherwise.
        next_piece = row[FRONTIER : FRONTIER + 1]
        edges = view.into.column_indices, view.weights
        self.gather_pieces(self._all, edges, self._local_ids, next_piece, row)

    @property
    def _all(self) -> tuple[int, int]:
        return 0, self.shards.n_pieces


class PageShards(ShardPieces):
    """The shards of all pages, and the launches over those of a page."""

    def __init__(
        self, state: ProgramState, row_offsets: Array, plan: StreamPlan, options: RunOptions
    ) -> None:
        most_edges = int(np.diff(plan.first_edges).max(initial=0))
        super().__init__(state, options, row_offsets, most_edges, plan.firsts[1:])
        self._plan = plan
        first_shards = np.searchsorted(self.shards.firsts, plan.firsts)
        self._first_pieces = self.shards.first_pieces[first_shards].tolist()
        self._next_pieces = cupy.zeros(plan.n_pages, np.uint64)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._next_pieces.nbytes

    def restart(self) -> None:
        """Reset the shards before an iteration."""
        self._next_pieces.fill(0)

    def pieces(self, page: int) -> tuple[int, int]:
        """Return the first piece of a page, and the first after it."""
        return self._first_pieces[page], self._first_pieces[page + 1]

    def gather(self, page: int, edges: Edges, memory: Array, row: Array) -> None:
        """Gather at the vertices of a page and apply, with `memory` for the places of its edges."""
        pieces = self.pieces(page)
        local_ids = shifted(memory, self._plan.layouts[page].rows, LOCAL, self._plan.edges(page)[0])
        self.name(pieces, np.uint64(local_ids))
        self.gather_pieces(pieces, edges, local_ids, self._next_pieces[page : page + 1], row)
