"""Conditions on columns of every type agree with a plain evaluation row by row, including nulls."""

from __future__ import annotations

import datetime as dt
import operator
from decimal import Decimal

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
from rapids_trav.frames.columns import nullable_dtype
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
        ("l == 1", "column 'l' of object, whose values conditions cannot compare: convert it"),
        ("l == l", "column 'l' of object, whose values conditions cannot compare: convert it"),
        ("n == l", "column 'l' of object, whose values conditions cannot compare: convert it"),
        ("n", "uses column 'n' as a condition, but it holds int64: compare it with a value"),
        ("not s", "uses column 's' as a condition"),
    ],
)
def test_unlike_things_are_refused(text, message):
    with pytest.raises(TravError, match=message):
        flags(text, FRAME)


def test_ordered_categories_equal_their_values():
    sizes = pd.Categorical(["small", "large", None], categories=["small", "large"], ordered=True)
    assert flags("size == 'small'", pd.DataFrame({"size": sizes})) == [True, False, None]


LEVELS = ["low", "mid", "high"]


def ordered(values, categories=LEVELS):
    return pd.Categorical(values, categories, ordered=True)


@pytest.mark.parametrize("sign", SIGNS)
def test_ordered_categories_are_compared_in_their_order(sign):
    values, others = ["low", "high", "mid", None], ["mid", "mid", "low", "low"]
    frame = pd.DataFrame({"c": ordered(values), "d": ordered(others)})
    places = [LEVELS.index(value) if value else None for value in values]
    for value, place in zip(LEVELS, range(3), strict=True):
        expected = [None if own is None else SIGNS[sign](own, place) for own in places]
        assert flags(f"c {sign} '{value}'", frame) == expected
    rows = zip(places, map(LEVELS.index, others), strict=True)
    expected = [None if one is None else SIGNS[sign](one, other) for one, other in rows]
    assert flags(f"c {sign} d", frame) == expected


def test_ordered_categories_of_numbers():
    frame = pd.DataFrame({"up": ordered([1, 2, 3], [1, 2, 3]), "down": ordered([1, 2, 3], [3, 2, 1])})
    assert flags("up < 2.5", frame) == [True, True, False]
    assert flags("down < 2", frame) == [False, False, True]
    assert flags("down == 2.0", frame) == [False, True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "c < 'huge'",
            "'c' by < with 'huge', which is not one of its ordered categories: .*'low', 'mid', 'h",
        ),
        (
            "c < s",
            "column 'c' by <, whose categories have an order of their own, with column 's', which does",
        ),
        ("s >= c", "column 'c' by >=, whose categories"),
        ("c < d", "column 'c' by <, whose categories"),
    ],
)
def test_orders_that_differ_are_refused(text, message):
    frame = pd.DataFrame({"c": ordered(["low"]), "d": ordered(["mid"], LEVELS[::-1]), "s": ["low"]})
    with pytest.raises(TravError, match=message):
        flags(text, frame)
    assert flags("c == s and c != d and c != 'huge'", frame) == [True]


STATED = {
    "numpy": lambda values, dtype: pd.Series(np.array(values, dtype)),
    "nullable": lambda values, dtype: pd.Series(
        np.array(values, dtype), dtype=nullable_dtype(np.dtype(dtype))
    ),
    "arrow": lambda values, dtype: pd.Series(np.array(values, dtype), dtype=f"{np.dtype(dtype)}[pyarrow]"),
    "objects": lambda values, dtype: pd.Series(np.array(values, dtype).tolist(), dtype=object),
}
WHOLE = [2**53 + 1, 2**53, 2**62 + 1, 2**63 - 1, -(2**63), -(2**53) - 1, 0, 3, -3]
REAL = [
    2.0**53,
    2.0**53 + 2,
    2.0**62,
    2.0**63,
    -(2.0**63),
    -(2.0**53),
    0.5,
    3.0,
    -2.5,
    1e300,
    -np.inf,
    np.inf,
]


@pytest.mark.parametrize("stored", STATED)
@pytest.mark.parametrize("sign", SIGNS)
def test_columns_of_numbers_are_compared_exactly(stored, sign):
    make = STATED[stored]
    pairs = [(one, other) for one in WHOLE for other in REAL]
    frame = pd.DataFrame(
        {
            "i": make([one for one, _ in pairs], "int64"),
            "u": make([abs(one) * 2 - 1 if one else 0 for one, _ in pairs], "uint64"),
            "f": make([other for _, other in pairs], "float64"),
            "k": make([round(max(min(other, 2.0**62), -(2.0**62))) for _, other in pairs], "int64"),
        }
    )
    for left in "iufk":
        for right in "iufk":
            rows = zip(frame[left].astype(object), frame[right].astype(object), strict=True)
            assert flags(f"{left} {sign} {right}", frame) == [SIGNS[sign](one, other) for one, other in rows]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("stored", ["numpy", "arrow"])
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    "number",
    [2**24 + 1, 2**53 + 1, -(2**53) - 1, 2**70, 10**400, -(10**400), 3, 1e300],
    ids=lambda number: str(number)[:12],
)
def test_floats_are_compared_exactly_with_integers_and_beyond(dtype, stored, sign, number):
    values = np.array([2.0**24, 2.0**53, -(2.0**53), 3.0, 2.0**70, np.inf, -np.inf], dtype)
    frame = pd.DataFrame({"f": STATED["numpy" if stored == "numpy" else "arrow"](values, dtype)})
    assert flags(f"f {sign} {number}", frame) == [SIGNS[sign](value, number) for value in values.tolist()]


@pytest.mark.parametrize("stored", ["numpy", "arrow"])
def test_a_fraction_is_read_in_the_type_of_its_column(stored):
    tenth = np.array([0.1, 0.5])
    frame = pd.DataFrame({"f32": STATED[stored](tenth, "float32"), "f64": STATED[stored](tenth, "float64")})
    for name in frame:
        assert flags(f"{name} == 0.1", frame) == [True, False]
        assert flags(f"{name} > 0.1", frame) == [False, True]


@pytest.mark.parametrize("dtype", [object, pd.ArrowDtype(pa.decimal128(9, 2))])
def test_decimals_are_compared_as_they_are_written(dtype):
    frame = pd.DataFrame({"d": pd.Series([Decimal("1.10"), Decimal("0.30"), None, Decimal(4)], dtype=dtype)})
    assert flags("d == 1.1", frame) == [True, False, None, False]
    assert flags("d > 0.3", frame) == [True, False, None, True]
    assert flags("d > 0.305", frame) == [True, False, None, True]
    assert flags("d < 1e30", frame) == flags(f"d < {10**45}", frame) == [True, True, None, True]
    frame = frame.assign(i=[1, 0, 0, 4], f=[1.1, 0.3, 0.0, 4.0])
    assert flags("d > i", frame) == [True, True, None, False]
    assert flags("f == d", frame) == [False, False, None, True]


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]", "float[pyarrow]"])
def test_nan_is_null(dtype):
    column = pd.Series([0.0, 1.0, 2.0], dtype=dtype)
    frame = pd.DataFrame({"x": column / pd.Series([0.0, 1.0, 1.0], dtype=dtype)})
    assert flags("x is null", frame) == [True, False, False]
    assert flags("x > 1", frame) == [None, False, True]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("stored", ["datetime64", "arrow", "objects"])
def test_times_with_a_zone_and_without_are_not_compared(sign, stored):
    times = pd.Series(pd.to_datetime(TIMES[:2])).astype("datetime64[us]")
    frame = pd.DataFrame({"at": times, "zoned": times.dt.tz_localize("UTC")})
    if stored == "arrow":
        frame = pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype)
    elif stored == "objects":
        frame = pd.DataFrame(
            {name: pd.Series(column.tolist(), dtype=object) for name, column in frame.items()}
        )
    for text in (f"at {sign} zoned", f"zoned {sign} at"):
        with pytest.raises(
            TravError, match="column 'at', whose times have no time zone, with column 'zoned'"
        ):
            flags(text, frame)
    assert flags("zoned == '2026-05-30'", frame) == [True, False]


def test_a_date_is_not_told_to_take_an_hour():
    frame = pd.DataFrame({"day": [dt.date(2026, 5, 30)]})
    with pytest.raises(TravError, match=r"with '2026-05-31T12:00': write a date as '2026-05-31'\.$"):
        flags("day == '2026-05-31T12:00'", frame)
