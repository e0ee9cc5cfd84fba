"""Conditions on columns of every type agree with a plain evaluation row by row, including nulls."""

from __future__ import annotations

import datetime as dt
import operator

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common

from rapids_trav.edges.conditions import evaluate
from rapids_trav.edges.expressions import parse
from rapids_trav.errors import TravError
from rapids_trav.frames.libraries import library

SIGNS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
HUGE = 2**62 + 1
NUMBERS = [-2, 0, 1, 3, HUGE, HUGE - 1, 2**70, -(2**70), 0.5, -0.5, 1.0, 2.0**62, 1e300]


def flags(text, frame, name="pandas"):
    """Return True, False or None for each row."""
    true, false = evaluate(parse(text, list(frame.columns)).test, frame, library(name))
    assert not (true & false).any()
    return [True if t else False if f else None for t, f in zip(true.tolist(), false.tolist(), strict=True)]


def plain(node, row):
    """Evaluate a condition, given as a nested tuple, on one row, with None for null (the reference)."""
    kind, *rest = node
    if kind == "null":
        return row[rest[0]] is None
    if kind == "flag":
        return row[rest[0]]
    if kind == "not":
        found = plain(rest[0], row)
        return None if found is None else not found
    if kind in ("and", "or"):
        found = [plain(part, row) for part in rest]
        decisive = kind == "or"
        return decisive if decisive in found else None if None in found else not decisive
    column, sign, value = rest
    value = row[value[1:]] if isinstance(value, str) and value.startswith("@") else value
    return None if row[column] is None or value is None else SIGNS[sign](row[column], value)


def text_of(node):
    kind, *rest = node
    if kind == "null":
        return f"{rest[0]} is null"
    if kind == "flag":
        return rest[0]
    if kind == "not":
        return f"not ({text_of(rest[0])})"
    if kind in ("and", "or"):
        return f" {kind} ".join(f"({text_of(part)})" for part in rest)
    column, sign, value = rest
    if isinstance(value, str):
        value = value[1:] if value.startswith("@") else "'" + value.replace("'", "''") + "'"
    return f"{column} {sign} {value!r}" if not isinstance(value, str) else f"{column} {sign} {value}"


signs = st.sampled_from(list(SIGNS))
leaves = st.one_of(
    st.tuples(st.just("compare"), st.sampled_from(["i", "n", "x"]), signs, st.sampled_from(NUMBERS)),
    st.tuples(st.just("compare"), st.just("i"), signs, st.just("@n")),
    st.tuples(st.just("compare"), st.just("s"), signs, st.sampled_from(["", "a", "it's", "zz", "ß"])),
    st.tuples(st.just("null"), st.sampled_from(["n", "x", "s", "b"])),
    st.tuples(st.just("flag"), st.just("b")),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner, inner),
    ),
    max_leaves=6,
)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.sampled_from([-2, 0, 1, HUGE, HUGE - 1]),
            "n": st.sampled_from([None, 0, 1, 3, HUGE]),
            "x": st.sampled_from([None, -0.5, 0.5, 1.0, 1e300]),
            "s": st.sampled_from([None, "", "a", "it's", "ß"]),
            "b": st.sampled_from([None, True, False]),
        }
    ),
    max_size=6,
)
STORED = {
    "nullable": {"n": "Int64", "x": "float64", "s": "str", "b": "boolean"},
    "arrow": {"n": "int64[pyarrow]", "x": "double[pyarrow]", "s": "string[pyarrow]", "b": "bool[pyarrow]"},
    "objects": {"n": object, "x": object, "s": object, "b": object},
    "categories": {"n": "Int64", "x": "Float64", "s": "category", "b": "boolean"},
}


@common
@given(trees, rows, st.sampled_from(list(STORED)))
def test_agrees_with_rows_one_by_one(tree, rows, stored):
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in "inxsb"}
    frame = pd.DataFrame({name: columns[name].astype(kind) for name, kind in STORED[stored].items()})
    frame["i"] = columns["i"].astype("int64")
    frame.index = pd.Index(range(50, 50 + len(frame)))
    assert flags(text_of(tree), frame) == [plain(tree, row) for row in rows]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("number", [-300, -129, -1, 0, 127, 127.5, 255, 256, 2**63, 2**64, 0.5])
def test_integers_are_compared_exactly(dtype, sign, number):
    limits = np.iinfo(dtype)
    values = [limits.min, 0, 1, 127, limits.max - 1, limits.max]
    frame = pd.DataFrame({"v": np.array(values, dtype)})
    assert flags(f"v {sign} {number}", frame) == [SIGNS[sign](value, number) for value in values]


@pytest.mark.parametrize("sign", SIGNS)
def test_integers_that_floats_do_not_tell_apart(sign):
    values = [HUGE - 1, HUGE, HUGE + 1]
    frame = pd.DataFrame({"v": values})
    for number in values:
        assert flags(f"v {sign} {number}", frame) == [SIGNS[sign](value, number) for value in values]


TIMES = [dt.datetime(2026, 5, 30), dt.datetime(2026, 5, 31), dt.datetime(2026, 5, 31, 12), None]


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "datetime64[s]", "timestamp[us][pyarrow]", object])
def test_times(dtype):
    frame = pd.DataFrame({"at": pd.Series(TIMES, dtype=dtype)})
    assert flags("at >= '2026-05-31'", frame) == [False, True, True, None]
    assert flags("'2026-05-30' < at < '2026-05-31T12:00'", frame) == [False, True, False, None]
    with pytest.raises(TravError, match="whose times have no time zone, with '2026-05-31T00:00Z': leave out"):
        flags("at > '2026-05-31T00:00Z'", frame)
    for wrong in ("now", "yesterday", "2026", "2026-13-01"):
        with pytest.raises(TravError, match=f"with '{wrong}': write a date as '2026-05-31'"):
            flags(f"at > '{wrong}'", frame)


def test_times_of_a_zone():
    frame = pd.DataFrame({"at": pd.to_datetime(TIMES[:3]).tz_localize("Europe/Oslo")})
    assert flags("at >= '2026-05-31'", frame) == [False, True, True]
    assert flags("at > '2026-05-30T22:00Z'", frame) == [False, False, True]


@pytest.mark.parametrize("dtype", [object, pd.ArrowDtype(pa.date32())])
def test_dates(dtype):
    frame = pd.DataFrame({"day": pd.Series([dt.date(2026, 5, 30), None, dt.date(2026, 6, 1)], dtype=dtype)})
    assert flags("day > '2026-05-31'", frame) == [False, None, True]
    assert flags("day == '2026-05-30'", frame) == [True, None, False]


def test_durations():
    frame = pd.DataFrame({"lasts": pd.to_timedelta(["30min", "2h", None])})
    assert flags("lasts > '90min'", frame) == [False, True, None]
    with pytest.raises(TravError, match="write one as '90min'"):
        flags("lasts > 'long'", frame)


FRAME = pd.DataFrame(
    {
        "n": [1, 2],
        "s": ["a", "b"],
        "b": [True, False],
        "at": pd.to_datetime(["2026-05-31", "2026-06-01"]),
        "l": [[1], [2]],
    }
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n == 'a'", "column 'n' holds int64, and 'a' is text"),
        ("s > 3", "column 's' holds .*, and 3 is a number"),
        ("b == 1", "column 'b' holds bool, and 1 is a number"),
        ("n == true", "column 'n' holds int64, and True is true or false"),
        ("at > 3", "column 'at' holds datetime64.*, and 3 is a number"),
        ("n > s", "column 'n' holds int64, and column 's' "),
        ("l == 1", "column 'l' holds object, and 1 is a number"),
        ("n", "uses column 'n' as a condition, but it holds int64: compare it with a value"),
        ("not s", "uses column 's' as a condition"),
    ],
)
def test_unlike_things_are_refused(text, message):
    with pytest.raises(TravError, match=message):
        flags(text, FRAME)


def test_ordered_categories_go_by_their_values():
    sizes = pd.Categorical(["small", "large", None], categories=["small", "large"], ordered=True)
    assert flags("size == 'small'", pd.DataFrame({"size": sizes})) == [True, False, None]
