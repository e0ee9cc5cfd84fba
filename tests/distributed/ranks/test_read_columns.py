"""All ranks refuse the columns that a local build refuses, with the same message."""

import re

import numpy as np
import pandas as pd
import pytest
from spread_columns import parts, refuse_alike, said_locally

GOOD = [1, 2, 3, 4, 5, 6]
STAMP = pd.Timestamp(2000, 1, 1)


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


BAD = {
    "nulls": pd.array([1, None, 3, None, 5, None], "Int64"),
    "missing strings": pd.array(["a", None, "b", "c", None, "d"], "str"),
    "not a number": [1.0, np.nan, 2.0, 3.0, np.nan, 4.0],
    "not a time": pd.to_datetime(["2000-01-01", None] * 3),
    "booleans": [True, False] * 3,
    "objects that are booleans": objects(*[True, False] * 3),
    "categories that are booleans": pd.array([True, False] * 3, "category"),
    "fractions": [1.0, 2.0, 1.5, 3.0, 2.5, 4.0],
    "past 64 bits": objects(1, 2, 3, 2**70, 5, 6),
    "complex numbers": np.array(GOOD, complex),
    "intervals": pd.interval_range(0, 6),
    "lists": objects([1], [2], [3], [4], [5], [6]),
    "raw bytes": objects(*[{"a": k} for k in GOOD]),
}


@pytest.mark.parametrize("size", [1, 2, 3, 6])
@pytest.mark.parametrize("end", ["src", "dst"])
@pytest.mark.parametrize("what", BAD)
def test_one_bad_column(what, end, size):
    bad = pd.Series(BAD[what], name=end)
    good = pd.Series(GOOD, name="dst" if end == "src" else "src")
    for seed in range(3):
        cut = [[[one], [other]] for one, other in zip(parts(bad, size, seed), parts(good, size), strict=True)]
        assert refuse_alike(cut) == said_locally(cut)


def test_nulls_are_counted_over_all_ranks():
    whole = pd.Series([None, 1, None, 2], dtype="Int64", name="dst")
    message = refuse_alike([[[part]] for part in parts(whole, 3, bounds=[2, 2])])
    assert message.startswith("Column 'dst' holds 2 nulls,")
    clean = whole.fillna(5)
    message = refuse_alike([[[clean.rename("src")]], [[whole]], []])
    assert message.startswith("Column 'dst' holds 2 nulls,")


@pytest.mark.parametrize(
    ("src", "dst"),
    [
        (GOOD, list("abcdef")),
        (list("abcdef"), pd.date_range("2000", periods=6)),
        (pd.to_timedelta(GOOD, "D"), pd.date_range("2000", periods=6)),
        (pd.array(list("abcdef"), "category"), GOOD),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 6])
def test_ends_of_different_kinds(src, dst, size):
    src, dst = pd.Series(src, name="src"), pd.Series(dst, name="dst")
    cut = [[[one], [other]] for one, other in zip(parts(src, size, 1), parts(dst, size, 2), strict=True)]
    assert refuse_alike(cut) == said_locally(cut)


def test_partitions_of_different_kinds():
    message = refuse_alike([[[pd.Series([1, 2], name="src")]], [[pd.Series(["a"], name="src")]]])
    assert message.startswith("Column 'src' is int64 in some of the edges and str in others")


@pytest.mark.parametrize("size", [1, 2, 3])
def test_integers_beside_strings(size):
    mixed = pd.Series(objects(1, "a", 1, "b", 2, "c"), name="src")
    cut = [[[part]] for part in parts(mixed, size, bounds=[2, 4][: size - 1])]
    assert refuse_alike(cut) == said_locally(cut)


def test_integers_that_no_type_holds():
    cut = [[[pd.Series([-1, 2], name="src")]], [[pd.Series([2**64 - 1], dtype="uint64", name="dst")]]]
    assert refuse_alike(cut) == said_locally(cut)


def test_categories_of_several_dtypes_are_read_as_their_values():
    halves = pd.Series([0.5, 1.5], name="src").astype("category")
    whole = pd.Series([1.0, 2.0], name="src").astype("category")
    message = refuse_alike([[[whole]], [[halves]]])
    assert message.startswith("Column 'src' holds 0.5, which is not a whole number")


@pytest.mark.parametrize(
    ("src", "dst"),
    [
        (objects("a", STAMP), objects("b", "c")),
        (objects("a", "b", "c", "d"), objects(STAMP.date(), STAMP.date())),
        (objects(("a", 1), ("b", 2)), objects(("a", "b"), ("c", 3))),
        (objects(frozenset({1}), frozenset({2})), objects(frozenset({1}))),
        (objects(frozenset({1}), frozenset({1, 2})), objects(frozenset({1, 3}))),
        (objects(b"a", b"b"), objects("c", "d")),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_values_without_a_common_order(src, dst, size):
    src, dst = pd.Series(src, name="src"), pd.Series(dst, name="dst")
    for seed in range(4):
        pairs = zip(parts(src, size, seed), parts(dst, size, seed + 9), strict=True)
        cut = [[[one], [other]] for one, other in pairs]
        found, wanted = refuse_alike(cut), said_locally(cut)
        assert "that have no common order (" in found
        guilty = re.match(r"Columns? (.*) hold", wanted)[1]
        # If each part of a column has an order, ranks cannot tell that the column has none, and name both.
        assert re.match(r"Columns? (.*) hold", found)[1] in (guilty, "'src' and 'dst'")
        if size == 1:
            assert found == wanted
        assert found.endswith("): convert them, for example with astype(str).")


@pytest.mark.parametrize("bad", ["src", "dst"])
def test_several_columns(bad):
    words, numbers = pd.Series(["a", "b", "c"], name="name"), pd.Series([1, 2, 3], name="number")
    frame = pd.DataFrame({"a": words, "n": numbers.astype(float), "b": words, "m": numbers.astype(float)})
    frame.loc[2, {"src": "n", "dst": "m"}[bad]] = 2.5
    cut = [
        [[part["a"], part["n"]], [part["b"], part["m"]]]
        for part in (frame.iloc[:1], frame.iloc[1:2], frame.iloc[2:])
    ]
    assert refuse_alike(cut) == said_locally(cut)
