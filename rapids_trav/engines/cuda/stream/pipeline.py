"""Pipeline of a program's pages: each page is copied, listed, gathered over and applied.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4, G5 and G16).

1. Values, messages and row offsets are on the device.  The columns and weights of a page are copied into the
   buffer of a slot, one page after another on one stream, so that the link is never idle or shared.
2. Each slot has a stream of its own, on which the rows of its page are listed, gathered and applied while
   the next pages are copied.  Only events order them: the host reads one row of counters per iteration.
3. Packed columns (`csr/packed.py`) are unpacked into the slot, on its stream, before they are gathered over.
   Pages that stay on the device are kept packed, so that more of them fit, and are unpacked in each
   iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.build.in_memory import edge_type
from rapids_trav.engines.cuda.programs.row_gather import PIECE_EDGES
from rapids_trav.engines.cuda.programs.state import ProgramState
from rapids_trav.engines.cuda.runtime.loader import load_for
from rapids_trav.engines.cuda.stream.buffers import (
    PAGES,
    VERTICES,
    Buffers,
    Slot,
    bytes_to_device,
    resident,
)
from rapids_trav.engines.cuda.stream.feed import Feed, Ready
from rapids_trav.engines.cuda.stream.packed_plan import chosen_plan
from rapids_trav.engines.cuda.stream.packing import packed_columns
from rapids_trav.engines.cuda.stream.page_gather import PageGather
from rapids_trav.engines.cuda.stream.page_lists import PageLists
from rapids_trav.engines.cuda.stream.plan import READ_COST
from rapids_trav.engines.cuda.stream.transfer_trace import Span, TransferTrace
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import STORAGE_PENALTY, RunState
from rapids_trav.tuning import published

TALLY_ROWS = 16  # rows of counters that are allocated at once


class PagePipeline:
    """The state of a program on the device, and the pages of `view` that are streamed to it.

    Parameters
    ----------
    held : ExitStack
        Releases the resources of the pipeline when it is closed.

    Attributes
    ----------
    state : ProgramState
    view : GatherView
        The view as it was given, with the edges on the host.
    plan : StreamPlan
    feed : Feed
    lists : PageLists
    shards : published.garaph.shard_gather.PageShards or None
        With gather="replicas", gather at all vertices of a page instead of the lists.
    log : TransferTrace
        The transfers of an iteration.
    slots : list of Slot
    edge_bytes : int
        Bytes of an edge: its destination and its weight.
    page_edges : list of int
        Edges of each page, in as many bytes as are copied for it.
    """

    def __init__(
        self, view: GatherView, program: Program, start: RunState, options: RunOptions, held: ExitStack
    ) -> None:
        assert view.pages is not None
        self.view, budget = view, view.pages.budget
        edge = edge_type(view.into.n_edges)
        self.plan = chosen_plan(
            view, program, options, edge.itemsize, PIECE_EDGES, partial(packed_columns, view.into, budget)
        )
        held.enter_context(budget.hold(self.plan.resident_bytes, VERTICES))
        self.state = ProgramState(resident(view, program, edge), program, start, options, TALLY_ROWS)
        self.shards = None
        if options.gather != "rows":
            in_pages = published(f"{options.gather} in pages")
            self.shards = in_pages(self.state, view.into.row_offsets, self.plan, options)
        self.state.set_out()
        held.enter_context(budget.hold(self.plan.buffer_bytes, PAGES))
        self._open(options, held)

    def _open(self, options: RunOptions, held: ExitStack) -> None:
        """Create buffers, streams and lists; `held` closes them."""
        plan, weights, columns = self.plan, self.view.weights, self.view.into.column_indices
        self.edge_bytes = columns.dtype.itemsize + (0 if weights is None else weights.dtype.itemsize)
        column, weight = columns.dtype.itemsize, self.edge_bytes - columns.dtype.itemsize
        copied = (plan.copied_bytes(page, column, weight) for page in range(plan.n_pages))
        self.page_edges = [n_bytes // self.edge_bytes for n_bytes in copied]
        self.log = TransferTrace(options)
        self.feed = Feed(columns, weights, plan)
        held.callback(self.feed.close)
        self._buffers = Buffers(plan)
        held.callback(self._buffers.synchronize)
        self.slots = self._buffers.slots
        self._copying = cupy.cuda.Stream(non_blocking=True)
        self._there: set[int] = set()  # kept pages that have been copied
        self._turn = 0
        state = self.state
        longest = int(np.diff(plan.firsts).max(initial=0)) * state.vertex.itemsize
        self.lists = PageLists(
            state.rows_kernels,
            load_for("pages.cu", state.view.into),
            state.view.into.row_offsets,
            plan,
            state.dtype,
            self.slots[0].memory[:longest].view(state.vertex),
        )
        self._gather = PageGather(state, plan, self.lists, self.shards, self.feed.addresses)

    @property
    def counters(self) -> dict[str, int]:
        """Counts of mechanisms, if a trace was asked for; see `Run.counters`."""
        return {} if self.shards is None else self.shards.counters

    @property
    def penalty(self) -> int:
        """Cost of reading scattered edges."""
        return READ_COST if self.feed.reachable else STORAGE_PENALTY

    def or_kept(self, page: int, action: str) -> str:
        """Return `action`, or "kept" instead if the page is on the device already."""
        return "kept" if page in self._there and action != "skip" else action

    def begin(self) -> None:
        """Begin an iteration: all streams wait for the current one, and the first slot has the first turn."""
        self._turn = 0
        self.lists.restart()
        if self.shards is not None:
            self.shards.restart()
        begin = self.log.restart(cupy.cuda.get_current_stream())
        for stream in (self._copying, *(slot.stream for slot in self.slots)):
            stream.wait_event(begin)

    def join(self) -> None:
        """Let the current stream wait for all launched pages."""
        stream = cupy.cuda.get_current_stream()
        for slot in self.slots:
            stream.wait_event(slot.free)

    def launch(
        self,
        ready: Ready,
        marks: Array | None,
        row: Array,
        read_bytes: int = 0,
        after: Callable[[int, Slot], None] | None = None,
    ) -> Slot:
        """Copy a page, if it has to be, and gather over it, on the streams of the next slot.

        Parameters
        ----------
        read_bytes : int
            Bytes that are moved for a page that is read in place.
        after : callable(page, slot), optional
            Launches further work on the page's slot, on the slot's stream.
        """
        page, action = ready.task
        slot = self.slots[self._turn % len(self.slots)]
        self._turn += 1
        home = self._buffers.kept.get(page, slot.memory)
        copy = self._copy(ready, slot, home) if action == "copy" else None
        if page in self._buffers.kept and action == "copy":
            self._there.add(page)
        with slot.stream:
            if copy is not None:
                slot.stream.wait_event(copy[1])
            begin = self.log.mark_begin(slot.stream)
            self._gather.launch(page, slot, home, action == "read", marks, row)
            if after is not None:
                after(page, slot)
            slot.free = self.log.mark(slot.stream, slot.free)
        self.log.add(page, read_bytes if action == "read" else ready.n_bytes, copy, (begin, slot.free))
        return slot

    def _copy(self, ready: Ready, slot: Slot, home: Array) -> Span:
        """Copy a page's edges to `home` once the slot is free; return the events before and after."""
        if home is slot.memory:
            self._copying.wait_event(slot.free)
        begin = self.log.mark_begin(self._copying)
        places = self.plan.places(ready.task.page, home is not slot.memory)
        memory = home.data.ptr
        for offset, (source, n_bytes) in zip(places, ready.parts, strict=False):
            if n_bytes:
                bytes_to_device(memory + offset, source, n_bytes, self._copying)
        if ready.copied is not None:
            ready.copied.record(self._copying)
        slot.copied = self.log.mark(self._copying, slot.copied)
        return begin, slot.copied
