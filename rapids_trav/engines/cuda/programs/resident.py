"""Execution of a vertex program over edges in the GPU's memory, in one of three modes."""

from __future__ import annotations

from functools import cached_property

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.row_gather import Lists, RowLists
from rapids_trav.engines.cuda.programs.shard_gather import ShardGather, by_shards
from rapids_trav.engines.cuda.programs.state import ProgramState
from rapids_trav.engines.runs import GatherView, Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

TALLY_ROWS = 512  # rows of counters that are allocated at once
_WORD = 32


class ResidentExecutor:
    """An `engines.interface.Executor` over edges in the GPU's memory; `start` is copied.

    Attributes
    ----------
    shards : ShardGather or None
        With gather="replicas", gathers in pull mode in place of the row lists.
    """

    penalty: int | None = None
    moved = Moved()

    def __init__(self, view: GatherView, program: Program, start: RunState, options: RunOptions) -> None:
        self.state = ProgramState(view, program, start, options, TALLY_ROWS)
        self.shards = self._shards(options)
        self._claimed: cupy.ndarray = None
        self._next_queue: cupy.ndarray = None
        self.state.set_out()

    @property
    def policy(self) -> dict[str, float]:
        """Nothing: the modes follow from the active vertices."""
        return {}

    @property
    def counters(self) -> dict[str, int]:
        """Counts of mechanisms, if a trace was asked for; see `Run.counters`."""
        return {} if self.shards is None else self.shards.counters

    @property
    def may_push(self) -> bool:
        """Whether values can be sent out: the program allows it, and weights of out-edges are known."""
        program = self.state.program
        known = self.state.view.weights is None or self.state.out_weights is not None
        return program.may_push and program.active is None and program.tolerance is None and known

    def step(self, mode: str) -> str:
        """Run one iteration; return the mode that it used."""
        {"pull": self.pull, "notify": self.notify, "push": self.push}[mode]()
        return mode

    def restart(self, start: RunState) -> None:
        """Continue from other values and active vertices."""
        self.state.restart(start)

    def settle(self) -> None:
        """Do nothing: the state is that of the last iteration."""

    def pull(self) -> None:
        """Gather and apply every vertex."""
        state = self.state
        row = state.tallies.fresh()
        if self.shards is None:
            self._gather(self.lists.all, None, row)
        else:
            self.shards.gather(state.view.weights, state.messages, **state.vertices(row))
        state.swap_messages()
        state.finish(row)

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
        hubs = self.lists.hubs.rows
        state.kernels("gas_state.cu").launch(
            "commit_rows", state.n, *lists, len(self.lists.counts) - 1, hubs, len(hubs), marks,
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
        edges = view.into.column_indices, view.weights
        self.state.gather(lists, self.lists.hubs, self.lists.n_threads, edges, marks, row)

    @cached_property
    def lists(self) -> RowLists:
        """The rows, sorted by length."""
        state = self.state
        offsets = state.view.into.row_offsets
        return RowLists(state.rows_kernels, offsets, state.vertex, state.dtype, 0, state.n)

    def _shards(self, options: RunOptions) -> ShardGather | None:
        if not by_shards(options):
            return None
        state = self.state
        kernels = state.kernels("gas_shards.cu", COUNTS=int(options.trace))
        return ShardGather(kernels, state.view.into, state.dtype, options.replication, options.trace)
