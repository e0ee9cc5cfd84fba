"""Lookup of values of vertices that other ranks own, many at once, with one request and one reply.

Each is asked for once.  Among many numbers of a known range, a table of the range finds the distinct ones
faster than a sort: of one byte for each number of the range on the CPU, and of one bit on the GPU
(`kernels/lookup.cu`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import search_offsets
from rapids_trav.csr.array import Array
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.grid import Grid

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


def ask(
    communicator: Communicator, grid: Grid, xp: ModuleType, vertices: Array, columns: Sequence[Array]
) -> list[Array]:
    """Fetch values of vertices, by global id, from their owners; every rank calls it.

    `columns` are int64 values of the vertices that this rank owns, by offset; returns those of `vertices` for
    each column.  A vertex is asked for once, however often it occurs.
    """
    wanted, places = distinct(xp, vertices.astype(np.int64, copy=False))
    asked = communicator.exchange(communicator.everyone, _by_owner(grid, xp, wanted))
    answers = [xp.concatenate([column[offsets] for column in columns]) for offsets in asked]
    received = communicator.exchange(communicator.everyone, answers)
    halves = [answer.reshape(len(columns), -1) for answer in received]
    return [xp.concatenate([half[k] for half in halves])[places] for k in range(len(columns))]


def send_to_owners(communicator: Communicator, grid: Grid, xp: ModuleType, vertices: Array) -> Array:
    """Send vertices to their owners; return the offsets of the vertices that this rank receives."""
    wanted, _ = distinct(xp, vertices.astype(np.int64, copy=False))
    return xp.concatenate(communicator.exchange(communicator.everyone, _by_owner(grid, xp, wanted)))


def offsets_in_ranges(xp: ModuleType, ascending: Array, bounds: np.ndarray) -> list[Array]:
    """Cut ascending numbers into ranges and subtract the first number of each; drop numbers outside.

    Range r goes from `bounds[r]` up to but not including `bounds[r + 1]`.  `bounds` is on the host.
    """
    cuts = search_offsets(ascending, bounds, xp=xp).tolist()
    firsts = bounds[:-1].tolist()
    return [ascending[begin:end] - first for first, (begin, end) in zip(firsts, pairwise(cuts), strict=True)]


def _by_owner(grid: Grid, xp: ModuleType, ascending: Array) -> list[Array]:
    """Cut ascending vertices into the offsets of each owner."""
    return [of.astype(np.int32) for of in offsets_in_ranges(xp, ascending, grid.firsts)]
