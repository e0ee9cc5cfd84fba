"""Distances of single pairs, by searches from the first vertex of each, 64 at a time."""

from __future__ import annotations

from collections.abc import Callable

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.searches import BfsOptions, PairDistances, Search, View

AT_ONCE = 64


def pair_distances(
    search_each: Callable[[View, Array, BfsOptions], Search], view: View, starts: Array, ends: Array
) -> PairDistances:
    """Return the distance from each of `starts` to the vertex at the same position in `ends`."""
    distance = cupy.full(len(starts), -1, np.int32)
    sources, source = cupy.unique(starts, return_inverse=True)
    for first in range(0, len(sources), AT_ONCE):
        chosen = sources[first : first + AT_ONCE]
        found = search_each(view, chosen, BfsOptions(predecessors=False)).distance
        own = cupy.flatnonzero((source >= first) & (source < first + len(chosen)))
        distance[own] = found[source[own] - first, ends[own]]
    return PairDistances(distance)
