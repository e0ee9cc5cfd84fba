"""The vertices that a caller names, one after another."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rapids_trav import TravError
from rapids_trav.ids import lookup as module
from rapids_trav.ids.lookup import each_vertex

DAY = pd.Timestamp("2026-01-01")


def listed(given, width=1):
    return list(each_vertex("roots", given, width, on_gpu=False))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (5, [5]),
        (np.int32(5), [5]),
        (np.array(5), [5]),
        ("ab", ["ab"]),
        (b"ab", [b"ab"]),
        ((1, 2), [1, 2]),
        (range(3), [0, 1, 2]),
        ({3: "c"}, [3]),
        (pd.Index(["x", "y"]), ["x", "y"]),
        (pd.Series([DAY]), [DAY]),
        (pd.Series(["x", "y"], dtype="category"), ["x", "y"]),
        (pd.Series([1, None], dtype="Int64"), [1, pd.NA]),
        (pa.array([1, 2]), [1, 2]),
        (pd.DataFrame({"id": [1, 2]}), [1, 2]),
        (datetime.date(2026, 1, 1), [datetime.date(2026, 1, 1)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_column(given, expected):
    assert listed(given) == expected


def test_several_columns():
    rows = [(1, "x"), (2, "y")]
    assert listed(rows, 2) == listed(tuple(rows), 2) == listed(pd.DataFrame(rows), 2) == rows
    assert listed(rows[0], 2) == [rows[0]]


def test_long_columns_are_converted_part_by_part(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 4)
    assert listed(pd.Series(range(10), index=range(10, 0, -1))) == list(range(10))
    assert listed(np.arange(9)) == list(range(9))


def test_iterables_are_read_as_needed():
    def endless():
        while True:
            yield 1

    assert next(each_vertex("roots", endless(), 1, on_gpu=False)) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, r"^roots is None"),
        (np.zeros((2, 2)), r"^roots has 2 dimensions"),
        (pd.DataFrame({"a": [1], "b": [2]}), r"^roots is a frame of 2 columns, but the graph's ids have 1"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(TravError, match=message):
        each_vertex("roots", given, 1, on_gpu=False)
