"""The plain searches, with one launch per level (variants push, pull, edge, frontier, private).

W. Hwu, D. Kirk, I. El Hajj, "Programming Massively Parallel Processors", 4th edition, chapter 15.

Each level has three steps:

1. launch over all vertices, all edges or the frontier;
2. read the counters;
3. stop if nothing was found.

The faster searches must agree with these, which run only when asked for by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.levels import Counters, Counts, SearchProgress
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.loader import Kernels
from rapids_trav.engines.interface import BfsOptions, Search, View

QUEUE_COUNTERS = ("kept", "overflowed", "reserved")  # in the order of `QueueCounter` in bfs_frontier.cu


def push(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search with a thread for each vertex, over out-edges; no atomic operations."""
    rows, n = view.out, view.n_vertices
    kernels, search = loader.load_for("bfs_push.cu", rows), _Search(view, sources, options)
    for level in search.levels():
        counts = search.launch(kernels, "bfs_push", n, rows.row_offsets, rows.column_indices, n)
        search.recorder.push(level, counts.frontier, counts.edges, scanned=search.distance.nbytes)
    return search.result()


def pull(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search with a thread for each unreached vertex, over in-edges up to the first parent."""
    rows, n = view.into, view.into.n_linked
    kernels, search = loader.load_for("bfs_pull.cu", rows), _Search(view, sources, options)
    frontier = len(search.sources)
    for level in search.levels():
        counts = search.launch(kernels, "bfs_pull", n, rows.row_offsets, rows.column_indices, n)
        search.recorder.pull(level, frontier, counts.edges, scanned=search.distance.nbytes)
        frontier = counts.found
    return search.result()


def edge(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search with a thread for each edge; every level examines all edges."""
    edges = view.coo
    n = len(edges.src)
    kernels = loader.load("bfs_edge.cu", vertex_bits=8 * edges.src.dtype.itemsize)
    search = _Search(view, sources, options)
    for level in search.levels():
        search.launch(kernels, "bfs_edge", n, edges.src, edges.dst, n)
        if options.trace:
            search.recorder.edge(level, int(cupy.count_nonzero(search.distance == level - 1)), n)
    return search.result()


class _Search(SearchProgress):
    """A search with one launch for each level, which ends with the first that finds nothing."""

    def __init__(self, view: View, sources: Array, options: BfsOptions) -> None:
        super().__init__(view, sources, options)
        self._counters, self._level, self._found = Counters(), 0, 1

    def levels(self) -> Iterator[int]:
        for self._level in super().levels():
            yield self._level
            if not self._found:
                break

    def launch(self, kernels: Kernels, name: str, n_threads: int, *edges: Array | int) -> Counts:
        """Launch a level over the edges; return what it counted."""
        state = (np.int32(self._level), self.distance, self.predecessor, self._counters.fresh())
        kernels.launch(name, n_threads, *edges, *state)
        counts = self._counters.read()
        self._found = counts.found
        return counts


def frontier(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search with a thread for each vertex of a queue; the thread that claims a new vertex appends it."""
    return _queue(view, sources, options, "bfs_frontier")


def private(view: View, sources: Array, options: BfsOptions, capacity: int) -> Search:
    """Search as `frontier` does, with `capacity` vertices of each block's queue in shared memory.

    With a trace, the uses of the blocks' queues are counted (see `Search.counters`).
    """
    counts = cupy.zeros(len(QUEUE_COUNTERS), np.uint64) if options.trace else None
    tunables = {"PRIVATE_CAPACITY": capacity, "COUNTS": int(options.trace)}
    found = _queue(view, sources, options, "bfs_private", counts, **tunables)
    if counts is None:
        return found
    return replace(found, counters=dict(zip(QUEUE_COUNTERS, counts.tolist(), strict=True)))


def _queue(
    view: View, sources: Array, options: BfsOptions, kernel: str, *more: Array | None, **tunables: int
) -> Search:
    """Search level by level with a kernel over the queue, which takes `more` after its counters."""
    adjacency = view.out
    kernels = loader.load_for("bfs_frontier.cu", adjacency, **tunables)
    rows = (adjacency.row_offsets, adjacency.column_indices)
    progress, counters = SearchProgress(view, sources, options), Counters()
    queue, following = cupy.empty((2, view.n_vertices), progress.sources.dtype)
    size = len(progress.sources)
    queue[:size] = progress.sources
    for level in progress.levels():
        if not size:
            break
        found = (np.int32(level), progress.distance, progress.predecessor, following)
        kernels.launch(kernel, size, *rows, queue, size, *found, counters.fresh(), *more)
        counts = counters.read()
        progress.recorder.push(level, size, counts.edges)
        size = counts.found
        queue, following = following, queue
    return progress.result()
