"""Vertex programs on the CPU: gather, apply and scatter, iteration by iteration.

L. Ma et al., "Garaph", USENIX ATC 2017, sections 4 and 5.

1. Each vertex's message is computed once, when its value changes, and read over all its out-edges.
2. An iteration pulls (all vertices gather), notifies (only vertices that an active vertex leads to gather)
   or, where the program allows it and there is room, pushes (`push`).
3. The edges to gather over are cut into parts of equal length, which threads take one after another
   (`kernels`).  Streamed edges are read page by page into one buffer (`pages`).
4. A synchronous run writes new values beside the old ones: every vertex sees its neighbours as they were
   before the iteration, as in Jacobi's method.  An asynchronous run writes in place, and a vertex may see
   neighbours that already have new values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rapids_trav.csr.adjacency import Array, search_offsets
from rapids_trav.engines.cpu.programs import push
from rapids_trav.engines.cpu.programs.blocks.executor import least_block_bytes, opened, takes_blocks
from rapids_trav.engines.cpu.programs.compile import explained
from rapids_trav.engines.cpu.programs.kernels import (
    CHANGED,
    EDGES,
    N_STATS,
    RESIDUAL,
    TOTAL,
    gather_rounds,
)
from rapids_trav.engines.cpu.programs.pages import (
    Piece,
    ResidentEdges,
    StreamedEdges,
    cut_within,
    least_page_bytes,
)
from rapids_trav.engines.cpu.programs.state import ProgramWork
from rapids_trav.engines.cpu.runtime.intrinsics import abandon, new_gate
from rapids_trav.engines.iterations import Executor, RunProgress, iterate
from rapids_trav.engines.runs import GatherView, Moved, Run, RunOptions, run_shape
from rapids_trav.errors import TravError
from rapids_trav.jit.kernels import PIECES_PER_THREAD, Threads, kernel
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.program import working_bytes
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState, gather_mode

ALONE = 1 << 19  # edges and vertices up to which rounds are not handed out one by one: see `most_rounds`
MEETING = 1 << 15  # least edges and vertices of a thread that shares rounds which run in one call
AT_ONCE = 1 << 25  # edges and vertices of one call, during which the process cannot be interrupted
EDGES_PER_PART = 1 << 15  # about 25 us of work on the Facebook graph: a shorter part is not worth its call


def run(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate the program until no vertex is active, it converges, or `max_iterations` are done."""
    with explained(program, view, options), _executor(view, program, state, options) as executor:
        return iterate(executor, program, state, options)


@contextmanager
def _executor(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Iterator[Executor]:
    """Yield the executor of the program, with its memory charged to the budget.

    Pages take a share of what the budget has left, and the lists of a push are left out if the rest is too
    small for them, unless the caller asked for pushing.
    """
    if takes_blocks(view, program, state, options):
        with opened(view, program, state, options) as blocks:
            yield blocks
        return
    budget, cut = view.limited, None
    n_bytes, lists = working_bytes(run_shape(view, program, options)), push.list_bytes(view, program, options)
    must_push = options.mode == "push"
    n_bytes += lists if must_push else 0
    if view.pages is not None:
        *cut, page = cut_within(view, view.pages.budget.free - n_bytes)
        n_bytes += page
    may_push = must_push or budget is None or n_bytes + lists <= budget.free
    n_bytes += lists if may_push and not must_push else 0
    what = f"{'the lists of a push and ' if must_push else ''}the vertices' values"
    with Threads() as team, holding(budget, n_bytes, what):
        edges = ResidentEdges(view) if cut is None else StreamedEdges(view, *cut)
        yield Sweeps(edges, view, program, state, options, team, may_push)


class Sweeps(ProgramWork):
    """A running program over edges in memory, or in pages each of which is read once."""

    def __init__(self, edges: ResidentEdges | StreamedEdges, *work: Any) -> None:
        super().__init__(*work)
        self._edges = edges

    @property
    def counters(self) -> dict[str, int]:
        return {}

    @property
    def policy(self) -> dict[str, float]:
        return push.policy(self)

    def step(self, progress: RunProgress) -> None:
        mode = choose(self)
        if mode == "push":
            push.iterate(self, progress)
        else:
            push.marked(self)
            most = most_rounds(self, progress, mode)
            if most > 1:
                run_rounds(self, progress, most)
            else:
                active = self.n_active
                n_edges, moved = sweep(self, self._edges, mode)
                progress.record(mode, active, n_edges, self.residual, moved)

    def settle(self) -> Array:
        return push.marked(self)


def least_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the least memory with which the run works, whatever else the budget has."""
    if options.schedule == "paths" and view.pages is not None:
        return least_block_bytes(view, program, options)
    n_bytes = working_bytes(run_shape(view, program, options))
    n_bytes += push.list_bytes(view, program, options) if options.mode == "push" else 0
    return n_bytes if view.pages is None else n_bytes + least_page_bytes(view)


def choose(work: ProgramWork) -> str:
    """Return the mode of the next iteration: as asked, or chosen by the active vertices."""
    program, asked, paged = work.program, work.options.mode, work.view.pages is not None
    if asked == "push" and not work.may_push:
        raise TravError(
            f"mode='push' is not possible for program {program.name!r}, since pushing supports only min or "
            f"max without apply, total and start, and needs memory for its lists: use mode='auto'."
        )
    if not program.may_notify:
        return "pull"
    if asked != "auto":
        return asked
    if push.pays(work):
        return "push"
    return gather_mode(work.active_edges, work.n_edges, paged)


def sweep(work: ProgramWork, edges: ResidentEdges | StreamedEdges, mode: str) -> tuple[int, Moved]:
    """Gather at all vertices, or at the notified ones; return the edges, and the pages that were read."""
    rows = None
    if mode == "notify":
        rows = notified(work)
        work.active[:] = False
    work.used_total = work.next_total
    stats = np.zeros(N_STATS)
    n_pages = n_bytes = n_edges = 0
    for piece in edges.pieces(rows):
        stats += gather(work, piece)
        n_edges += int(piece.starts[-1] - piece.starts[0])
        if piece.n_bytes:
            n_pages, n_bytes = n_pages + 1, n_bytes + piece.n_bytes
            if work.options.on_page is not None:
                work.options.on_page(1, piece.n_bytes)
        if work.options.record_page is not None and work.view.pages is not None:
            work.options.record_page(piece.first, work.new_values[piece.first : piece.after])
    if rows is None:
        work.swap()
    else:
        work.take_over(rows)
    work.n_active, work.active_edges = int(stats[CHANGED]), int(stats[EDGES])
    work.next_total = float(stats[TOTAL])
    if work.program.tolerance is not None:
        work.residual = float(stats[RESIDUAL])
    return n_edges, Moved(n_pages, n_bytes)


def most_rounds(work: ProgramWork, progress: RunProgress, mode: str) -> int:
    """Return how many rounds may run in one call; 1: each round is handed out to the threads.

    It takes several if the state is not inspected between them, and all of them gather for all vertices.
    """
    size = work.n_edges + len(work.values)
    varies = work.program.may_notify and work.options.mode == "auto"
    if mode != "pull" or varies or work.view.pages is not None or (size > ALONE and work.team.size > 1):
        return 1
    return work.options.uninspected(progress.iteration, max(AT_ONCE // max(size, 1), 1))


def run_rounds(work: ProgramWork, progress: RunProgress, most: int) -> None:
    """Run up to `most` rounds in which all vertices gather, and record them."""
    active, bounds = work.n_active, _parts(work)
    found = _rounds(work, most, bounds) or _rounds(work, most, bounds[[0, -1]])
    assert found is not None
    n_rounds, n_changed, n_edges, residual, work.used_total, work.next_total = found
    if n_rounds % 2:
        work.swap()
    work.n_active, work.active_edges = n_changed, n_edges
    if work.program.tolerance is not None:
        work.residual = residual
    progress.record("pull", active, n_rounds * work.n_edges, work.residual, n_iterations=n_rounds)


def _rounds(work: ProgramWork, most: int, bounds: Array) -> tuple | None:
    """Run rounds with a thread for each part of the vertices; return None if there is no such thread."""
    into, n_parts, gate = work.view.into, len(bounds) - 1, new_gate()
    found = work.team.run_together(
        gather_rounds(work.source), n_parts,
        into.row_offsets, into.column_indices, work.view.weights, work.identity, work.next_total,
        work.parameters, work.values, work.messages, work.degrees, work.out_degrees,
        work.new_values, work.new_messages, work.active, float(work.program.tolerance or 0), most,
        bounds, np.zeros((2, n_parts, N_STATS)), gate, abandon=lambda: abandon(gate),
    )  # fmt: skip
    return found if found and found[0] else None


def _parts(work: ProgramWork) -> Array:
    """Return the bounds of parts of the vertices with about as many edges each, one for each thread.

    There is one part alone if it would be too short for several, or if values are changed in place.
    """
    n = len(work.values)
    size = work.n_edges + n
    n_parts = 1 if work.new_values is work.values else max(min(work.team.size, size // MEETING), 1)
    offsets = work.view.into.row_offsets

    def before(v: int) -> int:
        return int(offsets[v]) + v  # a vertex without edges takes time, too

    cuts = [bisect_left(range(n + 1), size * part // n_parts, key=before) for part in range(n_parts + 1)]
    return np.array(cuts, np.int64)


def gather(work: ProgramWork, piece: Piece, n_parts: int | None = None) -> Array:
    """Gather over a piece's edges, cut into `n_parts`, and apply; return the sums of the parts' counts."""
    starts = piece.starts
    n_items, first, last = len(starts) - 1, int(starts[0]), int(starts[-1])
    if n_parts is None:
        n_parts = min(PIECES_PER_THREAD * work.team.size, 1 + (last - first + n_items) // EDGES_PER_PART)
    cuts = first + (last - first) * np.arange(n_parts + 1) // n_parts
    firsts = search_offsets(starts[:-1], cuts)
    firsts[-1] = n_items
    replicas = np.full(n_parts, work.identity)
    tails = np.full(n_parts, work.identity)
    stats = np.zeros((n_parts, N_STATS))
    before = (piece.rows, piece.listed, piece.row, starts)
    vertices = (work.values, work.messages, work.degrees, work.out_degrees)
    after = (work.new_values, work.new_messages, work.active, replicas, tails, stats)
    work.team.run(
        work.kernels.gather, n_parts, *before, piece.edges, piece.shift, piece.columns, piece.weights, cuts,
        firsts, work.identity, work.used_total, work.parameters, *vertices, *after, grain=1,
    )  # fmt: skip
    if n_parts > 1:
        work.kernels.merge(
            *before, cuts, firsts, work.used_total, work.parameters,
            work.values, work.degrees, work.out_degrees, *after,
        )  # fmt: skip
    return stats.sum(axis=0)


def notified(work: ProgramWork) -> Array:
    """Return the vertices that gather: those that active ones lead to and, with `apply`, the active ones."""
    marks = work.active.copy() if work.program.active_gather else np.zeros_like(work.active)
    out, active = work.view.out, np.flatnonzero(work.active)
    work.team.run(notify_along, len(active), active, out.row_offsets, out.column_indices, marks, grain=1024)
    return np.flatnonzero(marks)


@kernel
def notify_along(active, row_offsets, column_indices, marks, begin, end):
    for i in range(begin, end):
        u = active[i]
        for e in range(row_offsets[u], row_offsets[u + 1]):
            marks[np.uintp(column_indices[e])] = True
