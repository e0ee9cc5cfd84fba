"""Transposed and symmetrised adjacencies equal those that a build from the same edges makes."""

from __future__ import annotations

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu import CpuEngine, turn
from rapids_trav.jit.launches import count_launches

ENGINE = CpuEngine()


def assert_equal(found: Adjacency, wanted: Adjacency) -> None:
    np.testing.assert_array_equal(found.row_offsets, wanted.row_offsets)
    np.testing.assert_array_equal(found.column_indices, wanted.column_indices)
    assert found.column_indices.dtype == wanted.column_indices.dtype
    assert found.row_offsets.dtype == np.int32 and found.weights is None


def check(u, v, n) -> None:
    def built(**how):
        return ENGINE.build_adjacency(lambda: iter([(u, v)]), n, **how)

    out, into, both = built(), built(transpose=True), built(symmetric=True)
    assert_equal(ENGINE.transposed(out), into)
    assert_equal(ENGINE.transposed(into), out)
    assert_equal(ENGINE.symmetrized(out), both)
    assert_equal(ENGINE.symmetrized(out, into), both)


@settings(max_examples=60)
@given(st.data())
def test_small_graphs(data):
    n = data.draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=60))
    u, v = np.array(edges, np.int64).reshape(-1, 2).T
    check(u, v, n)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("n", "m"), [(4, 0), (1, 9), (1500, 3000), (5000, 40_000), (300_000, 200_000)])
def test_many_buckets_hubs_and_self_loops(n, m, threads, monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    monkeypatch.setattr(turn, "SHARED", 1000)  # so that threads share the work
    random = np.random.default_rng(n + m)
    u, v = random.integers(0, n, (2, m))
    u[: m // 5] = n // 2
    v[m // 5 : m // 4] = n - 1
    v[m // 3 : m // 2] = u[m // 3 : m // 2]
    check(u, v, n)


def test_wide_ids():
    """Ids have 64 bits, as in graphs of 2^31 and more vertices."""
    out = Adjacency(np.array([0, 3, 4, 4, 6]), np.array([0, 0, 3, 1, 0, 3], np.int64))
    into = ENGINE.transposed(out)
    assert into.column_indices.dtype == np.int64
    assert into.row_offsets.tolist() == [0, 3, 4, 4, 6]
    assert into.column_indices.tolist() == [0, 0, 3, 1, 0, 3]
    both = ENGINE.symmetrized(out, into)
    assert both.row_offsets.tolist() == [0, 4, 5, 5, 8]
    assert both.column_indices.tolist() == [0, 0, 3, 3, 1, 0, 0, 3]


def test_views_are_turned_by_the_transpose_that_is_there():
    edges = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    graph = edges.trav.graph(directed=True)
    with count_launches() as counts:
        assert graph.bfs(3, direction="in")["distance"].tolist() == [3, 2, 1, 0]
    assert counts["_scatter"] == counts["_sort_buckets"] == 1  # for the transpose
    with count_launches() as counts:
        assert graph.bfs(3, direction="both")["distance"].tolist() == [2, 2, 1, 0]
    assert counts["_merge"] == 1 and counts["_scatter"] == 0
    assert {"CSR", "CSC", "CSR, symmetrised"} <= set(graph.memory()["structure"])
    graph = edges.trav.graph(directed=True)
    graph.bfs(3, direction="both")
    assert "CSC" not in set(graph.memory()["structure"])  # the transpose served only the merge
