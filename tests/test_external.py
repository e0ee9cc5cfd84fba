"""Building in pieces that a GPU can hold, with NumPy in CuPy's place: the adjacency is the CPU engine's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cuda import external
from rapids_trav.errors import TravMemoryError
from rapids_trav.storage.budget import Budget
from rapids_trav.storage.pages import page_rows

ENGINE = CpuEngine()


class Outside:
    """Host memory, and a budget for what stands for the device's."""

    cut = staticmethod(page_rows)

    def __init__(self, limit):
        self.budget = Budget(limit)
        self.allocated = []

    def allocate(self, n, dtype, what):
        self.allocated.append(what)
        return np.full(n, 99, dtype)


def build(chunks, n, limit, reach, **how):
    outside = Outside(limit)
    found = external.build_adjacency(chunks, n, outside, np, ENGINE.count_ids, reach, **how)
    assert outside.budget.used == 0 and outside.budget.peak <= limit
    return found


def canonical(adjacency):
    """Rows with their weights in an order of their own: repeated edges may have theirs in any."""
    rows = np.repeat(np.arange(adjacency.n_vertices), np.diff(adjacency.row_offsets))
    weights = np.zeros(len(rows)) if adjacency.weights is None else adjacency.weights
    return sorted(zip(rows.tolist(), adjacency.column_indices.tolist(), weights.tolist(), strict=True))


@st.composite
def edge_chunks(draw):
    n = draw(st.integers(1, 30))
    sizes = draw(st.lists(st.integers(0, 40), max_size=4))
    ends = st.integers(0, n - 1)
    weighted = draw(st.booleans())
    chunks = []
    for size in sizes:
        u, v = (np.array(draw(st.lists(ends, min_size=size, max_size=size)), dtype=np.int32) for _ in "uv")
        w = np.arange(size, dtype=np.float32)
        chunks.append((u, v, w) if weighted else (u, v))
    return n, chunks


@settings(max_examples=150, deadline=None, derandomize=True)
@given(edge_chunks(), st.integers(0, 4000), st.sampled_from(["out", "in", "both"]), st.booleans(), st.data())
def test_pieces_make_the_same_adjacency(drawn, spare, direction, reached, data):
    n, chunks = drawn
    how = {"transpose": direction == "in", "symmetric": direction == "both"}
    wanted = ENGINE.build_adjacency(lambda: iter(chunks), n, **how)
    # The least that a build needs: two numbers a row, and an edge.
    limit = external.ROW_BYTES * n + 2 * external.ENTRY_BYTES + spare
    window = data.draw(st.sampled_from([external.WINDOW, 3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external, "WINDOW", window)
        found = build(lambda: iter(chunks), n, limit, (lambda a: a) if reached else (lambda a: None), **how)
    assert found.row_offsets.tolist() == wanted.row_offsets.tolist()
    assert found.row_offsets.dtype == wanted.row_offsets.dtype
    assert found.column_indices.tolist() == wanted.column_indices.tolist()
    assert found.column_indices.dtype == wanted.column_indices.dtype
    assert (found.weights is None) == (wanted.weights is None)
    assert canonical(found) == canonical(wanted)


def test_columns_of_64_bits(monkeypatch):
    """From 2^31 vertices on; a row is then sorted through an index."""
    columns = np.array([7, 2**40, 3, 2**40, 1], dtype=np.int64)
    weights = np.arange(5.0)
    external._sort_rows(np.array([0, 3, 3, 5]), columns, weights, Budget("1MB"), np)
    assert columns.tolist() == [3, 7, 2**40, 1, 2**40]
    assert weights.tolist() == [2, 0, 1, 4, 3]


def test_a_row_longer_than_the_device_is_sorted_on_the_host():
    columns = np.arange(50, dtype=np.int32)[::-1].copy()
    weights = np.arange(50.0)
    external._sort_rows(np.array([0, 50]), columns, weights, Budget(100), np)
    assert columns.tolist() == list(range(50)) and weights.tolist() == list(range(49, -1, -1))


def test_a_budget_below_the_rows():
    with pytest.raises(TravMemoryError, match=r"row counts of the build needs 1\.6 kB"):
        build(lambda: iter([]), 100, 1000, lambda a: a)


def test_what_is_allocated_on_the_host():
    outside = Outside("1MB")
    chunk = (np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32), np.array([5, 6]))
    external.build_adjacency(lambda: iter([chunk]), 3, outside, np, ENGINE.count_ids, lambda a: a)
    assert outside.allocated == ["row offsets", "column indices", "weights"]
