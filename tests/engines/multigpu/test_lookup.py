"""Distinct numbers, by a sort or by a table of the numbers there may be."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.engines.multigpu import lookup


@pytest.mark.parametrize("end", [None, 1, 7, 40, 10**6])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_distinct_numbers(end, n):
    numbers = np.random.default_rng(n).integers(-1, min(end or 50, 50), n)
    found, place = lookup.distinct(np, numbers, end)
    assert np.array_equal(found, np.unique(numbers))
    assert np.array_equal(found[place], numbers)


def test_few_numbers_of_many_take_no_table(monkeypatch):
    monkeypatch.setattr(np, "zeros", None)
    assert lookup.distinct(np, np.array([5, 5]), 10**12)[0].tolist() == [5]
