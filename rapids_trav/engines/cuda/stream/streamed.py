"""A vertex program over edges that are larger than the GPU: vertices are resident, pages are streamed.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4, G5, G13, G16 and G17).

1. Values, messages and row offsets are on the device.  The columns and weights of a page are copied into the
   buffer of a slot, one page after another on one stream, so that the link is never idle or shared.
2. Each slot has a stream of its own, on which the rows of its page are listed, gathered and applied while
   the next pages are copied.  Only events order them: the host reads one row of counters per iteration.
3. Packed columns (`csr/packed.py`) are unpacked into the slot, on its stream, before they are gathered over.
   Pages that stay on the device are kept packed, so that more of them fit, and are unpacked in each
   iteration.
4. A synchronous run reads the messages of the iteration before and writes new ones, which replace them when
   all pages are done; an asynchronous run writes in place, page by page.
5. In notify mode the host reads how many rows of each page are notified.  Pages without notified rows are
   skipped; in pages with few of them, the edges of these rows are read in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Self

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.programs.run import notify_along
from rapids_trav.engines.cuda.build.host_rows import offsets_on_device, over_host
from rapids_trav.engines.cuda.build.in_memory import edge_type
from rapids_trav.engines.cuda.programs.run import VERTICES, DeviceExecutor
from rapids_trav.engines.cuda.programs.state import ProgramState
from rapids_trav.engines.cuda.runtime.memory import bytes_to_device
from rapids_trav.engines.cuda.stream.packing import packed_columns
from rapids_trav.engines.cuda.stream.page_gather import PageGather, PageLists, PageValues
from rapids_trav.engines.cuda.stream.plan import READ_COST, chosen_plan, page_action
from rapids_trav.engines.cuda.stream.transfers import Buffers, Feed, Ready, Slot, Span, Task, TransferTrace
from rapids_trav.engines.runs import GatherView, RunOptions, uses_degrees
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import STORAGE_PENALTY, RunState
from rapids_trav.tuning import published

TALLY_ROWS = 16  # rows of counters that are allocated at once


class StreamedExecutor(DeviceExecutor):
    """A running program over `view.pages`; used as a context manager."""

    def __init__(self, view: GatherView, program: Program, start: RunState, options: RunOptions) -> None:
        super().__init__(program, start, options)
        assert view.pages is not None
        self.view, budget = view, view.pages.budget
        self._options = options
        offset, pack = edge_type(view.into.n_edges).itemsize, partial(packed_columns, view.into, budget)
        plan = self.plan = chosen_plan(view, program, options, offset, pack)
        with ExitStack() as held:
            what = f"{VERTICES} and pages in progress"
            held.enter_context(budget.hold(plan.resident_bytes + plan.buffer_bytes, what))
            resident = _resident(view, program, plan.buffer_bytes)
            self.state = ProgramState(resident, program, start, options, TALLY_ROWS)
            if options.gather != "rows":
                in_pages = published(f"{options.gather} in pages")
                self.shards = in_pages(self.state, view.into.row_offsets, plan, options)
            self.state.set_out()
            self._open(options, held)
            self._closing = held.pop_all()

    def _open(self, options: RunOptions, held: ExitStack) -> None:
        """Create buffers, streams and lists; `held` closes them."""
        plan, state = self.plan, self.state
        columns, weights = self.view.into.column_indices, self.view.weights
        column, weight = columns.dtype.itemsize, 0 if weights is None else weights.dtype.itemsize
        self._edge_bytes = column + weight
        copied = (plan.copied_bytes(page, column, weight) for page in range(plan.n_pages))
        self._page_edges = [n_bytes // self._edge_bytes for n_bytes in copied]  # in the form that is copied
        self.log = TransferTrace(options)
        self.feed = Feed(columns, weights, plan)
        held.callback(self.feed.close)
        self.penalty = READ_COST if self.feed.reachable else STORAGE_PENALTY
        self._buffers = Buffers(plan)
        held.callback(self._buffers.synchronize)
        self.slots = self._buffers.slots
        self._copying = cupy.cuda.Stream(non_blocking=True)
        self._there: set[int] = set()  # kept pages that have been copied
        self._turn = 0
        longest = int(np.diff(plan.firsts).max(initial=0)) * state.vertex.itemsize
        self._lists = PageLists(state, plan, self.slots[0].memory[:longest].view(state.vertex))
        self._gather = PageGather(state, plan, self._lists, self.shards, self.feed.addresses)
        # In an asynchronous run a page sees what pages before it have computed, so these stay before it.
        self._order = range(plan.n_pages) if options.asynchronous else plan.sweep_order()
        record = options.record_page
        self._values = None if record is None else PageValues(record, plan, state.values)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Wait for the work in progress, and release all resources."""
        self._closing.close()

    def pull(self) -> None:
        """Gather and apply every vertex; all pages are streamed, except those that are kept."""
        row = self.state.tallies.fresh()
        self._run((Task(page, self.or_kept(page, "copy")) for page in self._order), None, row)
        self._finish(row)

    def notify(self) -> None:
        """Gather where active vertices lead to and, with an `apply` or `start`, at the active ones too."""
        state, edges = self.state, self._page_edges
        marks = self._notified()
        if state.program.active_gather:
            cupy.bitwise_or(marks, state.flags.view(np.uint8), out=marks)
        counts = self._lists.marked(marks).tolist()
        state.flags.fill(False)
        if not self._options.asynchronous:
            state.new_messages[...] = state.messages
        row, reachable = state.tallies.fresh(), self.feed.reachable
        actions = [page_action(own[0], own[1], n, reachable) for own, n in zip(counts, edges, strict=True)]
        read_bytes = [own[1] * self._edge_bytes for own in counts]
        tasks = (Task(page, self.or_kept(page, action)) for page, action in enumerate(actions))
        self._run((task for task in tasks if task.action != "skip"), marks, row, read_bytes)
        marks.fill(0)
        self._finish(row)

    def _run(
        self, tasks: Iterable[Task], marks: Array | None, row: Array, read_bytes: Sequence[int] | None = None
    ) -> None:
        """Launch the tasks, let the current stream wait for them, and swap the messages.

        `read_bytes` has, for each page, the bytes of its notified rows.
        """
        values = self._values
        self.begin_pages()
        for ready in self.feed.ahead(tasks):
            page = ready.task.page
            moved = 0 if read_bytes is None else read_bytes[page]
            slot = self.launch(ready, marks, row, moved, None if values is None else values.send)
            if values is not None:
                values.launched(page, slot)
        if values is not None:
            values.record_until(0)
        self.log.report_rest()
        self.join_pages()
        self.state.swap_messages()

    def _finish(self, row: Array) -> None:
        self.state.finish(row)
        self.moved = self.log.moved()

    def _notified(self) -> Array:
        """Return the marks of vertices that an active one leads to; the host makes them if the GPU cannot."""
        state, marks = self.state, self.state.marks
        if isinstance(state.view.out.column_indices, cupy.ndarray):
            return state.notify()
        found, active = np.zeros(state.n, np.bool_), np.flatnonzero(state.flags.get())
        out = self.view.out
        with Threads() as team:
            team.run(
                notify_along, len(active), active, out.row_offsets, out.column_indices, found, grain=1024
            )
        marks.set(found.view(np.uint8))
        return marks

    def or_kept(self, page: int, action: str) -> str:
        """Return `action`, or "kept" instead if the page is on the device already."""
        return "kept" if page in self._there and action != "skip" else action

    def begin_pages(self) -> None:
        """Begin an iteration: all streams wait for the current one, and the first slot has the first turn."""
        self._turn = 0
        self._lists.restart()
        if self.shards is not None:
            self.shards.restart()
        begin = self.log.restart(cupy.cuda.get_current_stream())
        for stream in (self._copying, *(slot.stream for slot in self.slots)):
            stream.wait_event(begin)

    def join_pages(self) -> None:
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

        `read_bytes` are moved for a page that is read in place.  `after` launches further work on the slot.
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


def _resident(view: GatherView, program: Program, free: int) -> GatherView:
    """Return the view with its resident parts on the device; out-edges stay on the host if possible.

    The `free` bytes serve meanwhile.
    """
    into = Adjacency(offsets_on_device(view.into, free), view.into.column_indices)
    out_offsets = into.row_offsets if view.into is view.out else offsets_on_device(view.out, free)
    reached = over_host(view.out.column_indices)
    out = Adjacency(out_offsets, view.out.column_indices if reached is None else reached)
    degrees: cupy.ndarray = view.degrees if uses_degrees(program) else None
    return replace(view, into=into, out=out, degrees=degrees)
