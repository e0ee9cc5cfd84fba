"""One column of vertex ids: refused, with the remedy, or read into the form in which it is renumbered.

- Nulls, booleans, fractions and mixtures of kinds are refused.
- Integers of any width and sign are read as they are; whole floats as integers.
- Categoricals stay as they are; everything else is factorized.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .errors import TravError
from .frames import move
from .ids import Array, Column, Library


@dataclass(frozen=True)
class IdColumn:
    """One column of ids, read: `kind` is "integer", "category" or "value"."""

    name: Hashable
    kind: str
    dtype: Any
    rows: int
    data: Any


def read(name: Hashable, column: Column, library: Library, xp: Any) -> IdColumn:
    """Check one column of ids and bring it into the form in which it is renumbered."""
    if nulls := library.null_count(column):
        raise TravError(
            f"Column {name!r} holds {nulls} null{'s' if nulls > 1 else ''}, and a null is no vertex: "
            f"drop those rows first, for example with edges.dropna(subset=[{name!r}])."
        )
    dtype, rows = column.dtype, len(column)
    if hasattr(dtype, "categories"):
        return IdColumn(name, "category", dtype, rows, column)
    if is_object(dtype) and rows and library.name == "pandas":
        column = _infer(name, column)
        dtype = column.dtype
    if dtype.kind == "b":
        raise TravError(
            f"Column {name!r} is boolean, which names no vertices: "
            f"convert it, for example with astype('int8')."
        )
    if dtype.kind == "f":
        return IdColumn(name, "integer", dtype, rows, _whole(name, column, library, xp))
    if dtype.kind in "iu":
        return IdColumn(name, "integer", dtype, rows, move(library.array(column), xp))
    if dtype.kind == "c":
        raise TravError(f"Column {name!r} is complex, which has no order: use integers or strings as ids.")
    return IdColumn(name, "value", dtype, rows, library.factorize(column))


def _infer(name: Hashable, column: Column) -> Column:
    """Python objects that are all integers, or all floats, are read as such; mixed ones have no order."""
    inferred = pd.api.types.infer_dtype(column, skipna=False)
    if inferred in ("integer", "floating", "mixed-integer-float", "boolean"):
        target = {"integer": "int64", "boolean": "bool"}.get(inferred, "float64")
        try:
            return column.astype(target)
        except OverflowError:
            return column.astype("uint64")
    if inferred == "mixed-integer":
        kinds = sorted({type(value).__name__ for value in column})
        raise TravError(
            f"Column {name!r} mixes {' and '.join(kinds)}: convert it to one kind of id, "
            f"for example with astype(str)."
        )
    return column


def _whole(name: Hashable, column: Column, library: Library, xp: Any) -> Array:
    """Floats that are integers, as integers."""
    values = move(library.array(column), xp)
    bad = ~(xp.abs(values) < 2.0**63)
    bad |= xp.floor(values) != values
    if bad.any():
        value = float(values[int(bad.argmax())])
        raise TravError(
            f"Column {name!r} holds {value!r}, which is not a whole number that fits 64 bits: "
            f"round it, or use astype(str) to take the values as labels."
        )
    return values.astype(np.int64)


def is_object(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind == "O"
