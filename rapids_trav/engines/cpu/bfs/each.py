"""Independent searches, one from each source: separately on different threads, or together in one pass.

A separate search examines few edges, because it turns to pull, and its state stays in a core's cache.
Separate searches that run at the same time do not wait for each other at levels.  Searches that run together
share the visits to edges and the cost of starting.  That is faster for many searches on a dense graph whose
words stay in the cache, and on graphs so small that starting is most of a search.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.bfs import direction_optimizing, multi_source
from rapids_trav.engines.interface import BfsOptions, LevelTrace, Search, View
from rapids_trav.jit.kernels import Threads

# Measured on two cores with 2 MB of cache each, for 2 to 128 sources, on social and citation networks of
# 4,000 to 81,000 vertices, R-MAT of scale 14 and 18, a random graph, grids, paths and a star.
FEW_VERTICES = 1 << 17  # up to here a word for each vertex stays in a core's cache
MANY_SOURCES = 64  # enough to fill words; worth running together on twice as many vertices
FEWEST_VERTICES = 1 << 14  # up to here starting is most of a search
NEIGHBORS = 8  # average degree from which searches meet after few levels


def search(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search from each of `sources`; return rows of distances and predecessors, and the traces in order."""
    if together(view.out, len(sources)):
        return multi_source.search(view, sources, options)
    return separately(view, sources, options)


def together(adjacency: Adjacency, n_sources: int) -> bool:
    """Return whether searches are faster if they share visits to edges."""
    n, n_entries = adjacency.n_vertices, adjacency.n_edges
    most = 2 * FEW_VERTICES if n_sources >= MANY_SOURCES else FEW_VERTICES
    meeting = n <= FEWEST_VERTICES or (n <= most and n_entries >= NEIGHBORS * n)
    return n_sources != 1 and meeting


def separately(view: View, sources: Array, options: BfsOptions) -> Search:
    """Run as many searches at a time as there are threads; the last searches share the threads evenly."""
    k = len(sources)
    if k == 1:
        found = direction_optimizing.search(view, sources, options)
        predecessor = None if found.predecessor is None else found.predecessor[None]
        return Search(found.distance[None], predecessor, found.trace, counters=found.counters)
    shape, dtype = (k, view.n_vertices), view.out.column_indices.dtype
    distance = np.empty(shape, np.int32)
    predecessor = np.empty(shape, dtype) if options.predecessors else None
    traces: list[list[LevelTrace]] = [[] for _ in range(k)]

    def search_alone(first: int, n_threads: int, begin: int, end: int) -> None:
        with Threads.limited(n_threads):
            for i in range(first + begin, first + end):
                found = direction_optimizing.search(view, sources[i : i + 1], options)
                distance[i] = found.distance
                if predecessor is not None:
                    predecessor[i] = found.predecessor
                traces[i] = found.trace

    with Threads() as team:
        shared = k % team.size  # searches left when every thread has run equally many
        if k > shared:
            team.run(search_alone, k - shared, 0, 1, grain=1)
        if shared:
            team.run(search_alone, shared, k - shared, team.size // shared, grain=1)
    return Search(distance, predecessor, [row for trace in traces for row in trace])
