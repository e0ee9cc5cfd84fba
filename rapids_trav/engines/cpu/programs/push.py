"""Pushing iterations, for min and max: active vertices hand their values to their neighbours.

A synchronous round costs the edges of the active vertices, where a pull costs all edges and a notified one
all edges into the active vertices' neighbours.  It runs on one thread, and so is for narrow rounds.

An asynchronous push has no rounds: it works off the near list (see `push_kernels`), and when that is
empty moves the threshold so that a part of the far list becomes near.  What is counted as an iteration is as
much work as a pull: as many edges as there are.

Edges outside memory are mapped, and so can be pushed along like others; what a push holds for each vertex
counts in their budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.bfs.push import WIDE
from rapids_trav.engines.cpu.programs.push_kernels import FAR, IDLE, NEAR, push_kernels
from rapids_trav.engines.cpu.programs.state import ProgramWork, RunProgress
from rapids_trav.engines.cpu.runtime.compile import kernel
from rapids_trav.engines.run_shape import run_shape
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.memory.model.program import push_bytes
from rapids_trav.programs.definition import Program

ROUNDS = 1 << 12  # in one call, during which the process cannot be interrupted
PUSHED = 1 << 24  # edges, likewise
NARROW = 4  # a pull of all edges takes as long as a push on one thread along one edge in so many
NEAR_PART = 32  # one vertex of the far list in so many becomes near
NEAR_LEAST = 32
LITTLE = 1 << 14  # edges of a near list, below which the next takes in more
SAMPLE = 1 << 14
LISTS = "the lists of a push"


def pays(work: ProgramWork) -> bool:
    """Whether the next iteration had better push; an asynchronous run that pushes keeps to it."""
    if not work.may_push:
        return False
    if work.options.asynchronous:
        begun = work.lists is not None and work.view.pages is None  # streamed pages are read faster than rows
        return begun or NARROW * work.active_edges <= work.n_edges
    return NARROW * work.team.size * work.active_edges <= work.n_edges


def least_room(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the bytes of the limit without which a run cannot push that has to."""
    needed = view.limited is not None and program.may_push and options.mode == "push"
    return push_bytes(run_shape(view, program, options)) if needed else 0


@contextmanager
def room(view: GatherView, program: Program, options: RunOptions) -> Iterator[bool]:
    """Hold what pushing takes of the limit if there is room, and tell so; else the run never pushes."""
    budget = view.limited
    if budget is None or not program.may_push or options.mode not in ("auto", "push"):
        yield True
        return
    n_bytes = push_bytes(run_shape(view, program, options))
    there = budget.try_allocate(n_bytes, LISTS)
    if options.mode == "push" and not there:
        raise budget.refusal(n_bytes, LISTS)
    try:
        yield there
    finally:
        if there:
            budget.release(n_bytes, LISTS)


def iterate(work: ProgramWork, progress: RunProgress) -> None:
    """Push: synchronously as many rounds as no caller looks at, or asynchronously one iteration's work."""
    if work.lists is None:
        work.lists = PushLists(work)
    lists = work.lists
    if not lists.current:
        lists.take(work)
    active = work.n_active
    if work.options.asynchronous:
        pushed = _work_off(work, lists)
        progress.record("push", active, pushed, work.residual)
        return
    left = ROUNDS
    if work.options.trace or work.options.checkpoint is not None:
        left = 1
    if work.options.max_iterations is not None:
        left = min(left, work.options.max_iterations - progress.iteration)
    if work.options.between is not None:
        left = min(left, max(work.options.between_from - progress.iteration, 1))
    out = work.view.out
    most_edges = work.n_edges // (NARROW * work.team.size) if work.options.mode == "auto" else work.n_edges
    n_rounds, lists.n_near, lists.n_edges, pushed = lists.kernels.rounds(
        out.row_offsets, out.column_indices, work.out_weights, work.degrees, work.values, work.messages,
        lists.near, lists.n_near, lists.spare, *lists.buffers(work), lists.flags, most_edges, left,
    )  # fmt: skip
    work.n_active, work.active_edges = lists.n_near, lists.n_edges
    progress.record("push", active, pushed, work.residual, n_iterations=n_rounds)


class PushLists:
    """The active vertices as lists: near, with `n_edges` out-edges, and far."""

    def __init__(self, work: ProgramWork) -> None:
        n, dtype = len(work.values), work.view.out.column_indices.dtype
        self.kernels = push_kernels(work.program)
        self.near, self.spare, self.far = (np.empty(n, dtype) for _ in range(3))
        self.flags = np.zeros(n, np.uint8)
        self.n_near = self.n_far = self.n_edges = 0
        self.threshold: np.generic | None = None
        self.step = 0.0  # how far the threshold moves beyond what was asked
        self.pushed = 0  # edges since it moved
        self.current = False  # else `work.active` tells
        self._buffers: tuple[Array, Array] | None = None

    def buffers(self, work: ProgramWork) -> tuple[Array, Array]:
        """Room for a message and for a former value of each vertex of a round."""
        if self._buffers is None:
            self._buffers = (np.empty_like(work.values), np.empty_like(work.values))
        return self._buffers

    def take(self, work: ProgramWork) -> None:
        """The vertices that `work.active` marks, asynchronously into far, else into near."""
        vertices = np.flatnonzero(work.active)
        self.n_near = self.n_far = self.n_edges = 0
        self.flags[:] = IDLE
        if work.options.asynchronous:
            self.n_far = len(vertices)
            self.far[: self.n_far] = vertices
            self.flags[vertices] = FAR
        else:
            self.n_near, self.n_edges = len(vertices), work.active_edges
            self.near[: self.n_near] = vertices
        self.current = True

    def active(self) -> Array:
        """The vertices in the lists."""
        far = self.far[: self.n_far]
        return np.concatenate([self.near[: self.n_near], far[self.flags[far] == FAR]])

    def advance(self, work: ProgramWork) -> bool:
        """Move the threshold, and what passes it from far to near; False if far is empty."""
        far = self.far[: self.n_far]
        far = far[self.flags[far] == FAR]
        if len(far) == 0:
            self.n_far = 0
            return False
        values, descending = work.values[far], work.program.reducer == "max"
        self._move_threshold(_passed(values, descending), descending)
        passes = values >= self.threshold if descending else values <= self.threshold
        near, far = far[passes], far[~passes]
        self.near[: len(near)], self.far[: len(far)] = near, far
        self.flags[near] = NEAR
        self.n_near, self.n_far = len(near), len(far)
        self.n_edges = int(work.out_degrees[near].sum())
        return True

    def _move_threshold(self, passed: Array, descending: bool) -> None:
        """To `passed`, or further while steps give little to do: a path would move it at every vertex."""
        if self.threshold is not None:
            moved = abs(float(passed) - float(self.threshold))
            self.step = max(2 * self.step, moved) if self.pushed < LITTLE else self.step / 2
        self.pushed = 0
        self.threshold = _beyond(passed, self.step, descending)


def _beyond(value: Array, step: float, descending: bool) -> Array:
    """A value further on by `step`, as far as its type goes."""
    kind = type(value)
    if not np.isfinite(step):
        return value
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        further = int(value) - int(step) if descending else int(value) + int(step)
        return kind(min(max(further, limits.min), limits.max))
    with np.errstate(over="ignore"):  # infinite is as far as it goes
        return kind(value - step if descending else value + step)


def _passed(values: Array, descending: bool) -> Array:
    """The value that at least `NEAR_LEAST` of these, or one part in `NEAR_PART`, pass."""
    n = len(values)
    near = max(NEAR_LEAST, n // NEAR_PART)
    if n <= near:
        return values.min() if descending else values.max()
    sample = values[:: max(1, n // SAMPLE)]
    place = min(near * len(sample) // n, len(sample) - 1)
    place = len(sample) - 1 - place if descending else place
    return np.partition(sample, place)[place]


def _work_off(work: ProgramWork, lists: PushLists) -> int:
    """Push along about as many edges as there are, or until nothing is active; how many they were."""
    pushed, enough = 0, max(work.n_edges, 1)
    while pushed < enough and (lists.n_near or lists.advance(work)):
        if lists.n_edges > WIDE and work.team.size > 1:
            now = _wide(work, lists)
        else:
            now = _narrow(work, lists, min(enough - pushed, PUSHED))
        lists.pushed += now
        pushed += now
    vertices = lists.active()
    work.n_active, work.active_edges = len(vertices), int(work.out_degrees[vertices].sum())
    return pushed


def _narrow(work: ProgramWork, lists: PushLists, most_pushed: int) -> int:
    out = work.view.out
    most_edges = WIDE if work.team.size > 1 else work.n_edges
    swapped, lists.n_near, lists.n_edges, lists.n_far, pushed = lists.kernels.narrow(
        out.row_offsets, out.column_indices, work.out_weights, work.degrees, work.values, lists.threshold,
        lists.near, lists.n_near, lists.n_edges, lists.spare, lists.far, lists.n_far, lists.flags,
        most_edges, most_pushed,
    )  # fmt: skip
    if swapped:
        lists.near, lists.spare = lists.spare, lists.near
    return pushed


def _wide(work: ProgramWork, lists: PushLists) -> int:
    out, team = work.view.out, work.team
    tails = np.array([0, lists.n_far])
    bits = work.values.view(f"i{work.values.itemsize}")
    team.run(_clear, lists.n_near, lists.near, lists.flags, grain=4096)
    counts = team.run(
        lists.kernels.wide, lists.n_near, out.row_offsets, out.column_indices, work.out_weights,
        work.degrees, work.values, bits, lists.threshold, lists.near, lists.spare, lists.far, tails,
        lists.flags, grain=64,
    )  # fmt: skip
    lists.near, lists.spare = lists.spare, lists.near
    lists.n_near, lists.n_far = tails.tolist()
    lists.n_edges = sum(edges for edges, _ in counts)
    return sum(pushed for _, pushed in counts)


@kernel
def _clear(vertices, flags, begin, end):
    for i in range(begin, end):
        flags[vertices[i]] = IDLE


def marked(work: ProgramWork) -> Array:
    """`work.active`, brought up to what the lists hold."""
    if work.lists is not None and work.lists.current:
        work.active[:] = False
        work.active[work.lists.active()] = True
        work.lists.current = False
    return work.active
