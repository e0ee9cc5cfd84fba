"""Rows of all kinds whose columns are packed."""

from __future__ import annotations

import numpy as np

LARGE = 1 << 40


def rows_of(degrees, n_vertices, dtype=np.int32, seed=1, sort=True):
    """Return offsets and columns of rows with the given numbers of random neighbours, ascending if `sort`."""
    rng = np.random.default_rng(seed)
    degrees = np.asarray(degrees, np.int64)
    offsets = np.append(0, degrees.cumsum())
    columns = rng.integers(0, n_vertices, offsets[-1], dtype=dtype)
    if sort:
        rows = np.repeat(np.arange(len(degrees)), degrees)
        columns = columns[np.lexsort((columns, rows))]
    return offsets, columns


def _degree_sorted():
    rng = np.random.default_rng(2)
    offsets, columns = rows_of(np.sort(rng.zipf(1.7, 900).clip(max=3000))[::-1], 900)
    return offsets, np.minimum(columns, np.roll(columns, 7))


ROWS = {
    "none": (np.zeros(5, np.int64), np.empty(0, np.int32)),
    "one edge": rows_of([0, 1, 0], 3),
    "one row": rows_of([5000], 10**9),
    "a group": rows_of([32], 100),
    "a block": rows_of([1024], 10**6),
    "a block and an edge": rows_of([512, 512, 1], 1000),
    "empty rows between": rows_of([0, 0, 40, 0, 0, 0, 3, 0] * 200, 500),
    "equal columns": rows_of([3, 70, 1500], 1),  # repeated edges and self-loops
    "degree-sorted": (_degree_sorted()[0], _degree_sorted()[1]),
    "not ascending": rows_of([100, 2000, 31], 2**31 - 1, sort=False),
    "the whole range": (np.array([0, 40, 2000]), np.resize(np.array([0, 2**31 - 1], np.int32), 2000)),
    "64 bits": rows_of([10, 0, 2000, 33], 10**6, np.int64),
    "64 bits, far apart": rows_of([10, 0, 2000, 33], LARGE, np.int64),
    "64 bits, not ascending": rows_of([900, 400], 2**63 - 1, np.int64, sort=False),
}
