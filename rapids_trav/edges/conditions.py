"""Evaluation of conditions on a frame of edges, of pandas or cuDF, in three-valued logic.

The values are true, false and null.  A comparison with a null is null; `and`, `or` and `not` are those of
Kleene, as in SQL.  NaN counts as null.  Integers are compared exactly with any number.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.edges.expressions import AllOf, AnyOf, Column, Comparison, IsNull, Not, Test
from rapids_trav.errors import TravError, first_line, written
from rapids_trav.frames.columns import Array, Dtype, Frame, Series, Values
from rapids_trav.ids.maps import Library

OPERATORS: dict[str, Callable[[Values, Values], Values]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
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
        test = Comparison(_checked_flags(test, frame, library), "==", True)
    return _compared(test, frame, library)


def _checked_flags(column: Column, frame: Frame, library: Library) -> Column:
    dtype = frame[column.name].dtype
    if kind_of(frame[column.name], library) not in ("truth", None):
        raise TravError(
            f"where= uses column {column.name!r} as a condition, but it holds {dtype}: compare it with a "
            f"value."
        )
    return column


def _compared(test: Comparison, frame: Frame, library: Library) -> Truth:
    left = _plain(frame[test.column.name])
    right = _plain(frame[test.other.name]) if isinstance(test.other, Column) else None
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
    kinds = kind_of(left, library), kind_of(right, library)
    if kinds[0] != kinds[1] or None in kinds:
        raise _unlike(test, left, f"column {test.other.name!r} {right.dtype}")  # type: ignore[union-attr]
    return _asked(test, left, right, library)


def _with_value(test: Comparison, left: Series, library: Library) -> Array:
    value: Values = test.other
    kind = kind_of(left, library)
    of_value = {bool: "truth", str: "text"}.get(type(value), "number")
    if kind in ("time", "date") and isinstance(value, str):
        value = _moment(test, left, kind, value)
    elif kind == "duration" and isinstance(value, str):
        value = _duration(test, value)
    elif kind != of_value:
        raise _unlike(test, left, f"{written(value)} is {_named(of_value)}")
    if kind == "number" and left.dtype.kind in "iu":
        return _integers(test.operator, library.array(left), value, library)
    return _asked(test._replace(other=value), left, value, library)


def _asked(test: Comparison, left: Series, right: object, library: Library) -> Array:
    try:
        return library.array(OPERATORS[test.operator](left, right))
    except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
        raise TravError(
            f"where= compares column {test.column.name!r} of {left.dtype} by {test.operator}, which "
            f"{library.name} does not support ({first_line(error)}): compare it with values of its type."
        ) from error


def _integers(sign: str, values: Array, number: float, library: Library) -> Array:
    """Compare integers of up to 64 bits with any number, without rounding them to floats."""
    every, none = library.xp.ones(len(values), dtype=bool), library.xp.zeros(len(values), dtype=bool)
    if isinstance(number, float) and not number.is_integer():
        if sign in ("==", "!="):
            return every if sign == "!=" else none
        below = sign in ("<", "<=")  # below a fraction means up to the integer before it
        sign, number = ("<=", math.floor(number)) if below else (">=", math.ceil(number))
    number, limits = int(number), np.iinfo(values.dtype)
    if number > limits.max:
        return every if sign in ("<", "<=", "!=") else none
    if number < limits.min:
        return every if sign in (">", ">=", "!=") else none
    return OPERATORS[sign](values, values.dtype.type(number))


def _moment(test: Comparison, left: Series, kind: str, text: str) -> object:
    try:
        if not re.match(r"\d{4}-\d\d-\d\d", text):  # pandas accepts much more, such as "now"
            raise ValueError(text)
        if kind == "date":
            return date.fromisoformat(text)
        moment = pd.Timestamp(text)
    except ValueError:
        raise TravError(
            f"where= compares column {test.column.name!r} of {left.dtype} with {written(text)}: write a date "
            f"as '2026-05-31' or '2026-05-31T12:00'."
        ) from None
    zone = getattr(left.dtype, "tz", None) or getattr(getattr(left.dtype, "pyarrow_dtype", None), "tz", None)
    if zone is None and moment.tzinfo is not None:
        raise TravError(
            f"where= compares column {test.column.name!r}, whose times have no time zone, with "
            f"{written(text)}: leave out the zone."
        )
    return moment.tz_localize(zone) if zone is not None and moment.tzinfo is None else moment


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
    return library.array(column.isna())


def kind_of(column: Series, library: Library) -> str | None:
    """Return a column's kind: number, truth, text, time, date or duration; None for anything else."""
    dtype = getattr(getattr(column.dtype, "categories", None), "dtype", column.dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return _kind_of_arrow(dtype.pyarrow_dtype)
    if isinstance(dtype, pd.StringDtype) or (_is_object(dtype) and library.name == "cudf"):
        return "text"
    if type(dtype).__name__.startswith("Decimal"):
        return "number"
    if _is_object(dtype):
        values = column if _is_object(column.dtype) else column.astype(object)
        return OF_OBJECTS.get(pd.api.types.infer_dtype(values, skipna=True))
    kinds = {"b": "truth", "i": "number", "u": "number", "f": "number", "M": "time", "m": "duration"}
    return kinds.get(getattr(dtype, "kind", ""))


def _is_object(dtype: Dtype) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


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


def _named(kind: str) -> str:
    return {"truth": "true or false", "number": "a number"}.get(kind, kind)


def _unlike(test: Comparison, left: Series, other: str) -> TravError:
    return TravError(
        f"where= compares different kinds of values: column {test.column.name!r} holds {left.dtype}, and "
        f"{other}; compare it with values of its own kind, with text and dates in quotes."
    )
