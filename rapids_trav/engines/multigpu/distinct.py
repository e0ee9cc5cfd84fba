"""Distinct numbers of a known range, and the position of each number among them.

If there are many numbers, a table of the range is faster than a sort: of one byte for each number of the
range on the CPU, and of one bit on the GPU (`kernels/lookup.cu`).
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rapids_trav.csr.array import Array

TABLE = 4  # bytes of the table, at most, for each number


def distinct(xp: ModuleType, numbers: Array, end: int | None = None) -> tuple[Array, Array]:
    """Return the distinct numbers in ascending order, and the position of each given number among them.

    Numbers below 0 are left out and have position -1.  With `end`, all numbers are from -1 to end - 1.
    """
    if not len(numbers):  # CuPy cannot scan an empty array
        return numbers, numbers
    bits = 8 if xp is np else 1
    if end is None or end * bits > 8 * TABLE * len(numbers):
        return _by_sort(xp, numbers)
    return by_table(numbers, end) if xp is np else _by_bitmap(numbers, end)


def _by_sort(xp: ModuleType, numbers: Array) -> tuple[Array, Array]:
    found, position = xp.unique(numbers, return_inverse=True)
    n_below = int((found < 0).sum())
    return found[n_below:], xp.maximum(position - n_below, -1)


def by_table(numbers: Array, end: int) -> tuple[Array, Array]:
    """Find distinct numbers by a table with an entry for each number of the range."""
    present = np.zeros(end + 1, bool)
    present[numbers] = True  # that of -1 is the last entry
    present[end] = False
    position = np.cumsum(present, dtype=numbers.dtype) - 1
    position[end] = -1
    return np.flatnonzero(present).astype(numbers.dtype, copy=False), position[numbers]


def _by_bitmap(numbers: Array, end: int) -> tuple[Array, Array]:
    import cupy

    from rapids_trav.engines.cuda.runtime import loader

    kernels = loader.load("lookup.cu", vertex_bits=8 * numbers.dtype.itemsize)
    n, n_words = len(numbers), -(-end // 32)
    bitmap = cupy.zeros(n_words, np.uint32)
    kernels.launch("mark_numbers", n, numbers, n, bitmap)
    counts = cupy.empty(n_words, numbers.dtype)
    kernels.launch("count_marked", n_words, bitmap, n_words, counts)
    scanned = cupy.cumsum(counts, dtype=numbers.dtype)
    found = cupy.empty(int(scanned[-1]), numbers.dtype)
    kernels.launch("list_marked", n_words, bitmap, n_words, scanned, found)
    position = cupy.empty_like(numbers)
    kernels.launch("find_marked", n, numbers, n, bitmap, scanned, position)
    return found, position
