"""The common parts of all searches that the host drives level by level.

A level is one or two launches and one small read: the row of counters that the kernels filled.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.build.host_rows import lies_outside
from rapids_trav.engines.interface import BfsOptions, LevelTrace, Search, View

_DISTANCE_BYTES = 4


class Counts(NamedTuple):
    """The counters of a level, in the order of `enum Counter` in `kernels/level.cuh`."""

    found: int
    frontier: int
    edges: int
    scout: int
    light: int
    heavy: int
    remaining: int


class Counters:
    """Device counters with a fresh row for each level, cleared `at_once` rows at a time."""

    def __init__(self, at_once: int = 512) -> None:
        self._rows = cupy.zeros((at_once, len(Counts._fields)), np.uint64)
        self._host = cupyx.empty_pinned(len(Counts._fields), np.uint64)
        self._row = -1

    def fresh(self) -> Array:
        """Return a row of zeros for the kernels of one level."""
        self._row += 1
        if self._row == len(self._rows):
            self._rows.fill(0)
            self._row = 0
        return self._rows[self._row]

    def read(self) -> Counts:
        """Wait for the kernels and return the current row."""
        self._rows[self._row].get(out=self._host)
        return Counts(*self._host.tolist())


class SearchProgress:
    """Distances and predecessors of a running search, its stopping rule, and its trace."""

    def __init__(self, view: View, sources: Array, options: BfsOptions) -> None:
        vertex_type = view.out.column_indices.dtype
        self.sources = cupy.ascontiguousarray(sources, vertex_type)
        self.distance = cupy.full(view.n_vertices, -1, np.int32)
        self.distance[self.sources] = 0
        self.predecessor = cupy.full(view.n_vertices, -1, vertex_type) if options.predecessors else None
        self.recorder = CudaRecorder(view.out, options.trace)
        self._options = options

    def levels(self) -> Iterator[int]:
        """Yield 1, 2, ... up to the depth limit, or until no target is left to find."""
        self.recorder.start()
        return levels(self._options, self.distance)

    def result(self) -> Search:
        return Search(self.distance, self.predecessor, self.recorder.rows)


def levels(options: BfsOptions, distance: Array) -> Iterator[int]:
    """Yield the levels that a search may expand; `distance` is (n,) or (k, n), with the sources at 0."""
    level = 1
    while options.depth_limit is None or level <= options.depth_limit:
        if options.targets is not None:
            # CuPy comes with a compiled `min` of integers; each process compiles `any` of a comparison.
            reached = distance[..., options.targets]
            if not reached.size or int(reached.min()) >= 0:
                return
        yield level
        level += 1


class CudaRecorder:
    """Recorder of a trace: one row per level, timed by the host from the end of the level before."""

    def __init__(self, out: Adjacency, active: bool) -> None:
        self.rows: list[LevelTrace] = []
        self.active = active
        self._vertex_bytes = out.column_indices.dtype.itemsize
        self._offset_bytes = out.row_offsets.dtype.itemsize
        self._outside = active and lies_outside(out.column_indices)
        self._last = perf_counter()

    def start(self) -> None:
        """Restart the clock, so that the time up to now is not in the next row."""
        self._last = perf_counter()

    def push(self, level: int, frontier: int, edges: int, scanned: int = 0) -> None:
        """Record a level that read the frontier's rows, after `scanned` bytes of state to find them."""
        rows = frontier * (self._vertex_bytes + 2 * self._offset_bytes)
        self._add(level, "push", frontier, edges, scanned + rows + edges * self._edge_bytes)

    def edge(self, level: int, frontier: int, edges: int) -> None:
        """Record a level that read every edge with both its ends."""
        self._add(level, "push", frontier, edges, edges * (self._vertex_bytes + self._edge_bytes))

    def pull(self, level: int, frontier: int, edges: int, scanned: int, state_bytes: float = 4) -> None:
        """Record a level that read `edges` in-edges with `state_bytes` each, and `scanned` bytes."""
        self._add(level, "pull", frontier, edges, scanned + int(edges * (self._vertex_bytes + state_bytes)))

    @property
    def _edge_bytes(self) -> int:
        return self._vertex_bytes + _DISTANCE_BYTES

    def _add(self, level: int, direction: str, frontier: int, edges: int, n_bytes: int) -> None:
        if self.active:
            now = perf_counter()
            milliseconds = 1e3 * (now - self._last)
            host_bytes = self._vertex_bytes * edges if self._outside else 0
            row = LevelTrace(level, direction, frontier, edges, n_bytes, milliseconds, host_bytes)
            self.rows.append(row)
            self._last = now
