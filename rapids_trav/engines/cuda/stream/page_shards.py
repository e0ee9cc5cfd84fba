"""Gathering by shards page by page: a page is a run of whole shards.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4 and G6).

1. Pages are the longest runs of rows that fit (`csr/pages.py`).  Shards are cut within each page, so that the
   last shard ends where the page does; a shard larger than a page is split.
2. The place of each edge in its shard takes 2 bytes.  In each iteration it is computed from the row offsets,
   which are on the device, into the page's buffer.  If places were copied with the page instead, a page of
   4-byte columns would take half as many bytes again on the link, and pages that stay would take more memory.
   The device's memory writes and reads them sixty times as fast as the link copies.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.shard_gather import ShardPieces
from rapids_trav.engines.cuda.programs.state import Edges, ProgramState
from rapids_trav.engines.cuda.stream.buffers import shifted
from rapids_trav.engines.cuda.stream.plan import StreamPlan
from rapids_trav.engines.runs import RunOptions

LOCAL = np.dtype(np.uint16)


class PageShards(ShardPieces):
    """The shards of all pages, and the launches over those of a page.

    Parameters
    ----------
    row_offsets : NumPy array, (n + 1,)
        Offsets of the in-edges; `state` has them on the device.
    """

    def __init__(
        self, state: ProgramState, row_offsets: Array, plan: StreamPlan, options: RunOptions
    ) -> None:
        super().__init__(
            state.kernels("gas_shards.cu", COUNTS=int(options.trace)),
            row_offsets,
            state.view.into.row_offsets,
            state.dtype,
            options.replication,
            int(np.diff(plan.first_edges).max(initial=0)),
            plan.firsts[1:],
            options.trace,
        )
        self._state, self._plan = state, plan
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
        pieces, state = self.pieces(page), self._state
        local_ids = shifted(memory, self._plan.layouts[page].rows, LOCAL, self._plan.edges(page)[0])
        self.name(pieces, np.uint64(local_ids))
        self.gather_pieces(
            pieces,
            edges,
            local_ids,
            self._next_pieces[page : page + 1],
            state.messages,
            **state.vertices(row),
        )
