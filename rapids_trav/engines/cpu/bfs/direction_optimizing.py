"""Direction-optimising breadth-first search.

Beamer, Asanovic and Patterson, "Direction-Optimizing Breadth-First Search", SC 2012; the policy "gap" is that
of the GAP Benchmark Suite (Beamer, Asanovic and Patterson, 2015).

A narrow frontier is pushed: its vertices claim their unvisited neighbours.  When the frontier's edges are a
large part of the edges left, most of them lead to visited vertices.  The level is then pulled: each unvisited
vertex looks for a neighbour in the frontier and stops at the first.

1. `push_levels` pushes level after level on one thread, for as long as they are narrow.  It looks up visited
   vertices in a bitmap (Agarwal, Petrini, Pasetto and Bader, SC 2010).  Where frontiers are a few vertices,
   as on a path, it prefetches the next row at a guessed position, before it knows the offset (`likely_row`).
2. `push` pushes one wide level on all threads.  A vertex belongs to the thread whose compare-and-swap sets
   its distance, so it enters the queue once.
3. `mark` turns the frontier into a bitmap; `pull` goes through the bitmap of unvisited vertices, of which
   each thread owns whole words; `enqueue` turns the last frontier back into a queue.

The queue holds every pushed vertex once, in order of distance; a frontier is a slice of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.bfs.pull import count_edges, enqueue, mark, pull
from rapids_trav.engines.cpu.bfs.push import CHAINED, PULL_NEXT, WIDE_NEXT, every_64th, push, push_levels
from rapids_trav.engines.cpu.bfs.state import SearchState, TurningRule, policy_of, start
from rapids_trav.engines.interface import BfsOptions, Search, View
from rapids_trav.jit.kernels import Threads, launched

# Unvisited vertices above which several threads beat one at a pulled level: about a millisecond of work.
SHARED = 1 << 18


@dataclass
class Frontier:
    """The frontier `queue[head:tail]`, its edges, and the edges not yet pushed, including its own.

    The vertices of `queue[:marked]` are set in the bitmap of visited vertices.  `chained` counts the levels
    that had a few vertices; `marks` is empty until there have been many such levels.
    """

    queue: Array
    head: int
    tail: int
    edges: int
    edges_left: int
    marks: Array
    marked: int = 0
    chained: int = 0


def search(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search from all `sources` jointly; return distances and predecessors."""
    state = start(view, sources, options)
    out, n = state.out, len(state.distance)
    policy = policy_of(options, n)
    queue = np.empty(n, out.column_indices.dtype)
    queue[: len(state.sources)] = state.sources
    edges = int((out.row_offsets[state.sources + 1] - out.row_offsets[state.sources]).sum())
    front = Frontier(queue, 0, len(state.sources), edges, out.n_edges, np.empty(0, np.int64))
    returned = False  # "beamer" pushes at least one level after pulling

    with Threads() as team:
        while not state.ended and front.head < front.tail:
            status = _push_narrow(team, state, front, policy, returned)
            returned = False
            if status == WIDE_NEXT:
                _push_wide(team, state, front)
            elif status == PULL_NEXT:
                _pull_while_wide(team, view, state, front, policy)
                returned = policy.beamer
            elif status == CHAINED:
                launched(every_64th.__name__)
                front.marks = every_64th(out.row_offsets)
    return state.result()


def _push_narrow(
    team: Threads, state: SearchState, front: Frontier, policy: TurningRule, returned: bool
) -> int:
    """Push until the search ends or a level should be pulled or shared; with a trace, push one level."""
    before, level = front.tail - front.head, state.level
    mark(state.visited, front.queue, front.marked, front.tail)
    launched(push_levels.__name__)
    (
        status, examined, state.level, front.head, front.tail, front.edges, front.edges_left, front.chained,
    ) = push_levels(
        state.out.row_offsets, state.out.column_indices, state.distance, state.predecessor, state.keep,
        state.visited, front.queue, front.head, front.tail, front.edges, front.edges_left,
        level, level + 1 if state.tracing else state.limit, state.targets, state.has_targets,
        policy.beamer, policy.alpha, policy.least, returned, team.size > 1,
        front.chained, front.marks,
    )  # fmt: skip
    front.marked = front.tail
    if state.level > level:
        state.record_push(before, examined)
    return status


def _push_wide(team: Threads, state: SearchState, front: Frontier) -> None:
    """Push one level on all threads."""
    state.level += 1
    before = front.tail - front.head
    tail = np.array([front.tail])
    counts = team.run(
        push, before,
        state.out.row_offsets, state.out.column_indices, state.distance, state.predecessor, state.keep,
        state.level, front.queue[front.head : front.tail], front.queue, tail, grain=64,
    )  # fmt: skip
    front.edges_left -= front.edges
    examined, front.edges = map(sum, zip(*counts, strict=True))
    front.head, front.tail = front.tail, int(tail[0])
    state.record_push(before, examined)


def _pull_while_wide(
    team: Threads, view: View, state: SearchState, front: Frontier, policy: TurningRule
) -> None:
    """Pull level after level until the policy returns to pushing or the search ends."""
    into, n = view.into, len(state.distance)
    n_words = (n + 63) // 64
    frontier, found = np.zeros((2, n_words), np.int64)
    mark(frontier.view(np.uint64), front.queue, front.head, front.tail)
    mark(state.visited, front.queue, front.marked, front.tail)
    unvisited = state.unvisited(into.linked)
    n_unvisited = int(np.bitwise_count(unvisited.view(np.uint64)).sum())
    n_frontier = front.tail - front.head
    while True:
        state.level += 1
        grain = 64 if n_unvisited > SHARED else n_words
        counts = team.run(
            pull, n_words, into.row_offsets, into.column_indices, state.distance,
            state.predecessor, state.keep, state.level, frontier, found, unvisited, grain=grain,
        )  # fmt: skip
        n_found, checked, looked = map(sum, zip(*counts, strict=True))
        n_unvisited -= n_found
        state.record_pull(n_frontier, checked, looked)
        frontier, found = found, frontier
        if policy.beamer:
            front.edges_left -= front.edges
            front.edges = sum(team.run(count_edges, n_words, state.out.row_offsets, frontier, grain=grain))
        before, n_frontier = n_frontier, n_found
        if n_found == 0 or state.ended or not policy.keeps_pulling(n_found, before, n):
            break
    if not policy.beamer:
        front.edges = 1
    np.invert(unvisited.view(np.uint64), out=state.visited)
    front.head = front.tail
    front.tail = front.marked = front.head + n_frontier
    enqueue(frontier, front.queue, front.head)
