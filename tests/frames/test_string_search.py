"""Strings are found among ascending ones where pandas finds them, for every dtype."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common
from test_strings import DTYPES, NAMES

from rapids_trav.frames import libraries, strings
from rapids_trav.frames.libraries import library
from rapids_trav.frames.strings import string_positions

PANDAS = library("pandas")
KINDS = st.sampled_from(sorted(DTYPES))


@common
@given(st.sets(NAMES, max_size=60), st.lists(NAMES, max_size=60), KINDS, KINDS, st.data())
def test_positions_are_those_of_pandas(known, others, one, other, data):
    known = sorted(known)
    wanted = data.draw(st.permutations([*known[::2], *others]))
    found = string_positions(pd.Series(known, dtype=DTYPES[one]), pd.Series(wanted, dtype=DTYPES[other]))
    assert found.tolist() == pd.Index(known, dtype=object).get_indexer(wanted).tolist()


@pytest.mark.parametrize("wanted", [10, 5_000, 60_000])
def test_many_strings(wanted):
    random = np.random.default_rng(wanted)
    numbers = random.permutation(60_000)
    known = pd.Series(sorted(f"https://example.org/é{i}" for i in numbers[:40_000].tolist()), dtype="str")
    column = pd.Series([f"https://example.org/é{i}" for i in numbers[-wanted:].tolist()], dtype="str")
    found = string_positions(known, column)
    assert found.tolist() == pd.Index(known).get_indexer(pd.Index(column)).tolist()
    assert (found < 0).any()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_slices_and_chunks_of_arrow_columns(kind):
    whole = pa.array(["zz", "", "a", "b", "é", "zz", "c"], kind)
    known = pa.chunked_array([whole[1:3], whole[3:3], whole[3:5]])
    wanted = pa.chunked_array([whole[4:6], whole[1:4], whole[6:]])
    columns = (pd.Series(pd.arrays.ArrowExtensionArray(values)) for values in (known, wanted))
    assert string_positions(*columns).tolist() == [3, -1, 0, 1, 2, -1]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None], dtype="str"),
        pd.Series(["a", None], dtype=object),
        pd.Series(["a", b"b"], dtype=object),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series([1, 2]),
    ],
    ids=["null", "None", "bytes", "category", "integers"],
)
def test_other_columns_are_left_to_pandas(column):
    text = pd.Series(["a", "b"], dtype="str")
    assert string_positions(text, column) is None
    assert string_positions(column, text) is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("long", ["vocabulary", "column"])
def test_strings_are_searched_for_in_longer_columns(dtype, long, monkeypatch):
    """A column longer than the vocabulary has repeats, which one pass over both takes less time for."""
    monkeypatch.setattr(libraries, "MANY", 100)
    monkeypatch.setattr(libraries, "FEW", 2)
    asked = []
    own = string_positions
    monkeypatch.setattr(strings, "string_positions", lambda *given: asked.append(1) or own(*given))
    words = pd.Series([f"{i:03d}" for i in range(100)], dtype=DTYPES[dtype])
    few = pd.Series(["007", "05", "003"], dtype=DTYPES[dtype])
    if long == "vocabulary":
        assert PANDAS.positions(words, few).tolist() == [7, -1, 3]
        assert asked == [1]
    else:
        found = PANDAS.positions(few.sort_values(ignore_index=True), words)
        assert np.flatnonzero(found >= 0).tolist() == [3, 7] and found[[3, 7]].tolist() == [0, 1]
        assert not asked
