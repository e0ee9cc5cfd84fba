"""A vertex program over edges that are larger than the GPU: vertices are resident, pages are streamed.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4, G13 and G17).

1. A synchronous run reads the messages of the iteration before and writes new ones, which replace them when
   all pages are done; an asynchronous run writes in place, page by page.
2. In notify mode the host reads how many rows of each page are notified.  Pages without notified rows are
   skipped; in pages with few of them, the edges of these rows are read in place.

`pipeline.py` describes how pages are copied and computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.programs.run import notify_along
from rapids_trav.engines.cuda.programs.run import DeviceExecutor
from rapids_trav.engines.cuda.stream.feed import Task
from rapids_trav.engines.cuda.stream.page_gather import PageValues
from rapids_trav.engines.cuda.stream.pipeline import PagePipeline
from rapids_trav.engines.cuda.stream.plan import page_action
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


class StreamedExecutor(DeviceExecutor):
    """A running program over `view.pages`; used as a context manager.

    Attributes
    ----------
    pages : PagePipeline
    """

    def __init__(self, view: GatherView, program: Program, start: RunState, options: RunOptions) -> None:
        super().__init__(program, start, options)
        self._options = options
        with ExitStack() as held:
            pages = self.pages = PagePipeline(view, program, start, options, held)
            self.state, self.penalty = pages.state, pages.penalty
            # In an asynchronous run a page sees what pages before it have computed, so these stay before it.
            plan = pages.plan
            self._order = range(plan.n_pages) if options.asynchronous else plan.sweep_order()
            record = options.record_page
            self._values = None if record is None else PageValues(record, plan, pages.state.values)
            self._closing = held.pop_all()

    def __enter__(self) -> StreamedExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        """Wait for the work in progress, and release all resources."""
        self._closing.close()

    @property
    def counters(self) -> dict[str, int]:
        return self.pages.counters

    def sweep(self, mode: str) -> str:
        """Run one iteration; return the mode that it used."""
        {"pull": self.pull, "notify": self.notify}[mode]()
        return mode

    def pull(self) -> None:
        """Gather and apply every vertex; all pages are streamed, except those that are kept."""
        pages = self.pages
        row = self.state.tallies.fresh()
        self._run((Task(page, pages.or_kept(page, "copy")) for page in self._order), None, row)
        self._finish(row)

    def notify(self) -> None:
        """Gather where active vertices lead to and, with an `apply` or `start`, at the active ones too."""
        pages, state = self.pages, self.state
        marks = self._notified()
        if state.program.active_gather:
            cupy.bitwise_or(marks, state.flags.view(np.uint8), out=marks)
        counts = pages.lists.marked(marks).tolist()
        edges = pages.page_edges
        state.flags.fill(False)
        if not self._options.asynchronous:
            state.new_messages[...] = state.messages
        row, reachable = state.tallies.fresh(), pages.feed.reachable
        actions = [page_action(own[0], own[1], n, reachable) for own, n in zip(counts, edges, strict=True)]
        read_bytes = [own[1] * pages.edge_bytes for own in counts]
        tasks = (Task(page, pages.or_kept(page, action)) for page, action in enumerate(actions))
        self._run((task for task in tasks if task.action != "skip"), marks, row, read_bytes)
        marks.fill(0)
        self._finish(row)

    def _run(
        self, tasks: Iterable[Task], marks: Array | None, row: Array, read_bytes: Sequence[int] | None = None
    ) -> None:
        """Launch the tasks, let the current stream wait for them, and swap the messages.

        `read_bytes` has, for each page, the bytes of its notified rows.
        """
        pages, values = self.pages, self._values
        pages.begin()
        for ready in pages.feed.ahead(tasks):
            page = ready.task.page
            moved = 0 if read_bytes is None else read_bytes[page]
            slot = pages.launch(ready, marks, row, moved, None if values is None else values.send)
            if values is not None:
                values.launched(page, slot)
        if values is not None:
            values.record_until(0)
        pages.log.report_rest()
        pages.join()
        self.state.swap_messages()

    def _finish(self, row: Array) -> None:
        self.state.finish(row)
        self.moved = self.pages.log.moved()

    def _notified(self) -> Array:
        """Return the marks of vertices that an active one leads to; the host makes them if the GPU cannot."""
        state, marks = self.state, self.state.marks
        if isinstance(state.view.out.column_indices, cupy.ndarray):
            return state.notify()
        found, active = np.zeros(state.n, np.bool_), np.flatnonzero(state.flags.get())
        out = self.pages.view.out
        with Threads() as team:
            team.run(
                notify_along, len(active), active, out.row_offsets, out.column_indices, found, grain=1024
            )
        marks.set(found.view(np.uint8))
        return marks
