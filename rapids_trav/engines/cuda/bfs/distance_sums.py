"""Sums over the distances of many searches, up to 256 of which run together; see `kernels/distance_sums.cu`.

The searches run as in `batch`; instead of storing distances, each level adds up the distances it has found.
"""

from __future__ import annotations

from itertools import count

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.batch import WORD, WORDS, Batch, Level, parts, run
from rapids_trav.engines.cuda.bfs.levels import CudaRecorder
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import SettleArguments
from rapids_trav.engines.searches import DistanceSums, SumsOf, View
from rapids_trav.utilities.progress import report


def distance_sums(view: View, sources: Array, of: SumsOf, together: int) -> DistanceSums:
    """Search from each of the distinct `sources`, and sum the distances at each vertex or for each source."""
    steps, ends = (loader.load_for(file, view.out) for file in ("bfs_batch.cu", "distance_sums.cu"))
    sources = cupy.ascontiguousarray(sources, view.out.column_indices.dtype)
    sums = DistanceSums.none(view.n_vertices if of == "vertices" else len(sources), cupy)
    for part in parts(len(sources), together):
        if of == "vertices":
            added: _OfVertices | _OfSources = _OfVertices(ends, sums)
        else:
            added = _OfSources(ends, DistanceSums(*(array[part] for array in sums.arrays)))
        run(Batch(steps, view, sources[part], added), count(1), CudaRecorder(view.out, active=False))
        report(part.stop, len(sources), "sources")
    return sums


class _OfVertices:
    """Sums at each vertex, over the searches."""

    def __init__(self, kernels: loader.Kernels, sums: DistanceSums) -> None:
        self._kernels = kernels
        self._sums = sums

    def settle(self, level: Level) -> None:
        sums = self._sums
        arguments = SettleArguments(
            **level.arguments,
            reached=sums.reached,
            total=sums.total,
            inverse=sums.inverse,
            largest=sums.largest,
            counters=level.counters,
        )
        self._kernels.launch("settle_vertices", level.n_vertices, arguments)


class _OfSources:
    """Sums of each search, over the vertices."""

    def __init__(self, kernels: loader.Kernels, sums: DistanceSums) -> None:
        self._kernels = kernels
        self._sums = sums
        self._found = cupy.zeros(WORD * WORDS, np.uint64)  # by each search, on the level that ends

    def settle(self, level: Level) -> None:
        n_sources = len(self._sums.reached)
        self._kernels.launch(
            "settle_sources", level.n_vertices, *level.arguments.values(), self._found, level.counters
        )
        self._kernels.launch(
            "add_level_of_sources", n_sources, n_sources, level.number, self._found, *self._sums.arrays
        )
