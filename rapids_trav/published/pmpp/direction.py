"""Direction-optimising search with one or two launches for each step (variant direction).

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.

Each level has three steps:

1. the policy chooses push or pull from the counts of the level before;
2. the frontier is converted to the form that this direction reads, a queue or a bitmap;
3. the step runs, and produces the next frontier in the same form.

The fused search chooses on the device; this one is easier to follow and to trace.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.levels import Counters, Counts, SearchProgress
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.interface import BfsOptions, Search, View
from rapids_trav.published.pmpp.policy import make_policy

_WORD = 32


def search(view: View, sources: Array, options: BfsOptions, bitmaps: bool = True) -> Search:
    """Search from `sources` jointly, in the directions that `options.policy` chooses.

    Without `bitmaps`, a bottom-up step looks up neighbours' distances instead of their bits.
    """
    policy = make_policy(options.policy, view.n_vertices, view.out.n_edges)
    progress = SearchProgress(view, sources, options)
    steps = _Steps(view, progress, bitmaps)
    frontier, scout = steps.begin()
    for level in progress.levels():
        if not frontier:
            break
        if policy.choose(frontier, scout) == "push":
            counts = steps.push(level)
            progress.recorder.push(level, frontier, counts.edges)
            frontier = counts.light + counts.heavy
        else:
            counts = steps.pull(level)
            progress.recorder.pull(
                level, frontier, counts.edges, scanned=progress.distance.nbytes, state_bytes=1 / 8
            )
            frontier = counts.found
        scout = counts.scout
    return progress.result()


class _Steps:
    """The frontier, as a queue of light and heavy rows or as a bitmap, and the two steps that advance it."""

    def __init__(self, view: View, progress: SearchProgress, bitmaps: bool) -> None:
        self._view = view
        self._progress = progress
        self._n = view.n_vertices
        self._kernels = loader.load_for("bfs_direction.cu", view.out, BITMAPS=int(bitmaps))
        self._counters = Counters()
        self._queue, self._next_queue = cupy.empty((2, self._n), progress.sources.dtype)
        self._bitmap: cupy.ndarray = None
        self._next_bitmap: cupy.ndarray = None
        self._in_bitmap = False
        self._light = self._heavy = 0

    def begin(self) -> tuple[int, int]:
        """Queue the sources; return their number and the sum of their out-degrees."""
        sources = self._progress.sources
        counts = self._fill_queue("enqueue", len(sources), sources, len(sources))
        return len(sources), counts.scout

    def push(self, level: int) -> Counts:
        if self._in_bitmap:
            self._fill_queue("bitmap_to_queue", len(self._bitmap), self._bitmap)
        row = self._counters.fresh()
        if self._light:
            self._expand("push_light", loader.grid_of(self._light), self._light, level, row)
        if self._heavy:
            self._expand("push_heavy", loader.column_blocks(self._heavy), self._heavy, level, row)
        self._queue, self._next_queue = self._next_queue, self._queue
        return self._keep(self._counters.read())

    def pull(self, level: int) -> Counts:
        if not self._in_bitmap:
            self._fill_bitmap()
        into, progress = self._view.into, self._progress
        rows = (into.row_offsets, into.column_indices, self._n, into.n_linked)
        found = (np.int32(level), progress.distance, progress.predecessor, self._next_bitmap)
        counted = (self._view.out.row_offsets, self._counters.fresh())
        self._kernels.launch("pull_step", self._n, *rows, self._bitmap, *found, *counted)
        self._bitmap, self._next_bitmap = self._next_bitmap, self._bitmap
        return self._counters.read()

    def _expand(self, kernel: str, grid: tuple[int, ...], size: int, level: int, counters: Array) -> None:
        out, progress = self._view.out, self._progress
        rows = (out.row_offsets, out.column_indices, self._n)
        found = (np.int32(level), progress.distance, progress.predecessor, self._next_queue)
        self._kernels.launch_grid(kernel, grid, *rows, self._queue, size, *found, counters)

    def _fill_queue(self, kernel: str, n_threads: int, *members: Array | int) -> Counts:
        offsets = self._view.out.row_offsets
        self._kernels.launch(
            kernel, n_threads, offsets, self._n, *members, self._queue, self._counters.fresh()
        )
        self._in_bitmap = False
        return self._keep(self._counters.read())

    def _fill_bitmap(self) -> None:
        n_words = -(-self._n // _WORD)
        if self._bitmap is None:
            self._bitmap, self._next_bitmap = cupy.empty((2, n_words), np.uint32)
        self._bitmap.fill(0)
        members = self._light + self._heavy
        self._kernels.launch(
            "queue_to_bitmap", members, self._queue, self._n, self._light, self._heavy, self._bitmap
        )
        self._in_bitmap = True

    def _keep(self, counts: Counts) -> Counts:
        self._light, self._heavy = counts.light, counts.heavy
        return counts
