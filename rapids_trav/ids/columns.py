"""Checks one column of vertex ids and reads it into the form in which it is renumbered.

- Nulls, booleans, fractions and mixtures of kinds are refused, with a remedy in the error.
- Integers of any width and sign are read unchanged; whole floats are read as integers.
- Categoricals stay unchanged; everything else is factorized.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import TravError, plain, written
from rapids_trav.frames.columns import Dtype, move
from rapids_trav.frames.pandas_frames import check_arrow
from rapids_trav.ids.maps import Array, Column, Library

TEXT, INT8, INT64 = "astype(str)", "astype('int8')", "astype('int64')"  # remedies, as pandas has them


class NullIdsError(TravError):
    """A column of ids holds nulls; `remedy` is how the caller's library drops them."""

    def __init__(self, column: Hashable, nulls: int, remedy: str) -> None:
        super().__init__(
            f"Column {column!r} holds {nulls} null{'s' if nulls > 1 else ''}, and a null is not a vertex: "
            f"drop {'those rows' if nulls > 1 else 'that row'} first, with {remedy}."
        )
        self.column = column
        self.nulls = nulls
        self.remedy = remedy

    def __reduce__(self) -> tuple:
        return type(self), (self.column, self.nulls, self.remedy)


@dataclass(frozen=True)
class IdColumn:
    """One column of ids after reading; `kind` is "integer", "category" or "value"."""

    name: Hashable
    kind: str
    dtype: Dtype
    rows: int
    data: Any  # integers, a column of the categorical dtype, or codes and the distinct values


def read(name: Hashable, column: Column, library: Library, xp: ModuleType) -> IdColumn:
    """Check one column of ids and convert it to the form in which it is renumbered."""
    plain_integers = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu"
    if plain_integers and not library.null_count(column):
        return IdColumn(name, "integer", column.dtype, len(column), move(library.array(column), xp))
    if names_nothing(column.dtype):
        raise TravError(
            f"Column {name!r} is of type {column.dtype}, whose values cannot be ids: convert it to numbers, "
            f"strings or dates, or put the parts of each value into separate columns."
        )
    if library.name == "pandas":
        check_arrow(name, column)
    if (strings := library.factorize_strings(column)) is not None:
        return IdColumn(name, "value", column.dtype, len(column), strings)
    if nulls := library.null_count(column):
        raise NullIdsError(name, nulls, library.without_nulls(name, column.dtype))
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    dtype, rows = column.dtype, len(column)
    if hasattr(dtype, "categories") and dtype.categories.dtype.kind != "b":
        codes = library.codes(column)
        if rows and not 0 <= int(codes.min()) <= int(codes.max()) < len(dtype.categories):
            raise TravError(
                f"Column {name!r} is damaged (a code leads outside its {len(dtype.categories)} categories): "
                f"make it anew."
            )
        return IdColumn(name, "category", dtype, rows, column)
    if is_object(dtype) and rows and library.name == "pandas":
        column = _infer(name, column)
        dtype = column.dtype
    if dtype.kind == "b" or hasattr(dtype, "categories"):
        raise TravError(
            f"Column {name!r} is boolean, and booleans cannot be ids: "
            f"convert it, for example with {library.remedy(INT8)}."
        )
    if dtype.kind == "f":
        return IdColumn(name, "integer", dtype, rows, _whole(name, column, library, xp))
    if dtype.kind in "iu":
        return IdColumn(name, "integer", dtype, rows, move(library.array(column), xp))
    if dtype.kind == "c":
        raise TravError(f"Column {name!r} is complex, which has no order: use integers or strings as ids.")
    if str(dtype).startswith("interval"):
        raise TravError(
            f"Column {name!r} holds intervals, which cannot be ids: convert it, for example with "
            f"{library.remedy(TEXT)}."
        )
    try:
        return IdColumn(name, "value", dtype, rows, library.factorize(column))
    except (TypeError, ValueError) as error:
        if isinstance(value := column.iloc[0], (list, dict, set, np.ndarray)):
            raise TravError(
                f"Column {name!r} holds {written(value)}, which cannot be an id: put its parts into separate "
                f"columns."
            ) from error
        raise TravError(
            f"Column {name!r} holds values that cannot be compared ({error}): "
            f"convert it, for example with {library.remedy(TEXT)}."
        ) from error


def _infer(name: Hashable, column: Column) -> Column:
    """Convert Python objects that are all numbers to numbers; refuse mixed kinds, which have no order."""
    inferred = pd.api.types.infer_dtype(column, skipna=False)
    if inferred in ("floating", "boolean"):
        return column.astype("float64" if inferred == "floating" else "bool")
    if inferred in ("integer", "mixed-integer-float"):
        return _integers(name, column)
    if inferred == "mixed-integer":
        kinds = sorted({type(value).__name__ for value in column})
        raise TravError(
            f"Column {name!r} mixes {' and '.join(kinds)}: convert it to one kind of id, "
            f"for example with astype(str)."
        )
    return column


def _integers(name: Hashable, column: Column) -> Column:
    """Convert Python integers, with any whole floats among them, to 64 bits (float64 would round them)."""
    for value in map(plain, column):
        if not -(2**63) <= value < 2**64 or value != int(value):
            raise _not_whole(name, value)
    first, last = int(min(column)), int(max(column))
    if first < 0 and last >= 2**63:
        raise TravError(no_integer_type(first, last))
    dtype = np.int64 if last < 2**63 else np.uint64
    return pd.Series(np.fromiter((int(value) for value in column), dtype, len(column)))


def no_integer_type(first: int, last: int) -> str:
    """Return the message for ids whose range no integer type can hold."""
    return (
        f"The ids reach from {first} to {last}, which no integer type holds: "
        f"shift the negative ones, or use astype(str) to take the values as labels."
    )


def _not_whole(name: Hashable, value: float, text: str = TEXT) -> TravError:
    if value == value // 1 and abs(value) != float("inf"):
        return TravError(
            f"Column {name!r} holds {written(value)}, which does not fit 64 bits: use {text} to take "
            f"the values as labels."
        )
    remedy = "drop that row" if abs(value) == float("inf") else "round it"
    return TravError(
        f"Column {name!r} holds {written(value)}, which is not a whole number: {remedy}, or use {text} "
        f"to take the values as labels."
    )


def _whole(name: Hashable, column: Column, library: Library, xp: ModuleType) -> Array:
    """Convert floats that are whole numbers to integers."""
    values = move(library.array(column), xp)
    if values.dtype.itemsize < 4:
        values = values.astype(np.float32)  # float16 cannot represent 2^63
    bad = ~((values >= -(2.0**63)) & (values < 2.0**63))
    bad |= xp.floor(values) != values
    if bad.any():
        raise _not_whole(name, float(values[int(bad.argmax())]), library.remedy(TEXT))
    return values.astype(np.int64)


def is_object(dtype: Dtype) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def names_nothing(dtype: Dtype) -> bool:
    """Return whether no value of this dtype can be an id: lists, raw bytes, what pandas cannot compare."""
    if isinstance(dtype, np.dtype):
        return dtype.kind == "V"
    if not isinstance(dtype, pd.ArrowDtype):
        return type(dtype).__name__ in ("ListDtype", "StructDtype")
    kind = dtype.pyarrow_dtype
    if (
        pa.types.is_nested(kind)
        or pa.types.is_run_end_encoded(kind)
        or isinstance(kind, pa.BaseExtensionType)
    ):
        return True
    return kind in (pa.string_view(), pa.binary_view(), pa.month_day_nano_interval(), pa.time64("ns"))
