"""Renumbering ids list by list gives the same map as renumbering all lists at once."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common, labels

from rapids_trav import TravError
from rapids_trav.frames.libraries import library
from rapids_trav.ids.renumber import renumber, renumber_distinct

PANDAS = library("pandas")


class Lists(list):
    """List that counts how often it is read."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def check(columns, width=1):
    """Check the map of `columns`, where each list of ids is `width` Series, against that of all at once."""
    lists = Lists([(f"column {i}", column) for i, column in enumerate(one)] for one in columns)
    wanted, codes = renumber(list(lists), width, PANDAS, np)
    lists.passes = 0
    found = renumber_distinct(lists, width, PANDAS, np)
    assert lists.passes == width
    assert (found.n, found.width) == (wanted.n, width)
    assert [str(dtype) for dtype in found.dtypes] == [str(dtype) for dtype in wanted.dtypes]
    for one, other in zip(found.decode(None), wanted.decode(None), strict=True):
        pd.testing.assert_series_equal(pd.Series(one), pd.Series(other))
    encode = found.encoder(many=True)
    for i, one in enumerate(columns):
        assert encode(one).tolist() == codes(i).tolist()


@common
@given(st.data(), st.integers(0, 6))
def test_the_map_is_the_same(data, few):
    n = data.draw(st.integers(1, 20))
    ids = labels(data.draw, n)
    places = st.lists(st.integers(0, n - 1), max_size=12)
    lists = [data.draw(places) for _ in range(data.draw(st.integers(1, 5)))]
    width = 2 if isinstance(ids[0], tuple) else 1
    dtypes = [np.asarray([i[c] for i in ids] if width == 2 else ids).dtype for c in range(width)]
    dtypes = [object if dtype.kind == "U" else dtype for dtype in dtypes]
    columns = [
        [pd.Series([ids[p][c] if width == 2 else ids[p] for p in one], dtype=dtypes[c]) for c in range(width)]
        for one in lists
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rapids_trav.ids.renumber.FEW", few)
        check(columns, width)


@pytest.mark.parametrize(
    "parts",
    [
        [pd.Series([1, 2], dtype="int8"), pd.Series([300, 2]), pd.Series([7.0])],
        [pd.Series([], dtype="float64"), pd.Series([3, 4], dtype="uint16")],
        [pd.Series([5, 9], dtype="Int64"), pd.Series([5, 7], dtype="Int64")],
        [pd.Series([3, 10**12]), pd.Series([10**12, 4])],
        [pd.Series(["b", "a"]), pd.Series(["c", "a"]), pd.Series(["b"])],
        [pd.Series(["b", "a"], dtype="string"), pd.Series(["c", "a"], dtype="string")],
        [pd.Series(pd.to_datetime(["2020-01-02", "2019-01-01"])), pd.Series(pd.to_datetime(["2018-05-05"]))],
        [pd.Series([datetime.date(2020, 1, 2)]), pd.Series([datetime.date(1999, 1, 2)])],
        [pd.Series(list("bca"), dtype="category"), pd.Series(list("bca"), dtype="category")],
        [
            pd.Series(pd.Categorical(["x", "z"], ["z", "y", "x"], ordered=True)),
            pd.Series(pd.Categorical(["z"], ["z", "y", "x"], ordered=True)),
        ],
        [pd.Series(list("ba"), dtype="category"), pd.Series(list("cd"), dtype="category")],
        [pd.Series([], dtype="int32"), pd.Series([], dtype="int32")],
        [pd.Series([1, 2]), pd.Series([], dtype=object)],
    ],
    ids=str,
)
@pytest.mark.parametrize("few", [0, 100])
def test_kinds_of_ids(monkeypatch, parts, few):
    monkeypatch.setattr("rapids_trav.ids.renumber.FEW", few)
    check([[part] for part in parts])


def test_mixtures_are_refused_alike():
    lists = [[("a", pd.Series([1, 2]))], [("b", pd.Series(["x"]))]]
    with pytest.raises(TravError, match=r"Columns 'a' \(int64\) and 'b' \(.*\) hold different kinds of id"):
        renumber_distinct(lists, 1, PANDAS, np)
