"""Weighted adjacencies: weights stay with their edges when the build sorts them."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.csr.adjacency import strengths
from rapids_trav.engines.cpu.build import build_adjacency

DTYPES = ("float64", "float32", "int64", "int32")


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 0), (3, 0), (1, 5), (50, 400), (5000, 20000), (300_000, 100_000)])
def test_every_edge_keeps_its_weight(n, m, symmetric, transpose):
    """Repeated edges keep all weights; undirected edges have theirs in both directions, self-loops once."""
    rng = np.random.default_rng(n + m)
    u, v = rng.integers(0, n, (2, m))
    w = rng.integers(0, 1000, m).astype(DTYPES[(n + symmetric) % 4])
    half = m // 2
    chunks = [(u[:half], v[:half], w[:half]), (u[m:], v[m:], w[m:]), (u[half:], v[half:], w[half:])]
    options = {"symmetric": symmetric, "transpose": transpose}
    built = build_adjacency(lambda: iter(chunks), n, **options)
    plain = build_adjacency(lambda: iter([(u, v)]), n, **options)
    np.testing.assert_array_equal(built.row_offsets, plain.row_offsets)
    np.testing.assert_array_equal(built.column_indices, plain.column_indices)
    assert plain.weights is None and built.weights.dtype == w.dtype

    row, column = (v, u) if transpose else (u, v)
    if symmetric:
        other = row != column
        row, column = np.r_[row, column[other]], np.r_[column, row[other]]
        w = np.r_[w, w[other]]
    wanted = np.lexsort((w, column, row))
    rows = np.repeat(np.arange(n), np.diff(built.row_offsets))
    found = np.lexsort((built.weights, built.column_indices, rows))
    np.testing.assert_array_equal(built.weights[found], w[wanted])


@pytest.mark.parametrize("block", [1, 3, 100])
def test_strengths(block):
    columns, weights = np.array([0, 2, 2, 0, 2], "int32"), np.array([1, 2, 3, 4, 5], "float32")
    assert strengths(columns, weights, 4, np, block).tolist() == [5.0, 0.0, 10.0, 0.0]
    assert strengths(columns[:0], weights[:0], 2, np, block).tolist() == [0.0, 0.0]
