"""Distinct numbers by a sort, by a table, and on a GPU by a bitmap."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.engines.multigpu.lookup import by_table, distinct


def expected(numbers):
    found = np.unique(numbers[numbers >= 0])
    return found, np.where(numbers >= 0, np.searchsorted(found, numbers), -1)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("end", [None, 1, 7, 40, 10**6])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_distinct_numbers(end, n, dtype):
    numbers = np.random.default_rng(n).integers(-1, min(end or 50, 50), n).astype(dtype)
    found, place = distinct(np, numbers, end)
    wanted, wanted_place = expected(numbers)
    assert found.tolist() == wanted.tolist()
    assert place.tolist() == wanted_place.tolist()
    assert found.dtype == dtype


@pytest.mark.parametrize("numbers", [[-1, -1], [3, -1, 0, 3], [39]])
def test_a_table_and_a_sort_agree(numbers):
    numbers = np.array(numbers)
    for one, other in zip(by_table(numbers, 40), distinct(np, numbers), strict=True):
        assert one.tolist() == other.tolist()


def test_few_numbers_of_many_take_no_table(monkeypatch):
    monkeypatch.setattr(np, "zeros", None)
    assert distinct(np, np.array([5, 5]), 10**12)[0].tolist() == [5]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("end", [1, 31, 32, 33, 100_000])
@pytest.mark.parametrize("n", [1, 1000, 100_000])
def test_a_bitmap_on_the_gpu(n, end, dtype):
    import cupy

    numbers = np.random.default_rng(n).integers(-1, end, n).astype(dtype)
    found, place = distinct(cupy, cupy.asarray(numbers), end)
    wanted, wanted_place = expected(numbers)
    assert found.get().tolist() == wanted.tolist()
    assert place.get().tolist() == wanted_place.tolist()
