"""Evaluation of conditions on a frame of edges, of pandas or cuDF, in three-valued logic.

The values are true, false and null.  A comparison with a null is null; `and`, `or` and `not` are those of
Kleene, as in SQL.  NaN counts as null.  Numbers are compared exactly (`numbers`), and ordered categories in
their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, tzinfo
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.edges.expressions import AllOf, AnyOf, Column, Comparison, IsNull, Not, Test
from rapids_trav.edges.numbers import OPERATORS, compared_columns, compared_with_number
from rapids_trav.errors import TravError, first_line, listed, written
from rapids_trav.frames.columns import Array, Frame, Series, Values, is_object
from rapids_trav.ids.composite_ids import same_categories
from rapids_trav.ids.maps import Library

OF_OBJECTS = {
    "string": "text",
    "boolean": "truth",
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
    "date": "date",
    "datetime": "time",
    "datetime64": "time",
}
NAN_IS_NOT_NULL = (pd.ArrowDtype, pd.Float32Dtype, pd.Float64Dtype)


class Truth(NamedTuple):
    """Two flags for each row: true and false; neither is set where the result is null."""

    true: Array
    false: Array


def evaluate(test: Test, frame: Frame, library: Library) -> Truth:
    """Return where a test of the frame's columns is true, and where it is false."""
    if isinstance(test, Not):
        true, false = evaluate(test.test, frame, library)
        return Truth(false, true)
    if isinstance(test, AllOf | AnyOf):
        found = evaluate(test.tests[0], frame, library)
        for other in test.tests[1:]:
            more = evaluate(other, frame, library)
            if isinstance(test, AllOf):
                found = Truth(found.true & more.true, found.false | more.false)
            else:
                found = Truth(found.true | more.true, found.false & more.false)
        return found
    if isinstance(test, IsNull):
        null = _nulls(frame[test.column.name], library)
        return Truth(null, ~null)
    if isinstance(test, Column):
        if kind_of(frame[test.name], library) not in ("truth", None):
            raise TravError(
                f"where= uses column {test.name!r} as a condition, but it holds {frame[test.name].dtype}: "
                f"compare it with a value."
            )
        test = Comparison(test, "==", True)
    return _compared(test, frame, library)


def _compared(test: Comparison, frame: Frame, library: Library) -> Truth:
    left = frame[test.column.name]
    right = frame[test.other.name] if isinstance(test.other, Column) else None
    for operand in (test.column, test.other):
        if isinstance(operand, type(test.column)):
            dtype = frame[operand.name].dtype
            # rows of nested types Arrow may be unable to take
            if isinstance(dtype, pd.ArrowDtype) and pa.types.is_nested(dtype.pyarrow_dtype):
                raise _incomparable(operand.name, frame[operand.name])
    null = _nulls(left, library)
    if right is not None:
        null = null | _nulls(right, library)
    some = bool(null.any())
    rows = library.xp.flatnonzero(~null) if some else None
    if some:
        left = library.take(left, rows)
        right = None if right is None else library.take(right, rows)
    flags = library.xp.zeros(len(null), dtype=bool)
    if len(left):
        given = (
            _column_with_column(test, left, right, library)
            if right is not None
            else _with_value(test, left, library)
        )
        if some:
            flags[rows] = given
        else:
            flags = given
    return Truth(flags & ~null, ~flags & ~null)


def _column_with_column(test: Comparison, left: Series, right: Series, library: Library) -> Array:
    assert isinstance(test.other, Column)
    names = test.column.name, test.other.name
    kinds = kind_of(left, library), kind_of(right, library)
    for name, column, kind in zip(names, (left, right), kinds, strict=True):
        if kind is None:
            raise _incomparable(name, column)
    if kinds[0] != kinds[1]:
        raise _unlike(test, left, f"column {names[1]!r} {_plain(right).dtype}")
    if kinds[0] == "time" and (_zone(left) is None) != (_zone(right) is None):
        without, other = names if _zone(left) is None else names[::-1]
        raise TravError(
            f"where= compares column {without!r}, whose times have no time zone, with column {other!r}, "
            f"whose times have one: give both a zone, for example with dt.tz_localize('UTC'), or neither."
        )
    if test.operator not in ("==", "!=") and (_has_own_order(left) or _has_own_order(right)):
        if not all(map(_is_category, (left, right))) or not same_categories(left.dtype, right.dtype):
            ordered, other = names if _has_own_order(left) else names[::-1]
            raise TravError(
                f"where= compares column {ordered!r} by {test.operator}, whose categories have an order of "
                f"their own, with column {other!r}, which does not have the same: give both the same ordered "
                f"categories, or compare by == or !=."
            )
        left, right = library.codes(left), library.codes(right)
    left, right = _plain(left), _plain(right)
    if kinds[0] == "number":
        return _asked(test, left, lambda: compared_columns(test.operator, left, right, library), library)
    return _asked(test, left, lambda: library.array(OPERATORS[test.operator](left, right)), library)


def _with_value(test: Comparison, left: Series, library: Library) -> Array:
    value: Values = test.other
    kind = kind_of(left, library)
    of_value = {bool: "truth", str: "text"}.get(type(value), "number")
    if kind is None:
        raise _incomparable(test.column.name, left)
    if kind in ("time", "date") and isinstance(value, str):
        value = _moment(test, left, kind, value)
    elif kind == "duration" and isinstance(value, str):
        value = _duration(test, value)
    elif kind != of_value:
        named = {"truth": "true or false", "number": "a number"}.get(of_value, of_value)
        raise _unlike(test, left, f"{written(value)} is {named}")
    if test.operator not in ("==", "!=") and _has_own_order(left):
        place = _place_among(test, left, value)
        return OPERATORS[test.operator](library.array(library.codes(left)), place)
    left = _plain(left)
    if kind == "number":
        return _asked(test, left, lambda: compared_with_number(test.operator, left, value, library), library)
    return _asked(test, left, lambda: library.array(OPERATORS[test.operator](left, value)), library)


def _asked(test: Comparison, left: Series, compare: Callable[[], Array], library: Library) -> Array:
    try:
        return compare()
    except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
        raise TravError(
            f"where= compares column {test.column.name!r} of {left.dtype} by {test.operator}, which "
            f"{library.name} does not support ({first_line(error)}): compare it with values of its type."
        ) from error


def _is_category(column: Series) -> bool:
    return hasattr(column.dtype, "categories")


def _has_own_order(column: Series) -> bool:
    """Return whether a column has ordered categories whose order is not that of their values."""
    dtype = column.dtype
    return bool(_is_category(column) and dtype.ordered and not dtype.categories.is_monotonic_increasing)


def _place_among(test: Comparison, column: Series, value: object) -> int:
    """Return the place of a value among the ordered categories of a column."""
    categories = column.dtype.categories
    categories = categories.to_pandas() if hasattr(categories, "to_pandas") else categories
    if value not in categories:
        raise TravError(
            f"where= compares column {test.column.name!r} by {test.operator} with {written(test.other)}, "
            f"which is not one of its ordered categories: compare it with one of {listed(categories)}."
        )
    return int(categories.get_loc(value))


def _moment(test: Comparison, left: Series, kind: str, text: str) -> object:
    try:
        if not re.match(r"\d{4}-\d\d-\d\d", text):  # pandas accepts much more, such as "now"
            raise ValueError(text)
        if kind == "date":
            return date.fromisoformat(text)
        moment = pd.Timestamp(text)
    except ValueError:
        with_hour = " or '2026-05-31T12:00'" if kind == "time" else ""
        raise TravError(
            f"where= compares column {test.column.name!r} of {left.dtype} with {written(text)}: write a date "
            f"as '2026-05-31'{with_hour}."
        ) from None
    zone = _zone(left)
    if zone is None and moment.tzinfo is not None:
        raise TravError(
            f"where= compares column {test.column.name!r}, whose times have no time zone, with "
            f"{written(text)}: leave out the zone."
        )
    return moment.tz_localize(zone) if zone is not None and moment.tzinfo is None else moment


def _zone(column: Series) -> str | tzinfo | None:
    """Return the time zone of a column of times, which has rows; None if it has none."""
    dtype = getattr(getattr(column.dtype, "categories", None), "dtype", column.dtype)
    if is_object(dtype):
        return getattr(column.iloc[0], "tzinfo", None)
    return getattr(dtype, "tz", None) or getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None)


def _duration(test: Comparison, text: str) -> object:
    try:
        return pd.Timedelta(text)
    except ValueError:
        raise TravError(
            f"where= compares durations of column {test.column.name!r} with {written(text)}: write one as "
            f"'90min' or '1 day'."
        ) from None


def _plain(column: Series) -> Series:
    """Return the column with its values in place of categories."""
    categories = getattr(column.dtype, "categories", None)
    return column if categories is None else column.astype(categories.dtype)


def _nulls(column: Series, library: Library) -> Array:
    if isinstance(column.dtype, NAN_IS_NOT_NULL) and column.dtype.kind == "f":
        return np.isnan(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return library.array(column.isna())


def kind_of(column: Series, library: Library) -> str | None:
    """Return a column's kind: number, truth, text, time, date or duration; None for anything else."""
    dtype = getattr(getattr(column.dtype, "categories", None), "dtype", column.dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return _kind_of_arrow(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.StringDtype) or (is_object(dtype) and library.name == "cudf"):
        return "text"
    if type(dtype).__name__.startswith("Decimal"):
        return "number"
    if is_object(dtype):
        values = column if is_object(column.dtype) else column.astype(object)
        return OF_OBJECTS.get(pd.api.types.infer_dtype(values, skipna=True))
    kinds = {"b": "truth", "i": "number", "u": "number", "f": "number", "M": "time", "m": "duration"}
    return kinds.get(getattr(dtype, "kind", ""))


def _kind_of_arrow(kind: pa.DataType) -> str | None:
    types = pa.types
    for named, tests in {
        "truth": (types.is_boolean,),
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "text": (types.is_string, types.is_large_string),
        "time": (types.is_timestamp,),
        "date": (types.is_date,),
        "duration": (types.is_duration,),
    }.items():
        if any(test(kind) for test in tests):
            return named
    return None


def _incomparable(name: str, column: Series) -> TravError:
    return TravError(
        f"where= compares column {name!r} of {column.dtype}, whose values conditions cannot compare: convert "
        f"it to numbers, text, dates, timestamps or durations, or give a mask."
    )


def _unlike(test: Comparison, left: Series, other: str) -> TravError:
    return TravError(
        f"where= compares different kinds of values: column {test.column.name!r} holds {_plain(left).dtype}, "
        f"and {other}; compare it with values of its own kind, with text and dates in quotes."
    )
