"""The initial state of a search, and the policies that choose its direction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.interface import BfsOptions, LevelTrace, Search, View
from rapids_trav.errors import TravError, listed

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
        self._wanted = wanted
        self._id_bytes = id_bytes
        self._clock = perf_counter()

    def push(self, level: int, frontier: int, edges: int) -> None:
        """Record a push: a column and a vertex state per edge, an id and two offsets per vertex."""
        n_bytes = edges * (self._id_bytes + 4) + frontier * (self._id_bytes + 16)
        self._add(level, "push", frontier, edges, n_bytes)

    def pull(self, level: int, frontier: int, edges: int, looked: int) -> None:
        """Record a pull: a column and a frontier word per edge, two offsets per vertex looked at."""
        n_bytes = edges * (self._id_bytes + 8) + looked * 16
        self._add(level, "pull", frontier, edges, n_bytes)

    def _add(self, level: int, direction: str, frontier: int, edges: int, n_bytes: int) -> None:
        if self._wanted:
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
    tracing: bool
    level: int = 0
    looked: int = 0  # unvisited vertices that pulled levels looked at

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

    def record_push(self, frontier: int, edges: int) -> None:
        if self.tracing:
            self.recorder.push(self.level, frontier, edges)

    def record_pull(self, frontier: int, edges: int, looked: int) -> None:
        if self.tracing:
            self.looked += int(looked)
            self.recorder.pull(self.level, frontier, edges, looked)

    def result(self) -> Search:
        counters = {"looked": self.looked} if self.tracing else {}
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
        tracing=options.trace,
    )


def limit_of(options: BfsOptions) -> int:
    return NO_LIMIT if options.depth_limit is None else options.depth_limit


def targets_of(options: BfsOptions) -> Array:
    return np.require([] if options.targets is None else options.targets, np.int64, ["C", "W"])
