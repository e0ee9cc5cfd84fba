"""The trace of a fused search, read from the rows that the kernel wrote."""

from __future__ import annotations

import cupy

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.interface import LevelTrace
from rapids_trav.errors import TravError
from rapids_trav.memory.model.search import TRACE_LEVELS

PUSHED, PULLED, PUSHED_ALONE = range(3)  # the step that made a level


def levels_of(trace: cupy.ndarray, out: Adjacency) -> tuple[list[LevelTrace], dict[str, int]]:
    """Return the rows of a trace, and the sums of its counters."""
    n_levels = int(trace[0, 1])
    if n_levels >= TRACE_LEVELS:
        raise TravError(
            f"The search has {n_levels} levels, but a trace holds {TRACE_LEVELS - 1}: use trace=False."
        )
    rows = trace[: n_levels + 1].get()
    vertex, edge = out.column_indices.dtype.itemsize, out.row_offsets.dtype.itemsize
    bitmaps = 3 * out.n_vertices // 8
    found = []
    for level in range(1, n_levels + 1):
        step, frontier, _, _, edges, from_host, end = (int(value) for value in rows[level])
        pull = step == PULLED
        moved = edges * (vertex + 4) + (bitmaps if pull else frontier * (vertex + 2 * edge))
        milliseconds = (end - int(rows[level - 1][-1])) / 1e6
        direction = "pull" if pull else "push"
        host_bytes = from_host * vertex
        found.append(LevelTrace(level, direction, frontier, edges, moved, milliseconds, host_bytes))
    steps, _, hub_hits, looked, *_ = rows[1:].T
    n_alone = (steps == PUSHED_ALONE).sum()
    counters = {"hub_hits": hub_hits.sum(), "looked": looked.sum(), "levels_alone": n_alone}
    return found, {name: int(count) for name, count in counters.items()}
