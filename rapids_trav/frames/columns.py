"""Frames and columns: which library they are of, columns with nulls, and arrays moved to or from the GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rapids_trav.errors import TravError, UnknownColumnError, listed, plain, written

Array = Any
Series = Any
Frame = Any
Values = Any  # a list, an array, a column or a frame, as the caller passes it
Dtype = Any  # a type of NumPy, pandas, PyArrow or cuDF

FEW = 64  # up to this many values are looked up one by one


class Masked(NamedTuple):
    """A column with nulls: `values` where `valid`, null elsewhere."""

    values: Array
    valid: Array


class BitMasked(NamedTuple):
    """A column on the GPU with Arrow's bits for nulls; to count them may wait for the GPU."""

    values: Array
    bits: Array
    null_count: Callable[[], int]


Column = Array | Masked | Series  # anything that can become a column of a frame


def library_of(obj: object, kinds: Sequence[str] = ("DataFrame",)) -> str | None:
    """Return the library ("pandas", "cudf" or "dask") of a frame or other kind of object; None for others."""
    for base in type(obj).__mro__:
        module = base.__module__.partition(".")[0]
        if base.__name__ in kinds and module in ("pandas", "cudf", "dask", "dask_cudf"):
            return module.removesuffix("_cudf")
    return None


def id_names(name: str, width: int) -> list[str]:
    """Return the column names of an id: `name` for one column; `name_0`, `name_1` and so on for several."""
    return [name] if width == 1 else [f"{name}_{i}" for i in range(width)]


def move(array: Array, xp: ModuleType) -> Array:
    """Return the array in the memory where `xp` computes; it is not copied if it is there already."""
    if xp is np:
        return array.get() if hasattr(array, "get") else np.asarray(array)
    return xp.asarray(array)


def written_id(frame: Frame, columns: Iterable[Hashable], row: int) -> str:
    """Return the id in a row of a frame as messages show it: a value, or one for each of several columns."""
    parts = tuple(plain(frame[name].iloc[row]) for name in columns)
    return written(parts if len(parts) > 1 else parts[0])


def require_column(columns: Sequence[Hashable], name: Hashable, of: str = "the edges") -> None:
    """Refuse a column that the edges, or another frame, do not have, or have twice."""
    try:
        count = Counter(columns)[name]  # by hash: some labels cannot be compared for equality
    except TypeError:
        raise TravError(
            f"{written(name)} is not the name of a column: choose one of {listed(columns)}."
        ) from None
    if count == 0:
        raise UnknownColumnError(f"Column {written(name)} is not in {of}: choose one of {listed(columns)}.")
    if count > 1:
        raise TravError(f"Column {written(name)} occurs {count} times in {of}: rename all but one.")


def is_object(dtype: Dtype) -> bool:
    """Return whether a column of this dtype holds Python objects."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def nullable_dtype(dtype: np.dtype) -> str:
    """Return the name of pandas' nullable dtype for integers or floats."""
    return {"i": "Int", "u": "UInt", "f": "Float"}[dtype.kind] + str(8 * dtype.itemsize)
