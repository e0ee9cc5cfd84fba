"""Distinct strings are found and sorted as Python does, for every dtype and kind."""

from __future__ import annotations

import enum

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common

from rapids_trav import TravError
from rapids_trav.frames import libraries, strings
from rapids_trav.frames.libraries import library
from rapids_trav.frames.strings import distinct_strings
from rapids_trav.ids.composite_ids import ValueIds
from rapids_trav.ids.renumber import renumber, renumber_distinct

PANDAS = library("pandas")
DTYPES = {
    "object": object,
    "str": "str",
    "python": "string[python]",
    "pyarrow": "string[pyarrow]",
    "string": pd.ArrowDtype(pa.string()),
    "large": pd.ArrowDtype(pa.large_string()),
}
NAMES = st.one_of(
    st.text(max_size=3),
    st.text("ab\0", max_size=30),
    st.text("é日😀", max_size=9),
    st.sampled_from(
        ["https://example.org/" + tail for tail in ("", "\0", "a", "ab", "abcdefgh", "abcdefgh\0")]
    ),
)


def check(column):
    """Check codes and first rows against Python's own set and order."""
    words = column.tolist()
    found, ordered = distinct_strings(column), distinct_strings(column, ascending=True)
    for codes, firsts in (found, ordered):
        assert [words[i] for i in np.asarray(firsts)[codes]] == words
        assert len(firsts) == len(set(words))
    assert [words[i] for i in ordered[1]] == sorted(set(words))


@common
@given(st.lists(NAMES, max_size=60), st.sampled_from(sorted(DTYPES)))
def test_strings_are_those_of_python(words, dtype):
    check(pd.Series(words, dtype=DTYPES[dtype]))


@pytest.mark.parametrize("shape", ["long", "prefix", "numbers", "few", "nulls", "ends"])
def test_many_strings_of_one_shape(shape):
    random = np.random.default_rng(5)
    numbers = random.integers(0, 30_000, 60_000)
    words = {
        "long": lambda i: "x" * (i % 200) + str(i),
        "prefix": lambda i: f"https://example.org/people/{i:09d}/profile",
        "numbers": lambda i: f"n{i}",
        "few": lambda i: f"{i % 7}",
        "nulls": lambda i: "a" + "\0" * (i % 40),
        "ends": lambda i: "abcdefgh" * (i % 90),
    }[shape]
    check(pd.Series([words(int(i)) for i in numbers], dtype="str"))


def test_a_slice_of_an_arrow_column():
    whole = pa.array(["zz", "b", "a", "b", "", "zz"], pa.large_string())
    check(pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([whole[1:3], whole[3:3], whole[3:5]]))))


def test_rows_that_share_objects_are_found_by_address(monkeypatch):
    seen = []
    monkeypatch.setattr(
        strings, "_text_of", lambda column, own=strings._text_of: seen.append(len(column)) or own(column)
    )
    names = np.array([f"n{i % 10}" for i in range(20)], dtype=object)
    column = pd.Series(names[np.arange(4000) % 20], dtype=object)
    check(column)
    assert seen == [20, 20]
    codes, _ = distinct_strings(column)
    assert codes[:10].tolist() == list(range(10))  # regardless of the addresses
    del seen[2:]
    check(pd.Series([f"{i} " for i in range(4000)], dtype=object))
    assert seen[2:] == [4000, 4000]


class Color(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize("value", [None, np.nan, pd.NA, b"red", 1, "\ud800", np.str_("red"), Color.RED])
def test_what_is_no_plain_string_is_left_to_pandas(value):
    column = pd.Series(["a"] * 300 + [value], dtype=object)
    assert distinct_strings(column) is None


@pytest.mark.parametrize("dtype", ["str", "string[python]", "string[pyarrow]", pd.ArrowDtype(pa.string())])
def test_nulls_and_categories_are_left_to_pandas(dtype):
    column = pd.Series(["a", None, "b"], dtype=dtype)
    assert distinct_strings(column) is None
    assert distinct_strings(column.dropna()) is not None
    assert distinct_strings(column.dropna().astype("category")) is None


@pytest.fixture
def many(monkeypatch):
    """Treat every column as one of many strings; return the list of results, one per call."""
    done = []
    own = strings.distinct_strings
    monkeypatch.setattr(libraries, "MANY", 1)
    monkeypatch.setattr(strings, "distinct_strings", lambda *asked: done.append(own(*asked)) or done[-1])
    return done


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("streamed", [False, True])
def test_ids_are_renumbered_as_strings(many, dtype, streamed):
    columns = [["pear", "", "éclair", "pear"], ["日本", "apple", ""], ["z"]]
    lists = [[("name", pd.Series(words, dtype=DTYPES[dtype]))] for words in columns]
    if streamed:
        ids = renumber_distinct(lists, 1, PANDAS, np)
        encode = ids.encoder(many=True)
        codes = [encode([named[0][1]]) for named in lists]
    else:
        ids, of = renumber(lists, 1, PANDAS, np)
        codes = [of(i) for i in range(3)]
    assert isinstance(ids, ValueIds) and many and all(found is not None for found in many)
    values = sorted({word for words in columns for word in words})
    assert ids.values.tolist() == values and ids.values.dtype == lists[0][0][1].dtype
    assert [[values[i] for i in one] for one in codes] == columns
    assert {array.dtype for array in codes} == {np.dtype(np.int32)}


def test_a_pandas_that_cuts_strings_at_nulls_is_not_given_them(many, monkeypatch):
    words = pd.Series(["a", "a\0"] * 20, dtype=object)
    monkeypatch.setattr(libraries, "_cuts_strings", lambda: False)
    assert sorted(PANDAS.factorize(words)[1]) == ["a", "a\0"]
    monkeypatch.setattr(libraries, "_cuts_strings", lambda: True)
    with pytest.raises(TypeError, match="up to a null character"):
        PANDAS.factorize(words)


def test_unknown_strings_among_many(many, monkeypatch):
    monkeypatch.setattr(libraries, "FEW", 0)
    vocabulary = pd.Series(["a", "b", "d"])
    assert PANDAS.positions(vocabulary, pd.Series(["d", "c", "a", ""])).tolist() == [2, -1, 0, -1]
    assert many[0] is not None


@pytest.mark.parametrize("value", [None, 1, b"a"])
def test_messages_do_not_depend_on_how_many_there_are(many, monkeypatch, value):
    frame = pd.DataFrame({"src": pd.Series(["a", value], dtype=object), "dst": ["b", "c"]})
    with pytest.raises(TravError) as here:
        frame.trav.graph()
    monkeypatch.setattr(libraries, "MANY", 100)
    with pytest.raises(TravError) as there:
        frame.trav.graph()
    assert str(here.value) == str(there.value)


def test_categories_of_two_columns_are_merged_without_their_rows(monkeypatch):
    src = pd.Series(pd.Categorical(["b", "a", "b"], ["b", "unused", "a"]))
    dst = pd.Series(pd.Categorical(["c", "b", "c"], ["c", "b"]))
    asked = []
    monkeypatch.setattr(
        libraries.PandasFrames,
        "factorize",
        lambda self, column, own=libraries.PandasFrames.factorize: (
            asked.append(column.tolist()) or own(self, column)
        ),
    )
    ids, codes = renumber([[("src", src)], [("dst", dst)]], 1, PANDAS, np)
    assert asked == [["b", "a"], ["c", "b"]]
    assert ids.values.tolist() == ["a", "b", "c"] and ids.values.dtype == src.dtype.categories.dtype
    assert [codes(0).tolist(), codes(1).tolist()] == [[1, 0, 1], [2, 1, 2]]
