"""Index of the rows of an edge list by vertex: a few vertices' rows are found without reading all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array, offset_dtype
from rapids_trav.engines.interface import Engine

BUILD_BYTES = 64  # per row, at most, while the index is built on a GPU
WORTHWHILE = 2  # the index is faster if it reads at most 1 / WORTHWHILE of the rows


class RowIndex:
    """Numbers of the rows, by the internal id of their source.

    Parameters
    ----------
    engine : Engine
        Builds the index, in its memory.
    n_vertices : int
    u, v : integer array, (n_rows,)
        Internal ids of both ends of each row.
    """

    def __init__(self, engine: Engine, n_vertices: int, u: Array, v: Array) -> None:
        numbers = engine.xp.arange(len(u), dtype=offset_dtype(len(u)))
        # The numbers travel as the weights of the edges.
        built = engine.build_adjacency(partial(iter, [(u, v, numbers)]), n_vertices)
        assert built.weights is not None
        self._xp = engine.xp
        self._own = engine.answers
        self._rows = replace(built, weights=None)
        self._offsets, self._destinations = built.row_offsets, built.column_indices
        self._numbers = built.weights

    @property
    def nbytes(self) -> int:
        return self._offsets.nbytes + self._destinations.nbytes + self._numbers.nbytes

    def inside(self, distance: Array, vertices: Array | None = None) -> Array | None:
        """Return the numbers of the rows with both ends chosen, ascending; None if reading all is faster.

        Parameters
        ----------
        distance : int32 array, (n_vertices,)
            0 or more at the chosen vertices, else -1.
        vertices : array, optional
            The chosen vertices, if they are known.
        """
        xp = self._xp
        sources = xp.flatnonzero(distance >= 0) if vertices is None else vertices
        if self._own is not None:
            most = len(self._numbers) // WORTHWHILE
            return self._own.rows_inside(self._rows, self._numbers, distance, sources, most)
        begins = self._offsets[sources].astype(np.int64)
        degrees = self._offsets[sources + 1] - begins
        n_read = int(degrees.sum())
        if n_read * WORTHWHILE > len(self._numbers):
            return None
        entries = _ranges(begins, degrees, n_read, xp)
        rows: Array = self._numbers[entries[distance[self._destinations[entries]] >= 0]]
        rows.sort()
        return rows


def fits(engine: Engine, n_rows: int) -> bool:
    """Return whether building an index uses at most half of the engine's free memory."""
    return 2 * BUILD_BYTES * n_rows <= engine.free_bytes()


def _ranges(begins: Array, lengths: Array, total: int, xp: ModuleType) -> Array:
    """Return the integers of ranges, one range after another."""
    begins, lengths = begins[lengths > 0], lengths[lengths > 0]
    steps = xp.ones(total, np.int64)
    if total:
        steps[0] = begins[0]
        steps[xp.cumsum(lengths)[:-1]] = begins[1:] - (begins[:-1] + lengths[:-1] - 1)
    return xp.cumsum(steps)
