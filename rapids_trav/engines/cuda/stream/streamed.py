"""A vertex program over edges that are larger than the GPU: pages stream past vertices that stay.

L. Ma et al., "Garaph", USENIX ATC 2017 (SYSTEMS G4, G5, G13, G16, G17).

1. Values, messages and row offsets are on the device; the columns and weights of a page are copied into the
   buffer of a slot, one page after another on one stream, so that the link is never idle or shared.
2. Each slot has a stream of its own, on which the rows of its page are listed, gathered and applied while
   the next pages are copied.  Events alone order them: the host reads one row of counters an iteration.
3. A synchronous run reads the messages of the iteration before and writes new ones, which take their place
   when all pages are done; an asynchronous one writes in place, page by page.
4. In notify mode the host reads how many rows of each page are notified: pages without any are left out, and
   where they are few their edges are read where they lie.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.programs.run import notify_along
from rapids_trav.engines.cpu.runtime.compile import Team
from rapids_trav.engines.cuda.build.in_memory import NARROW_OFFSETS
from rapids_trav.engines.cuda.programs.resident import Edges, ResidentWork
from rapids_trav.engines.cuda.programs.row_gather import PIECE_EDGES
from rapids_trav.engines.cuda.runtime.loader import load_for
from rapids_trav.engines.cuda.stream.buffers import (
    PAGES,
    VERTICES,
    Buffers,
    Slot,
    resident,
    shifted,
    to_device,
)
from rapids_trav.engines.cuda.stream.feed import Feed, Ready, Task
from rapids_trav.engines.cuda.stream.page_lists import PageLists
from rapids_trav.engines.cuda.stream.plan import READ_COST, page_action, plan_stream
from rapids_trav.engines.cuda.stream.transfer_trace import Span, TransferTrace
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.errors import TravError
from rapids_trav.programs.definition import Program
from rapids_trav.programs.gather_mode import STORAGE_PENALTY
from rapids_trav.programs.run_state import RunState


class Stream(ResidentWork):
    """A run over `view.pages`; used as a context manager."""

    tally_rows = 16

    def __init__(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> None:
        if options.gather != "rows":
            raise TravError(f"gather={options.gather!r} is for graphs in the GPU's memory: use 'rows'.")
        assert view.pages is not None
        self._host, self._options, budget = view, options, view.pages.budget
        edge = np.dtype(np.int32 if view.into.n_edges < NARROW_OFFSETS else np.int64)
        with ExitStack() as held:
            self.plan = plan_stream(view, program, options, edge.itemsize, PIECE_EDGES)
            between = options.between_bytes * view.n_vertices
            held.enter_context(budget.hold(between, "what is between iterations"))
            held.enter_context(budget.hold(self.plan.resident_bytes, VERTICES))
            super().__init__(resident(view, program, edge), program, state, options)
            held.enter_context(budget.hold(self.plan.buffer_bytes, PAGES))
            self._open(state, held)
            self._closing = held.pop_all()

    def _open(self, state: RunState, held: ExitStack) -> None:
        """Buffers, streams and lists; `held` closes them."""
        plan, weights, columns = self.plan, self._host.weights, self._host.into.column_indices
        self._edge_bytes = columns.dtype.itemsize + (0 if weights is None else weights.dtype.itemsize)
        self._log = TransferTrace(self._options)
        self._feed = Feed(columns, weights, plan)
        held.callback(self._feed.close)
        self._buffers = Buffers(plan, self._log.mark(cupy.cuda.get_current_stream()))
        held.callback(self._buffers.synchronize)
        self._slots = self._buffers.slots
        self._copying = cupy.cuda.Stream(non_blocking=True)
        self._there: set[int] = set()  # pages that are kept and have come
        self._turn = 0
        self._read_bytes: list[int] = []  # by page, of the rows that are notified
        longest = int(np.diff(plan.firsts).max(initial=0)) * self._vertex.itemsize
        self._page_lists = PageLists(
            self._rows_kernels,
            load_for("pages.cu", self._view.into),
            self._view.into.row_offsets,
            plan,
            self._dtype,
            self._slots[0].memory[:longest].view(self._vertex),
        )

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        """Waits for what is under way, and gives everything back."""
        self._closing.close()

    @property
    def may_push(self) -> bool:
        return False

    @property
    def penalty(self) -> int:  # type: ignore[override]
        return READ_COST if self._feed.reachable else STORAGE_PENALTY

    def pull(self) -> None:
        """Every vertex gathers and is applied; all pages are streamed, but those that are kept."""
        row = self._tallies.fresh()
        self._run((Task(page, self._or_kept(page, "copy")) for page in range(self.plan.n_pages)), None, row)
        self._messages, self._new_messages = self._new_messages, self._messages
        self._finish(row)

    def notify(self) -> None:
        """Vertices that an active one leads to gather; with `apply` the active ones do too."""
        marks = self._notify()
        if self._program.apply is not None:
            cupy.bitwise_or(marks, self._flags.view(np.uint8), out=marks)
        counts = self._page_lists.marked(marks).tolist()
        edges = np.diff(self.plan.first_edges).tolist()
        self._flags.fill(False)
        if not self._options.asynchronous:
            self._new_messages[...] = self._messages
        row, reachable = self._tallies.fresh(), self._feed.reachable
        actions = [page_action(own[0], own[1], n, reachable) for own, n in zip(counts, edges, strict=True)]
        self._read_bytes = [own[1] * self._edge_bytes for own in counts]
        tasks = (Task(page, self._or_kept(page, action)) for page, action in enumerate(actions))
        self._run((task for task in tasks if task.action != "skip"), marks, row)
        self._messages, self._new_messages = self._new_messages, self._messages
        marks.fill(0)
        self._finish(row)

    def _finish(self, row: Array) -> None:
        self._end(row, None)
        self.moved = self._log.moved()

    def _or_kept(self, page: int, action: str) -> str:
        return "kept" if page in self._there and action != "skip" else action

    # The pipeline

    def _run(self, tasks: Iterable[Task], marks: Array | None, row: Array) -> None:
        """Launches the tasks; the current stream waits for them."""
        self._begin()
        for ready in self._feed.ahead(tasks):
            self._launch(ready, marks, row)
        self._log.tell_rest()
        self._join()

    def _begin(self) -> None:
        self._page_lists.restart()
        begin = self._log.restart(cupy.cuda.get_current_stream())
        for stream in (self._copying, *(slot.stream for slot in self._slots)):
            stream.wait_event(begin)

    def _join(self) -> None:
        stream = cupy.cuda.get_current_stream()
        for slot in self._slots:
            stream.wait_event(slot.free)

    def _launch(self, ready: Ready, marks: Array | None, row: Array) -> Slot:
        """Copies a page, if it has to be, and gathers over it, on the streams of the next slot."""
        page, action = ready.task
        slot = self._slots[self._turn % len(self._slots)]
        self._turn += 1
        home = self._buffers.kept.get(page, slot.memory)
        copy = self._copy(ready, slot, home) if action == "copy" else None
        n_bytes = sum(part.nbytes for part in ready.parts)
        if page in self._buffers.kept and action == "copy":
            self._there.add(page)
        edges: Edges
        if action == "read":
            edges, n_bytes = self._feed.addresses, self._read_bytes[page]
        else:
            edges = self._addresses(page, home)
        lists = self._page_lists
        with slot.stream:
            if copy is not None:
                slot.stream.wait_event(copy[1])
            begin = self._log.mark(slot.stream)
            listed = lists.lists(page, self._room(page, slot), marks)
            self._gather_listed(listed, lists.hubs(page), lists.n_threads(page), edges, marks, row)
            self._after_page(page, slot)
            slot.free = self._log.mark(slot.stream)
        self._log.add(page, n_bytes, copy, (begin, slot.free))
        return slot

    def _copy(self, ready: Ready, slot: Slot, home: Array) -> Span:
        """Copies a page's edges to its home once the slot is free; the events before and after."""
        if home is slot.memory:
            self._copying.wait_event(slot.free)
        begin = self._log.mark(self._copying)
        offsets = (0, self.plan.layouts[ready.task.page].weights)
        for offset, part in zip(offsets, ready.parts, strict=False):
            to_device(home[offset : offset + part.nbytes], part, self._copying)
        if ready.copied is not None:
            ready.copied.record(self._copying)
        return begin, self._log.mark(self._copying)

    def _after_page(self, page: int, slot: Slot) -> None:
        """Launch what follows a page on its stream."""

    def _room(self, page: int, slot: Slot) -> Array:
        """Where the rows of a page are listed."""
        first, after = self.plan.rows(page)
        begin = self.plan.layouts[page].rows
        return slot.memory[begin : begin + (after - first) * self._vertex.itemsize].view(self._vertex)

    def _addresses(self, page: int, home: Array) -> Edges:
        """Where columns and weights of the first edge would be, if those of the page are in `home`."""
        first, weights = self.plan.edges(page)[0], self._host.weights
        columns = shifted(home, 0, self._host.into.column_indices.dtype, first)
        if weights is None:
            return columns, None
        return columns, shifted(home, self.plan.layouts[page].weights, weights.dtype, first)

    def _notify(self) -> Array:
        if self._marks is None:
            self._marks = cupy.zeros(self.n, np.uint8)
        if isinstance(self._view.out.column_indices, cupy.ndarray):
            return super()._notify()
        marks, active = np.zeros(self.n, np.bool_), np.flatnonzero(self._flags.get())
        out = self._host.out
        with Team() as team:
            team.run(
                notify_along, len(active), active, out.row_offsets, out.column_indices, marks, grain=1024
            )
        self._marks.set(marks.view(np.uint8))
        return self._marks
