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

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.bfs.steps import (
    CHAINED,
    PULL_NEXT,
    WIDE_NEXT,
    count_edges,
    enqueue,
    every_64th,
    mark,
    pull,
    push,
    push_levels,
)
from rapids_trav.engines.interface import BfsOptions, LevelTrace, Search, View
from rapids_trav.errors import TravError, listed
from rapids_trav.jit.kernels import Threads
from rapids_trav.jit.launches import launched

# A pulled level costs at least a visit to each word of 64 vertices, a pushed level a visit to each edge of
# the frontier; both visits are assumed to cost the same.  Reasoned, not tuned: the published rules pulled
# late levels of a grid (3 of 1630, 2943 edges) and of a path (15, 189 edges), which took milliseconds each.
AUTO_LEAST = 64
ALL_BITS = np.uint64(2**64 - 1)
NO_LIMIT = np.iinfo(np.int32).max


@dataclass(frozen=True)
class TurningRule:
    """Rule for turning from push to pull and back.

    "beamer" (SC 2012) pulls when the frontier's edges exceed 1/alpha of the unvisited vertices' edges, and
    pushes again when the frontier falls below 1/beta of all vertices.  "gap" (GAP Benchmark Suite) counts the
    frontier's edges among those left, does not subtract edges of pulled levels, keeps pulling while the
    frontier grows, and uses integer division.

    Neither pulls a frontier of fewer than `least` edges; the published rules have `least` 0.  When few edges
    are left, any frontier has a large part of them, but pulling still takes a pass over the bitmaps.
    """

    beamer: bool
    alpha: int
    beta: int
    least: int = 0

    def keeps_pulling(self, frontier: int, previous: int, n_vertices: int) -> bool:
        if self.beamer:
            return frontier * self.beta >= n_vertices
        return frontier >= previous or frontier > n_vertices // self.beta


def policy_of(options: BfsOptions, n_vertices: int) -> TurningRule:
    """Return the policy that the options name; the variant "auto" adds a least frontier to it."""
    policies = {"gap": TurningRule(False, 15, 18), "beamer": TurningRule(True, 14, 24)}
    if options.policy not in policies:
        raise TravError(f"policy={options.policy!r} is not known: choose one of {listed(policies)}.")
    least = n_vertices // AUTO_LEAST if options.variant == "auto" else 0
    return replace(policies[options.policy], least=least)


class CpuRecorder:
    """Recorder of a trace, with a row for each level; does nothing unless a trace is wanted."""

    def __init__(self, wanted: bool, id_bytes: int) -> None:
        self.rows: list[LevelTrace] = []
        self.wanted = wanted
        self.looked = 0  # unvisited vertices that pulled levels looked at
        self._id_bytes = id_bytes
        self._clock = perf_counter()

    def push(self, level: int, frontier: int, edges: int) -> None:
        """Record a push: a column and a vertex state per edge, an id and two offsets per vertex."""
        if self.wanted:
            n_bytes = edges * (self._id_bytes + 4) + frontier * (self._id_bytes + 16)
            self._add(level, "push", frontier, edges, n_bytes)

    def pull(self, level: int, frontier: int, edges: int, looked: int) -> None:
        """Record a pull: a column and a frontier word per edge, two offsets per vertex looked at."""
        if self.wanted:
            self.looked += int(looked)
            self._add(level, "pull", frontier, edges, edges * (self._id_bytes + 8) + looked * 16)

    def _add(self, level: int, direction: str, frontier: int, edges: int, n_bytes: int) -> None:
        now = perf_counter()
        spent = 1e3 * (now - self._clock)
        self.rows.append(LevelTrace(level, direction, int(frontier), int(edges), int(n_bytes), spent))
        self._clock = now


@dataclass
class SearchState:
    """The state of a running search from a joint frontier."""

    out: Adjacency
    distance: Array
    predecessor: Array  # of length 0 if not asked for
    keep: bool  # whether predecessors were asked for
    visited: Array  # a bit for each vertex, 64 to the uint64 word; those after the last vertex are set
    sources: Array
    limit: int
    targets: Array
    has_targets: bool
    recorder: CpuRecorder
    level: int = 0

    @property
    def ended(self) -> bool:
        """Whether the depth limit or the targets end the search here."""
        if self.level >= self.limit:
            return True
        return self.has_targets and bool((self.distance[self.targets] >= 0).all())

    def unvisited(self, linked: Array) -> Array:
        """Return a bitmap, int64, of unvisited vertices that have a row to read (`Adjacency.linked`).

        The others can never be reached (docs/systems.md, V5).
        """
        unvisited = np.invert(self.visited).view(np.int64)
        if len(linked):
            unvisited &= linked
        return unvisited

    def result(self) -> Search:
        counters = {"looked": self.recorder.looked} if self.recorder.wanted else {}
        predecessor = self.predecessor if self.keep else None
        return Search(self.distance, predecessor, self.recorder.rows, counters=counters)


def start(view: View, sources: Array, options: BfsOptions) -> SearchState:
    """Return the state before the first level: distance 0 at the sources, -1 elsewhere."""
    out, n = view.out, view.n_vertices
    dtype = out.column_indices.dtype
    distance = np.full(n, -1, np.int32)
    sources = np.asarray(sources, dtype)
    distance[sources] = 0
    visited = np.zeros(-(-n // 64), np.uint64)
    if n % 64:
        visited[-1] = ALL_BITS << np.uint64(n % 64)
    return SearchState(
        out=out,
        distance=distance,
        predecessor=np.full(n if options.predecessors else 0, -1, dtype),
        keep=options.predecessors,
        visited=visited,
        sources=sources,
        limit=limit_of(options),
        targets=targets_of(options),
        has_targets=options.targets is not None,
        recorder=CpuRecorder(options.trace, dtype.itemsize),
    )


def limit_of(options: BfsOptions) -> int:
    return NO_LIMIT if options.depth_limit is None else options.depth_limit


def targets_of(options: BfsOptions) -> Array:
    return np.require([] if options.targets is None else options.targets, np.int64, ["C", "W"])


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
    front = Frontier(queue, 0, len(state.sources), edges, len(out.column_indices), np.empty(0, np.int64))
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
        level, level + 1 if state.recorder.wanted else state.limit, state.targets, state.has_targets,
        policy.beamer, policy.alpha, policy.least, returned, team.size > 1,
        front.chained, front.marks,
    )  # fmt: skip
    front.marked = front.tail
    if state.level > level:
        state.recorder.push(state.level, before, examined)
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
    state.recorder.push(state.level, before, examined)


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
        state.recorder.pull(state.level, n_frontier, checked, looked)
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
