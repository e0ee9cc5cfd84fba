"""Execution of a vertex program over edges in the GPU's memory, in one of three modes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.row_gather import N_BINS, AllRows, Lists
from rapids_trav.engines.cuda.programs.run import DeviceExecutor
from rapids_trav.engines.cuda.programs.state import ProgramState, Tally
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState
from rapids_trav.tuning import published

TALLY_ROWS = 512  # rows of counters that are allocated at once
KEPT_ROWS = 1 << 16  # most rows whose lists are kept: making them takes long only beside a short run
AHEAD = 64  # most iterations that are launched before the host reads what they counted
_WORD = 32


class ResidentExecutor(DeviceExecutor):
    """A running program over edges in the GPU's memory; `start` is copied."""

    def __init__(self, view: GatherView, program: Program, start: RunState, options: RunOptions) -> None:
        super().__init__(program, start, options)
        self.state = ProgramState(view, program, start, options, TALLY_ROWS)
        if options.gather != "rows":
            self.shards = published(options.gather)(self.state, options)
        self._tolerance = _known_to_kernels(program, options) if self.shards is None else 0.0
        self._left = AHEAD if options.max_iterations is None else options.max_iterations - start.iteration
        self._limited = options.max_iterations is not None
        self._read: Iterator[Tally] = iter(())  # of iterations that were launched ahead
        self._claimed: cupy.ndarray = None
        self._next_queue: cupy.ndarray = None
        self.state.set_out()
        known = view.weights is None or self.state.out_weights is not None
        self.may_push = program.may_push and program.active is None and program.tolerance is None and known

    def pull(self) -> None:
        """Gather and apply every vertex."""
        state = self.state
        if self._tolerance:
            self._pull_ahead()
            return
        row = state.tallies.fresh()
        if self.shards is None:
            self._gather(self.lists.all, None, row)
        else:
            self.shards.gather(row)
        state.swap_messages()
        state.finish(row)

    def _pull_ahead(self) -> None:
        """Take the counts of the next iteration; launch it with those after it, if that has not been done."""
        tally = next(self._read, None)
        if tally is None:
            n, view = min(AHEAD, self._left), self.state.view
            edges = view.into.column_indices, view.weights
            self._read = self.state.gather_ahead(self.lists.all, edges, n, self._tolerance)
            self._left -= n if self._limited else 0
            tally = next(self._read)
        self.state.tally = tally

    def notify(self) -> None:
        """Gather where active vertices lead to and, with an `apply` or `start`, at the active ones too."""
        state = self.state
        marks = state.notify()
        sizes, row = state.tallies.fresh(), state.tallies.fresh()
        # A program whose active vertices gather never pushes, so they are in the flags.
        also = state.flags if state.program.active_gather else None
        lists = self.lists.marked(marks, also, sizes)
        state.flags.fill(False)
        self._gather(lists, marks, row)
        hubs = lists.hubs.rows
        state.kernels("gas_state.cu").launch(
            "commit_rows", state.n, *lists[:3], N_BINS - 1, hubs, len(hubs), marks,
            state.new_messages, state.messages,
        )  # fmt: skip
        state.finish(row)

    def push(self) -> None:
        """Send the messages of active vertices; vertices whose value changes are active next."""
        state = self.state
        state.enqueue()
        if self._claimed is None:
            self._claimed = cupy.zeros(-(-state.n // _WORD), np.uint32)
            self._next_queue = cupy.empty_like(state.queue)
        row = state.tallies.fresh()
        values = (state.out_weights, state.messages, state.values, self._claimed, self._next_queue)
        state.expand("push", *values, row)
        state.kernels("gas_state.cu").launch(
            "settle_queue", min(state.n, state.tally.scout), self._next_queue, state.n, row, state.values,
            state.messages, state.degrees, state.view.out.row_offsets, self._claimed,
        )  # fmt: skip
        state.queue, self._next_queue = self._next_queue, state.queue
        state.finish(row, row)

    def _gather(self, lists: Lists, marks: Array | None, row: Array) -> None:
        view = self.state.view
        self.state.gather(lists, (view.into.column_indices, view.weights), marks, row)

    @cached_property
    def lists(self) -> AllRows:
        """The rows, sorted by length; those of a small graph are kept with it."""
        state, rows = self.state, self.state.view.into
        kept = rows.prepared.get("row lists")
        if isinstance(kept, AllRows):
            return kept.of_run(state.rows_kernels, state.dtype)
        lists = AllRows(state.rows_kernels, rows.row_offsets, state.vertex, state.dtype)
        if state.n <= KEPT_ROWS and state.view.limited is None:
            cupy.cuda.get_current_stream().synchronize()  # other streams may read them
            rows.prepared["row lists"] = lists.of_run(state.rows_kernels, state.dtype)
        return lists


def _known_to_kernels(program: Program, options: RunOptions) -> float:
    """Return the tolerance with which kernels can detect the end of a run themselves; 0: they cannot.

    All iterations must use the same mode, and the state must not be read between them.
    """
    watched = options.trace or options.checkpoint is not None
    return 0.0 if program.may_notify or watched else program.tolerance or 0.0
