"""Pushing iterations, for min and max: active vertices send their values to their neighbours.

A synchronous round costs the edges of the active vertices, whereas a pull costs all edges, and a notified one
all edges into the active vertices' neighbours.  A round runs on one thread, so it is used for narrow rounds.

An asynchronous push has no rounds that are visible outside: it processes vertices in order of value, near
before far (see `near_far`).  One iteration is as much work as a pull: as many edges as there are.

Edges outside memory are mapped, so they can be pushed along like others; the memory that a push takes for
each vertex is charged to their budget.

The loop of a synchronous push, with the program's functions compiled into it.

Along each edge that leaves an active vertex the message is reduced into the neighbour's value at once.  The
messages of a round are computed before it, so that every vertex gets the value that a pull would give it.  It
runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.bfs.steps import WIDE
from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept
from rapids_trav.engines.cpu.programs.near_far import FAR, LITTLE, near_far_kernels
from rapids_trav.engines.cpu.programs.pages import PAGE_SHARE
from rapids_trav.engines.cpu.programs.state import PUSHED_BEFORE, ProgramWork, out_edges
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.memory.model.program import push_bytes, working_bytes
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey

IDLE, TOUCHED = 0, 1


@kept
def push_rounds(source: ProgramKey) -> Callable:
    """Return the kernel of a program, which is compiled at its first call for each type of graph."""
    program = source.program
    compiler = ProgramCompiler(source.digest)
    scatter, gather, reduce, _, active, _, cast = functions(program, compiler)
    has_scatter = program.scatter is not None

    @compiler.kernel
    def rounds(
        row_offsets, columns, weights, degrees, values, messages, queue, n_queue, touched, offers, before,
        flags, most_edges, most_rounds,
    ):  # fmt: skip
        """Push round by round; return rounds, vertices in `queue`, their edges, and edges pushed along."""
        n_rounds = 0
        n_edges = 0
        pushed = 0
        while n_rounds < most_rounds and n_queue > 0:
            for i in range(n_queue):
                u = np.int64(queue[i])
                offers[i] = scatter(values[u], degrees[u])
            n_touched = 0
            for i in range(n_queue):
                u = np.int64(queue[i])
                pushed += row_offsets[u + 1] - row_offsets[u]
                for e in range(row_offsets[u], row_offsets[u + 1]):
                    v = np.uintp(columns[e])
                    weight = cast(1) if weights is None else weights[e]
                    value = values[v]
                    new = reduce(value, gather(offers[i], weight))
                    if new != value:
                        if flags[v] == IDLE:
                            flags[v] = TOUCHED
                            touched[n_touched] = v
                            before[n_touched] = value
                            n_touched += 1
                        values[v] = new
            n_queue = 0
            n_edges = 0
            for i in range(n_touched):
                v = np.int64(touched[i])
                flags[v] = IDLE
                if has_scatter:
                    messages[v] = scatter(values[v], degrees[v])
                if active(before[i], values[v]):
                    queue[n_queue] = v
                    n_queue += 1
                    n_edges += row_offsets[v + 1] - row_offsets[v]
            n_rounds += 1
            if n_edges > most_edges:
                break
        return n_rounds, n_queue, n_edges, pushed

    return rounds


ROUNDS = 1 << 12  # rounds of one call, during which the process cannot be interrupted
PUSHED = 1 << 24  # edges of one call, for the same reason
NARROW = 4  # a pull of all edges takes as long as a push on one thread along 1/NARROW of them


def pays(work: ProgramWork) -> bool:
    """Return whether the next iteration should push; an asynchronous run that pushes goes on pushing."""
    if not work.may_push:
        return False
    if work.options.asynchronous:
        begun = has_pushed(work) and work.view.pages is None  # streaming reads pages faster than rows
        return begun or NARROW * work.active_edges <= work.n_edges
    return NARROW * work.team.size * work.active_edges <= work.n_edges


def has_pushed(work: ProgramWork) -> bool:
    """Return whether the run pushed since it began or, if it was resumed, before its checkpoint."""
    return work.lists is not None or work.pushed_before


def policy(work: ProgramWork) -> dict[str, float]:
    """Return the decision that a resumed run takes over."""
    return {PUSHED_BEFORE: 1.0} if has_pushed(work) else {}


def list_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the bytes that pushing takes of a budget; 0 if there is none, or the run never pushes."""
    pushes = view.limited is not None and program.may_push and options.mode in ("auto", "push")
    return push_bytes(run_shape(view, program, options)) if pushes else 0


def fits(view: GatherView, program: Program, options: RunOptions, free_bytes: int) -> bool:
    """Return whether pages in `free_bytes` leave room for pushing."""
    shape = run_shape(view, program, options)
    left = free_bytes - working_bytes(shape)
    return push_bytes(shape) <= left - left // PAGE_SHARE


def iterate(work: ProgramWork, progress: RunProgress) -> None:
    """Push: synchronously until the state is inspected, or asynchronously the work of one iteration."""
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
    left = work.options.uninspected(progress.iteration, ROUNDS)
    out = work.view.out
    most_edges = work.n_edges // (NARROW * work.team.size) if work.options.mode == "auto" else work.n_edges
    n_rounds, lists.n_near, lists.n_edges, pushed = lists.rounds(
        out.row_offsets, out.column_indices, work.out_weights, work.degrees, work.values, work.messages,
        lists.near, lists.n_near, lists.spare, *lists.buffers(work), lists.flags, most_edges, left,
    )  # fmt: skip
    work.n_active, work.active_edges = lists.n_near, lists.n_edges
    progress.record("push", active, pushed, work.residual, n_iterations=n_rounds)


class PushLists:
    """The active vertices as lists: near, with `n_edges` out-edges, and far."""

    def __init__(self, work: ProgramWork) -> None:
        n, dtype = len(work.values), work.view.out.column_indices.dtype
        self.rounds = push_rounds(work.source)
        self.narrow, self.wide = near_far_kernels(work.source)
        self.near, self.spare, self.far = (np.empty(n, dtype) for _ in range(3))
        self.flags = np.zeros(n, np.uint8)
        self.n_near = self.n_far = self.n_edges = 0
        self.threshold = work.identity  # until its first move
        self.step = 0.0  # by which it moves beyond the sampled value
        self.pushed = LITTLE  # edges pushed along since it moved
        self.current = False  # whether the lists hold the active vertices; else `work.active` does
        self._buffers: tuple[Array, Array] | None = None

    def buffers(self, work: ProgramWork) -> tuple[Array, Array]:
        """Return two buffers: for the messages and the former values of the vertices of a round."""
        if self._buffers is None:
            self._buffers = (np.empty_like(work.values), np.empty_like(work.values))
        return self._buffers

    def take(self, work: ProgramWork) -> None:
        """Take the vertices that `work.active` marks, into far if asynchronous, else into near."""
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
        """Return the vertices in the lists."""
        far = self.far[: self.n_far]
        return np.concatenate([self.near[: self.n_near], far[self.flags[far] == FAR]])


def _work_off(work: ProgramWork, lists: PushLists) -> int:
    """Push along about as many edges as there are, or until nothing is active; return their number."""
    pushed, enough, team = 0, max(work.n_edges, 1), work.team
    while pushed < enough and lists.n_near + lists.n_far:
        pushed += _narrow(work, lists, min(enough - pushed, PUSHED))
        if lists.n_near and lists.n_edges > WIDE and team.size > 1 and pushed < enough:
            pushed += _wide(work, lists)
    vertices = lists.active()
    work.n_active, work.active_edges = len(vertices), out_edges(work.view.out, vertices)
    return pushed


def _narrow(work: ProgramWork, lists: PushLists, most_pushed: int) -> int:
    out = work.view.out
    most_edges = WIDE if work.team.size > 1 else work.n_edges
    (
        swapped, lists.n_near, lists.n_far, lists.n_edges, threshold, lists.step, lists.pushed, pushed
    ) = lists.narrow(
        out.row_offsets, out.column_indices, work.out_weights, work.degrees, work.values,
        lists.near, lists.n_near, lists.spare, lists.far, lists.n_far, lists.flags,
        lists.threshold, lists.step, lists.pushed, most_edges, most_pushed,
    )  # fmt: skip
    lists.threshold = work.values.dtype.type(threshold)
    if swapped:
        lists.near, lists.spare = lists.spare, lists.near
    return pushed


def _wide(work: ProgramWork, lists: PushLists) -> int:
    out = work.view.out
    tails = np.array([0, lists.n_far])
    bits = work.values.view(f"i{work.values.itemsize}")
    work.team.run(
        lists.wide, lists.n_near, out.row_offsets, out.column_indices, work.out_weights,
        work.degrees, work.values, bits, lists.threshold, lists.near, lists.spare, lists.far, tails,
        lists.flags, grain=64,
    )  # fmt: skip
    pushed = lists.n_edges
    lists.pushed += pushed
    lists.near, lists.spare = lists.spare, lists.near
    lists.n_near, lists.n_far = tails.tolist()
    return pushed


def marked(work: ProgramWork) -> Array:
    """Return `work.active` after bringing it, and the messages, up to date with the lists."""
    if work.lists is not None and work.lists.current:
        work.active[:] = False
        work.active[work.lists.active()] = True
        work.lists.current = False
        if work.options.asynchronous:
            work.offer()  # such a push computes messages as it needs them, and stores none
    return work.active
