"""The arrays of a vertex program in memory while it runs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.programs.kernels import kernels
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState

VERTICES_PER_PART = 1 << 14
PUSHED_BEFORE = "cpu pushes"  # in `RunState.policy`


class ProgramWork:
    """Values, messages and active vertices of a run.

    An iteration reads `values` and `messages`, and writes `new_values` and `new_messages`.  In an
    asynchronous run these are the same arrays.  Without `scatter` the messages are the values themselves.
    The active vertices are those of `active`, unless `lists` holds them.
    """

    def __init__(
        self,
        view: GatherView,
        program: Program,
        state: RunState,
        options: RunOptions,
        team: Threads,
        has_room_to_push: bool = True,
    ) -> None:
        self.view, self.program, self.options, self.team = view, program, options, team
        self.source = ProgramKey(program)
        self.kernels = kernels(self.source)
        self.n_edges = view.into.n_edges
        self.parameters = tuple(float(number) for number in options.parameters)
        self.identity = program.identity
        self.degrees = writable(view.degrees)

        self.values = np.array(state.values, program.dtype)
        self.active = np.array(state.active, bool)
        self.new_values = self.values if options.asynchronous else np.empty_like(self.values)
        self.messages, self.new_messages = self.values, self.new_values
        if program.scatter is not None:
            self.messages = np.empty_like(self.values)
            self.new_messages = self.messages if options.asynchronous else np.empty_like(self.values)

        symmetric = view.out is view.into
        self.out_weights = view.weights if symmetric else view.out_weights
        self.lists: Any = None  # the lists of `push`, once it has been used
        self.pushed_before = bool(state.policy.get(PUSHED_BEFORE))
        self.has_room_to_push = has_room_to_push

        self.used_total, self.residual = state.total, state.residual
        self.n_active = int(np.count_nonzero(self.active))
        all_are = self.n_active == len(self.active)
        self.active_edges = self.n_edges if all_are else out_edges(self.view.out, np.flatnonzero(self.active))
        self.next_total = self.offer()

    @cached_property
    def out_degrees(self) -> Array:
        """Number of edges that leave each vertex, int64 (n,)."""
        return self.degrees if self.degrees.dtype.kind == "i" else np.diff(self.view.out.row_offsets)

    def offer(self) -> float:
        """Compute the messages of all vertices; return the sum of their `total`."""
        if self.program.scatter is None and self.program.total is None:
            return 0.0
        sums = np.zeros(1 + len(self.values) // VERTICES_PER_PART)
        self.team.run(self.kernels.offer, len(sums), self.values, self.degrees, self.messages, sums, grain=1)
        return float(sums.sum())

    @property
    def may_push(self) -> bool:
        weights_are_there = self.view.weights is None or self.out_weights is not None
        return self.program.may_push and self.has_room_to_push and weights_are_there

    def swap(self) -> None:
        """Make the new values current, after every vertex has been applied."""
        self.values, self.new_values = self.new_values, self.values
        self.messages, self.new_messages = self.new_messages, self.messages

    def take_over(self, rows: Array) -> None:
        """Make the new values of `rows` current, after these vertices have been applied."""
        if self.new_values is not self.values:
            self.values[rows] = self.new_values[rows]
        if self.new_messages is not self.messages and self.messages is not self.values:
            self.messages[rows] = self.new_messages[rows]


def out_edges(out: Adjacency, vertices: Array) -> int:
    """Return the number of edges that leave these vertices."""
    offsets = out.row_offsets
    return int((offsets[vertices + 1] - offsets[vertices]).sum(dtype=np.int64))


def writable(array: Array) -> Array:
    """Return a writable array, since kernels are compiled for those; a read-only one is copied."""
    return array if array.flags.writeable else np.array(array)
