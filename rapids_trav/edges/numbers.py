"""Comparison of columns of numbers, exactly: 64-bit integers are not rounded to floats, nor decimals.

A number with a point is read in the type of the column beside it: 0.1 is the float32 nearest to it beside
float32, and one tenth beside decimals.  Columns have no nulls here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rapids_trav.frames.columns import Array, Dtype, Series, Values
from rapids_trav.ids.maps import Library

OPERATORS: dict[str, Callable[[Values, Values], Values]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
IN_ARROW = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


def compared_with_number(sign: str, column: Series, number: float, library: Library) -> Array:
    """Return where a column of numbers stands in this relation to a number."""
    if column.dtype.kind in "iu":
        return _integers(sign, library.array(column), number, library.xp)
    if column.dtype.kind == "f":
        return _floats(sign, library.array(column), number, library.xp)
    given: Values = Decimal(repr(number)) if isinstance(number, float) and _holds_decimals(column) else number
    if library.name == "cudf":
        return library.array(OPERATORS[sign](column, given))
    if isinstance(column.dtype, pd.ArrowDtype):
        try:
            scalar = pa.scalar(Decimal(given), column.dtype.pyarrow_dtype)
            return pc.call_function(IN_ARROW[sign], [pa.array(column.array), scalar]).to_numpy()
        except pa.ArrowInvalid:  # more digits than the column has
            pass
    return _objects(sign, column, given)


def compared_columns(sign: str, left: Series, right: Series, library: Library) -> Array:
    """Return where two columns of numbers stand in this relation."""
    if left.dtype.kind in "iuf" and right.dtype.kind in "iuf":
        return _arrays(sign, library.array(left), library.array(right), library.xp)
    if library.name == "cudf" or (left.dtype == right.dtype and isinstance(left.dtype, pd.ArrowDtype)):
        return library.array(OPERATORS[sign](left, right))
    return _objects(sign, left, right.astype(object).to_numpy())


def _holds_decimals(column: Series) -> bool:
    if column.dtype == object:
        return pd.api.types.infer_dtype(column) == "decimal"
    return True


def _objects(sign: str, column: Series, other: object) -> Array:
    """Compare Python numbers, which is exact whatever their types."""
    return np.asarray(OPERATORS[sign](column.astype(object).to_numpy(), other), dtype=bool)


def _integers(sign: str, values: Array, number: float, xp: ModuleType) -> Array:
    every, none = xp.ones(len(values), dtype=bool), xp.zeros(len(values), dtype=bool)
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


def _floats(sign: str, values: Array, number: float, xp: ModuleType) -> Array:
    nearest = _nearest(number, values.dtype)
    exactly = float(nearest)  # Python compares it exactly with any integer
    if exactly == number or (isinstance(number, float) and math.isfinite(exactly)):
        return OPERATORS[sign](values, nearest)
    # An integer between two floats, or a number beyond all of them: no float lies between it and `nearest`.
    if sign in ("==", "!="):
        return xp.full(len(values), sign == "!=")
    above = exactly > number
    below = sign in ("<", "<=")
    return OPERATORS[("<" if above else "<=") if below else (">=" if above else ">")](values, nearest)


def _nearest(number: float, dtype: Dtype) -> np.floating:
    """Return the float of this dtype that is nearest to a number, or infinite beyond the largest."""
    try:
        with np.errstate(over="ignore"):
            return dtype.type(float(number))
    except OverflowError:
        return dtype.type(math.copysign(math.inf, number > 0 or -1))


def _arrays(sign: str, left: Array, right: Array, xp: ModuleType) -> Array:
    kinds = {left.dtype.kind, right.dtype.kind}
    whole = max((one.dtype.itemsize for one in (left, right) if one.dtype.kind in "iu"), default=0)
    if len(kinds) == 1 or whole < 8:  # both types are part of one that holds either
        return OPERATORS[sign](left, right)
    swapped = right.dtype.kind == "i" or (right.dtype.kind == "u" and left.dtype.kind == "f")
    first, second = (right, left) if swapped else (left, right)
    less, equal = (_beside_floats if "f" in kinds else _beside_unsigned)(first, second, xp)
    if swapped:
        less = ~(less | equal)
    return {
        "==": lambda: equal,
        "!=": lambda: ~equal,
        "<": lambda: less,
        "<=": lambda: less | equal,
        ">": lambda: ~(less | equal),
        ">=": lambda: ~less,
    }[sign]()


def _beside_floats(whole: Array, given: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Return where integers of 64 bits are less than floats, and where they are equal."""
    given = given.astype(np.float64, copy=False)
    low, high = (0.0, 2.0**64) if whole.dtype.kind == "u" else (-(2.0**63), 2.0**63)
    floor = xp.floor(given)
    inside = (floor >= low) & (floor < high)
    part = xp.where(inside, floor, 0.0).astype(whole.dtype)
    same = inside & (whole == part)
    less = xp.where(inside, (whole < part) | (same & (given > floor)), floor >= high)
    return less, same & (given == floor)


def _beside_unsigned(signed: Array, unsigned: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Return where signed integers are less than unsigned ones, and where they are equal."""
    negative = signed < 0
    size = xp.where(negative, 0, signed).astype(np.uint64)
    return negative | (size < unsigned), ~negative & (size == unsigned)
