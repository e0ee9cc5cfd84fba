"""The counts of an iteration of a vertex program: a row of counters on the device, read once by the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array


class Tally(NamedTuple):
    """The counters that `kernels/gas_*.cu` fill, and two sums in float64."""

    active: int
    scout: int
    edges: int
    light: int
    heavy: int
    residual: float
    total: float


# Words of a row: the counters of kernels/level.cuh, then the sums of kernels/gas_vertex.cuh.
_FOUND, FRONTIER, _EDGES, _SCOUT, _LIGHT, _HEAVY, _RESIDUAL, _TOTAL = 0, 1, 2, 3, 4, 5, 7, 8
_COUNTS, _SUMS = (_FOUND, _SCOUT, _EDGES, _LIGHT, _HEAVY), (_RESIDUAL, _TOTAL)
WORDS = 9


class Tallies:
    """Supply of zeroed rows, allocated `n_rows` at a time; each lives as long as it is referenced."""

    def __init__(self, n_rows: int) -> None:
        self._host = cupyx.empty_pinned((n_rows, WORDS), np.uint64)
        self._rows: cupy.ndarray = None
        self._n_rows = self._used = n_rows

    def fresh(self) -> Array:
        return self.fresh_rows(1)[0]

    def fresh_rows(self, n: int) -> Array:
        """Return `n` rows, at most as many as are allocated at a time, in one array."""
        if self._used + n > self._n_rows:
            self._rows = cupy.zeros((self._n_rows, WORDS), np.uint64)
            self._used = 0
        self._used += n
        return self._rows[self._used - n : self._used]

    def read(self, row: cupy.ndarray) -> Tally:
        """Wait for the kernels and return a row's numbers."""
        return next(self.read_all(row[None]))

    def read_all(self, rows: cupy.ndarray) -> Iterator[Tally]:
        """Wait for the kernels; return the numbers of each row, one after another."""
        host = self._host[: len(rows)]
        rows.get(out=host)
        counts, sums = host.tolist(), host.view(np.float64).tolist()
        return (
            Tally(*(words[i] for i in _COUNTS), *(floats[i] for i in _SUMS))
            for words, floats in zip(counts, sums, strict=True)
        )


def write_total(row: Array, total: float) -> None:
    """Set a row's sum of the program's `total`."""
    row[_TOTAL : _TOTAL + 1].view(np.float64).fill(total)
