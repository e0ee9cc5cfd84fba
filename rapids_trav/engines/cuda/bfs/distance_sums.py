"""Sums over the distances of many searches, of which 64 at a time are in memory."""

from __future__ import annotations

from collections.abc import Callable

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.searches import BfsOptions, DistanceSums, Search, SumsOf, View

AT_ONCE = 64


def distance_sums(
    search_each: Callable[[View, Array, BfsOptions], Search], view: View, sources: Array, of: SumsOf
) -> DistanceSums:
    """Search from each of the distinct `sources`, and sum the distances at each vertex or for each source."""
    axis = 0 if of == "vertices" else 1
    parts: list[DistanceSums] = []
    for first in range(0, len(sources), AT_ONCE):
        found = search_each(view, sources[first : first + AT_ONCE], BfsOptions(predecessors=False)).distance
        sums = DistanceSums(
            (found > 0).sum(axis=axis, dtype=np.int64),
            cupy.maximum(found, 0).sum(axis=axis, dtype=np.int64),
            cupy.where(found > 0, 1.0 / cupy.maximum(found, 1), 0.0).sum(axis=axis),
            cupy.maximum(cupy.max(found, axis=axis), 0).astype(np.int32, copy=False),
        )
        parts = [parts[0].added([sums], cupy)] if parts and of == "vertices" else [*parts, sums]
    if parts:
        return parts[0].joined(parts[1:], cupy)
    return DistanceSums.none(view.n_vertices if of == "vertices" else 0, cupy)
