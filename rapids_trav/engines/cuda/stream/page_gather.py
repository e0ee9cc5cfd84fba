"""Launches over a page in a slot: its columns are unpacked, its rows listed, gathered over and applied.

A page comes to the same slot in every sweep, where only the messages and the counters are others.  Everything
else that its launches take is therefore prepared once: views of arrays, and arguments in CuPy's form, would
take the host longer than the link takes for a small page.

The values that pages of an asynchronous run have computed, on their way to a checkpoint.

docs/systems.md, G18, has the requirement.

The copy of a page's values follows its computation on the stream of its slot.  The host records them once the
slot is free, and before another page is launched on it.

Gathering by shards page by page: a page is a run of whole shards.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4 and G6).

1. Pages are the longest runs of rows that fit (`csr/pages.py`).  Shards are cut within each page, so that the
   last shard ends where the page does; a shard larger than a page is split.
2. The place of each edge in its shard takes 2 bytes.  In each iteration it is computed from the row offsets,
   which are on the device, into the page's buffer.  If places were copied with the page instead, a page of
   4-byte columns would take half as many bytes again on the link, and pages that stay would take more memory.
   The device's memory writes and reads them sixty times as fast as the link copies.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.row_gather import PreparedGather
from rapids_trav.engines.cuda.programs.shard_gather import ShardPieces
from rapids_trav.engines.cuda.programs.state import Edges, ProgramState
from rapids_trav.engines.cuda.runtime.loader import load
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.buffers import Slot, shifted, to_host
from rapids_trav.engines.cuda.stream.packing import prepared_unpack
from rapids_trav.engines.cuda.stream.page_lists import PageLists
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


class PageLaunches(NamedTuple):
    """The launches over a page: those before the rows are gathered over, and that of the gather.

    `gather` is None if the page has no rows, or is gathered over by shards, with `edges`.
    """

    before: tuple[Callable[[], None], ...]
    edges: Edges
    gather: PreparedGather | None


class PageGather:
    """The launches over all pages of a run.

    Parameters
    ----------
    in_place : (int, int or None)
        Addresses of edge 0's column and weight for pages that are read where they are stored.
    """

    def __init__(
        self,
        state: ProgramState,
        plan: StreamPlan,
        lists: PageLists,
        shards: PageShards | None,
        in_place: Edges,
    ) -> None:
        self._state, self._plan, self._lists, self._shards = state, plan, lists, shards
        self._in_place = in_place
        self._column, self._weights = state.view.into.column_indices.dtype, state.view.weights
        self._unpacking = load("packed.cu", 8 * self._column.itemsize)
        self._prepared: dict[tuple[int, int, bool, bool], PageLaunches] = {}

    def launch(self, page: int, slot: Slot, home: Array, read: bool, marks: Array | None, row: Array) -> None:
        """Gather over a page at the marked rows, or at all, on the current stream.

        Parameters
        ----------
        home : uint8 array
            Memory that holds the page's edges, that of the slot or the page's own.
        read : bool
            Whether the edges are read where they are stored instead.
        row : array
            Counters of the iteration.
        """
        key = page, slot.number, read, marks is None
        launches = self._prepared.get(key)
        if launches is None:
            launches = self._prepared[key] = self._prepare(page, slot, home, read, marks)
        for launch in launches.before:
            launch()
        if launches.gather is not None:
            self._state.repeat(launches.gather, row)
        elif self._shards is not None and marks is None:
            self._shards.gather(page, launches.edges, slot.memory, row)

    def _prepare(self, page: int, slot: Slot, home: Array, read: bool, marks: Array | None) -> PageLaunches:
        edges = self._in_place if read else self._edges(page, slot, home)
        before = []
        (first, after), n_edges = self._plan.rows(page), self._plan.n_edges(page)
        if self._plan.packed is not None and not read and n_edges:
            starts, words, _ = self._plan.places(page, home is not slot.memory)
            columns = self._column_zero(page, slot.memory)
            before.append(
                prepared_unpack(self._unpacking, home[starts:], home[words:], self._plan.edges(page), columns)
            )
        if after == first or (self._shards is not None and marks is None):
            return PageLaunches(tuple(before), edges, None)
        begin, vertex = self._plan.layouts[page].rows, self._state.vertex
        room = slot.memory[begin : begin + (after - first) * vertex.itemsize].view(vertex)
        lists, make = self._lists.prepared(page, room, marks)
        before.append(make)
        n_threads = self._lists.n_threads(page)
        gather = self._state.prepared_gather(lists, self._lists.hubs(page), n_threads, edges, marks)
        return PageLaunches(tuple(before), edges, gather)

    def _edges(self, page: int, slot: Slot, home: Array) -> Edges:
        """Return the addresses of edge 0's column and weight for a page that was copied to `home`.

        Packed columns are unpacked into the slot.
        """
        columns = self._column_zero(page, home if self._plan.packed is None else slot.memory)
        if self._weights is None:
            return columns, None
        *_, begin = self._plan.places(page, home is not slot.memory)
        return columns, shifted(home, begin, self._weights.dtype, self._plan.edges(page)[0])

    def _column_zero(self, page: int, memory: Array) -> int:
        """Return the address of edge 0's column, such that the page's columns begin at that of `memory`."""
        return shifted(memory, 0, self._column, self._plan.edges(page)[0])


Record = Callable[[int, Array], None]  # as `RunOptions.record_page`


class PageValues:
    """The values of pages in progress on their way to `record`.

    Parameters
    ----------
    plan : StreamPlan
    values : array, (n,)
        On the device; a page writes those of its own rows.
    """

    def __init__(self, record: Record, plan: StreamPlan, values: Array) -> None:
        self._record, self._plan, self._values = record, plan, values
        self._on_host: np.ndarray = empty_pinned(len(values), values.dtype)
        self._coming: deque[tuple[int, cupy.cuda.Event]] = deque()

    def send(self, page: int, slot: Slot) -> None:
        """Copy what a page has computed, on the stream of its slot."""
        rows = slice(*self._plan.rows(page))
        to_host(self._on_host[rows], self._values[rows], slot.stream)

    def launched(self, page: int, slot: Slot) -> None:
        """Note a page whose copy ends when its slot is free, and record the one that takes the next slot."""
        self._coming.append((page, slot.free))
        self.record_until(self._plan.n_slots - 1)

    def record_until(self, n_left: int) -> None:
        """Wait for pages, and record them, until `n_left` are in progress."""
        while len(self._coming) > n_left:
            page, copied = self._coming.popleft()
            copied.synchronize()
            first, after = self._plan.rows(page)
            self._record(first, self._on_host[first:after])
