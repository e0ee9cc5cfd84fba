"""Arguments of the fused search's kernel that describe a view: its rows, and the targets in it."""

from __future__ import annotations

from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime.loader import load
from rapids_trav.engines.interface import LevelTrace
from rapids_trav.errors import TravError
from rapids_trav.memory.model.search import TRACE_LEVELS

MOST_EDGES = {4: 2**31 - 1, 8: 2**63 - 1}  # keyed by bytes of an offset


def rows_of(side: str, adjacency: Adjacency) -> dict[str, Array | int | None]:
    """Return the kernel's arguments for an adjacency, part of which may be resident (see `Adjacency`)."""
    offsets = adjacency.row_offsets
    # The kernel compares in the type of the offsets: in 32 bits, 2^63 - 1 would be -1.
    head, begin, resident = adjacency.resident or (0, MOST_EDGES[offsets.itemsize], None)
    return {
        f"{side}_offsets": offsets,
        f"{side}_indices": adjacency.column_indices,
        f"{side}_resident": resident,
        f"{side}_resident_head": int(head),
        f"{side}_resident_begin": int(begin),
    }


class Targets(NamedTuple):
    """The targets of a search: a bit for each vertex, None if there are no targets, and their number."""

    bitmap: Array | None
    n: int


def bitmap_of(vertices: Array | None, n_vertices: int) -> Targets:
    """Return a bit for each vertex, set for the distinct ones given, and their number."""
    if vertices is None:
        return Targets(None, 0)
    bitmap = cupy.zeros(-(-n_vertices // 32), np.uint32)
    kernels = load("lookup.cu", vertex_bits=8 * vertices.dtype.itemsize)
    kernels.launch("mark_numbers", len(vertices), vertices, len(vertices), bitmap)
    return Targets(bitmap, len(vertices))


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
