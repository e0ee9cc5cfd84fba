"""Builds in pieces that fit on a GPU, with NumPy in CuPy's place: the adjacency equals the CPU engine's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.pages import page_rows
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cuda.build import places, spilled
from rapids_trav.errors import TravError, TravMemoryError
from rapids_trav.memory.budget import Budget

ENGINE = CpuEngine()
RANGES = [0, 1, 8]  # most ranges before entries are written straight to the host


class Outside:
    """Host memory, with a budget that stands for the device's memory."""

    cut = staticmethod(page_rows)

    def __init__(self, limit):
        self.budget = Budget(limit)
        self.allocated = []

    def allocate(self, n, dtype, what):
        self.allocated.append(what)
        return np.full(n, 99, dtype)


def device(reach=lambda array: array):
    return spilled.Device(np, ENGINE.count_ids, places.place_plainly, reach)


def build(chunks, n, limit, reach=lambda array: array, **how):
    outside = Outside(limit)
    try:
        return spilled.build_adjacency(chunks, n, outside, device(reach), **how)
    finally:
        assert outside.budget.used == 0 and outside.budget.peak <= outside.budget.limit


def least(n):
    """Return the bytes that a build needs: two numbers per row, and one edge."""
    return spilled.ROW_BYTES * n + 2 * spilled.ENTRY_BYTES


def canonical(adjacency):
    """Return sorted entries with their weights, since repeated edges may have their weights in any order."""
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


@settings(max_examples=150)
@given(
    edge_chunks(),
    st.integers(0, 4000),
    st.sampled_from(["out", "in", "both"]),
    st.booleans(),
    st.sampled_from(RANGES),
    st.data(),
)
def test_pieces_make_the_same_adjacency(drawn, spare, direction, reached, ranges, data):
    n, chunks = drawn
    how = {"transpose": direction == "in", "symmetric": direction == "both"}
    wanted = ENGINE.build_adjacency(lambda: iter(chunks), n, **how)
    window = data.draw(st.sampled_from([places.WINDOW, 3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "WINDOW", window)
        patch.setattr(spilled, "MOST_RANGES", ranges)
        reach = (lambda a: a) if reached else (lambda a: None)
        found = build(lambda: iter(chunks), n, least(n) + spare, reach, **how)
    assert found.row_offsets.tolist() == wanted.row_offsets.tolist()
    assert found.row_offsets.dtype == np.int64
    assert found.column_indices.tolist() == wanted.column_indices.tolist()
    assert found.column_indices.dtype == wanted.column_indices.dtype
    assert (found.weights is None) == (wanted.weights is None)
    assert canonical(found) == canonical(wanted)


def some_edges(n=40, m=500):
    u, v = np.random.default_rng(2).integers(0, n, (2, m), dtype=np.int32)
    return n, u, v


@pytest.mark.parametrize(("spare", "readings"), [(1 << 20, 2), (1000, 4), (300, 9), (200, 2)])
def test_edges_are_read_once_for_each_range(spare, readings):
    """Edges are also read once for counting, and there are at most `MOST_RANGES` ranges."""
    n, u, v = some_edges()
    read = []
    build(lambda: read.append(1) or iter([(u, v)]), n, least(n) + spare)
    assert len(read) == readings


@pytest.mark.parametrize("ranges", RANGES)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_sorted_apart_where_memory_was_taken_since(monkeypatch, ranges, weighted):
    sort_rows, sizes = spilled._sort_rows, []

    def crowded(built, first, after, columns, weights, budget, xp):
        sizes.append(after - first)
        with budget.hold(budget.free, "another question"):
            sort_rows(built, first, after, columns, weights, budget, xp)

    monkeypatch.setattr(spilled, "_sort_rows", crowded)
    monkeypatch.setattr(spilled, "MOST_RANGES", ranges)
    n, u, v = some_edges()
    chunk = (u, v, np.arange(len(u), dtype=np.float32)) if weighted else (u, v)
    found = build(lambda: iter([chunk]), n, least(n) + 4000)
    wanted = ENGINE.build_adjacency(lambda: iter([chunk]), n)
    assert max(sizes) > 1
    assert found.column_indices.tolist() == wanted.column_indices.tolist()
    assert canonical(found) == canonical(wanted)


@pytest.mark.parametrize("ranges", RANGES)
@pytest.mark.parametrize("change", ["another row", "more", "fewer"])
def test_edges_that_change_are_noticed(monkeypatch, ranges, change):
    """A change after the counting is noticed before anything is written past its row."""
    monkeypatch.setattr(spilled, "MOST_RANGES", ranges)
    n, u, v = some_edges()
    other = {
        "another row": (np.append(u[1:], u[0] ^ 1), np.append(v[1:], v[0])),
        "more": (u.repeat(2), v.repeat(2)),
        "fewer": (u[1:], v[1:]),
    }[change]
    readings = iter([(u, v), other])
    with pytest.raises(TravError, match="The edges changed"):
        build(lambda: iter([next(readings, other)]), n, least(n) + 1000)


def test_columns_of_64_bits():
    """Columns have 64 bits from 2^31 vertices on; a row is then sorted through an index."""
    columns = np.array([7, 2**40, 3, 2**40, 1], dtype=np.int64)
    weights = np.arange(5.0)
    rows = Adjacency(np.array([0, 3, 3, 5]), columns, weights=weights)
    spilled._sort_rows(rows, 0, 3, columns, weights, Budget("1MB"), np)
    assert columns.tolist() == [3, 7, 2**40, 1, 2**40]
    assert weights.tolist() == [2, 0, 1, 4, 3]


def test_a_row_longer_than_the_device_is_sorted_on_the_host():
    columns = np.arange(50, dtype=np.int32)[::-1].copy()
    weights = np.arange(50.0)
    rows = Adjacency(np.array([0, 50]), columns, weights=weights)
    spilled._sort_rows(rows, 0, 1, columns, weights, Budget(100), np)
    assert columns.tolist() == list(range(50)) and weights.tolist() == list(range(49, -1, -1))


def test_places_past_the_range_are_left_alone():
    free, placed = np.array([4, 6, 8]), np.full(3, -1, np.int32)
    rows, columns = np.array([1, 1, 1, 0, 2, 1], np.int32), np.arange(6, dtype=np.int32)
    places.place_plainly(rows, columns, None, False, 1, 2, 6, free, placed, None)
    assert free.tolist() == [4, 10, 8]
    assert placed.tolist() == [0, 1, 2]


def test_a_budget_below_the_rows():
    with pytest.raises(TravMemoryError, match=r"1\.6 kB are needed for row counts of the build"):
        build(lambda: iter([]), 100, 1000)


def test_what_is_allocated_on_the_host():
    outside = Outside("1MB")
    chunk = (np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32), np.array([5, 6]))
    spilled.build_adjacency(lambda: iter([chunk]), 3, outside, device())
    assert outside.allocated == ["row offsets", "column indices", "weights"]
