"""Filters of the edges: the values that `where` accepts, and the flags of the rows that it keeps.

A filter is the name of a boolean column, a condition on columns (`edges.expressions`), or a mask, which has a
flag for each edge by position.  A graph caches the edges of its most recent filter.  It identifies a filter
by the name, the normal form of the condition, or the flags of the mask.  A mask is copied, eight flags to a
byte, so a mask that the caller changes in place counts as a different one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.edges.conditions import evaluate, kind_of
from rapids_trav.edges.expressions import WORDS, Column, Expression, parse, written_out
from rapids_trav.errors import TravError, UnknownColumnError, a_type, listed, written
from rapids_trav.frames.columns import Array, Frame, Series, Values, library_of, move, require_column
from rapids_trav.ids.maps import Library

Where = Hashable  # a filter in the graph's own form: the name of a column, an `Expression` or a `Mask`
Filter = Hashable | np.ndarray | pd.Series | None  # a filter from the caller; CuPy and cuDF types as well

ARRAYS = ("__array__", "__cuda_array_interface__")  # every array has one of them
EXAMPLES = {  # what a column of each kind may be compared with
    "number": "> 3",
    "text": "== 'a'",
    "time": ">= '2026-05-31'",
    "date": ">= '2026-05-31'",
    "duration": "> '90min'",
}
LAZY = ("polars", "pyarrow", "duckdb")  # packages whose expressions are computed only on a frame of theirs
FILLS = ("fillna", "fill_null")  # of pandas and cuDF, and of polars and pyarrow


class Mask:
    """Flags of the edges by position, on the host or on the GPU; equal to another with the same flags."""

    def __init__(self, flags: Array) -> None:
        host = isinstance(flags, np.ndarray)
        self._xp: ModuleType = np if host else import_module("cupy")
        self._bits = self._xp.packbits(flags)
        self.n_edges, self.n_true = len(flags), int(flags.sum())

    @classmethod
    def of(cls, given: object, n_edges: int, index: Series | None = None) -> Mask:
        """Make a mask from the caller's flags; refuse them unless they have one for each edge, in order."""
        flags = _flags_given(given)
        if len(flags) != n_edges:
            raise TravError(
                f"where is a mask of {len(flags):,} flags, but there are {n_edges:,} edges: give one flag "
                f"for each."
            )
        if index is not None and library_of(given, ("Series",)) and not _alike(index, given):
            raise TravError(
                "where is a Series whose index is not that of the edges, but a mask applies by position: "
                "bring it into their order, or give its to_numpy()."
            )
        return cls(flags)

    def part(self, first: int, last: int) -> Array:
        """Return the flags of the edges `first` to `last` - 1."""
        begin = first // 8
        flags = self._xp.unpackbits(self._bits[begin : -(-last // 8)])
        return flags[first - 8 * begin : last - 8 * begin].astype(bool)

    def at(self, edges: Array) -> Array:
        """Return the flags of edges by number, in the memory of the mask."""
        edges = move(edges, self._xp)
        return (self._bits[edges // 8] >> (7 - edges % 8).astype(np.uint8) & 1).astype(bool)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask) or (self.n_edges, self.n_true) != (other.n_edges, other.n_true):
            return False
        return bool((self._bits == self._xp.asarray(move(other._bits, self._xp))).all())

    def __hash__(self) -> int:
        return hash((self.n_edges, self.n_true))

    def __repr__(self) -> str:
        """Return a text with a digest of the flags, so that texts of different masks differ."""
        digest = hashlib.blake2b(move(self._bits, np).tobytes(), digest_size=6).hexdigest()
        return f"<mask {digest}: {self.n_true:,} of {self.n_edges:,} edges>"


def _alike(index: Series, given: object) -> bool:
    """Return whether a Series of either library has this index."""
    own: Series = getattr(given, "index", None)
    if hasattr(index, "to_pandas") != hasattr(own, "to_pandas"):
        index, own = (one.to_pandas() if hasattr(one, "to_pandas") else one for one in (index, own))
    return bool(index.equals(own))


def is_mask(where: object) -> bool:
    """Return whether a filter is an array or a Series of any type."""
    if isinstance(where, (str, bytes, np.generic)) or library_of(where) is not None:
        return False
    return library_of(where, ("Series",)) is not None or any(map(partial(hasattr, where), ARRAYS))


def resolved(where: object, columns: Sequence[Hashable]) -> Where | None:
    """Return a column name or a condition in the graph's own form; `Mask.of` does the same for masks.

    A text that is the name of a column stands for that column, even if it also parses as a condition.
    """
    if where is None or isinstance(where, Expression | Mask):
        return where
    check_name(where)
    assert isinstance(where, Hashable)
    if isinstance(where, str) and where not in set(columns) and not re.fullmatch(r"[^\W\d]\w*", where):
        return parse(where, columns)
    check_column(where, columns)
    return where


def columns_of(where: Where | None) -> Sequence[Hashable]:
    """Return the columns that a filter reads."""
    if where is None or isinstance(where, Mask):
        return ()
    return where.columns if isinstance(where, Expression) else (where,)


def flags_of(frame: Frame, where: Where, library: Library, first: int) -> Array:
    """Return a flag for each row of a frame whose first row is edge number `first`; refuse nulls."""
    if isinstance(where, Mask):
        return where.part(first, first + len(frame))
    if not isinstance(where, Expression):
        return mask(frame, where, library)
    true, false = evaluate(where.test, frame, library)
    if nulls := len(frame) - int((true | false).sum()):
        raise NullFlagsError(where, nulls, of_objects=False)
    return true


def _flags_given(given: Values) -> Array:
    """Return the flags of a mask as a boolean array, in the memory that they are in."""
    if library_of(given, ("Series",)) == "dask":
        raise TravError("where is a Dask Series, whose flags are not computed: give its compute().")
    if nulls := _nulls_of(given):
        raise _null_mask(given, nulls)
    if library_of(given, ("Series",)) == "cudf":
        flags = given.to_cupy()
    elif hasattr(given, "to_numpy") and not isinstance(given, pa.Array):  # whose bits it does not unpack
        flags = given.to_numpy()
    else:
        flags = given if hasattr(given, "__cuda_array_interface__") else np.asarray(given)
    if flags.dtype == object and flags.ndim == 1:
        known = flags[~pd.isna(flags)]
        if all(isinstance(flag, (bool, np.bool_)) for flag in known):
            if len(known) < len(flags):
                raise _null_mask(given, len(flags) - len(known))
            flags = flags.astype(bool)
    if flags.dtype != bool or flags.ndim != 1:
        raise TravError(
            f"where is an array of {flags.dtype} with the shape {flags.shape}: give one flag, true or false, "
            f"for each edge."
        )
    return flags


def _nulls_of(given: Values) -> int:
    """Return the nulls of a Series or of an array of Arrow; other arrays are looked through as flags."""
    if hasattr(given, "isna"):
        return int(given.isna().sum())
    if isinstance(given, np.ma.MaskedArray):
        return int(np.ma.getmaskarray(given).sum())
    count = getattr(given, "null_count", 0)  # a method in polars, a property in pyarrow
    return int(count() if callable(count) else count)


def _null_mask(given: Values, nulls: int) -> TravError:
    fill = next((f", for example with mask.{name}(False)" for name in FILLS if hasattr(given, name)), "")
    return TravError(
        f"where is a mask with {nulls} null{'s' if nulls > 1 else ''}: fill {'them' if nulls > 1 else 'it'} "
        f"first{fill}."
    )


class NullFlagsError(TravError):
    """Nulls in the boolean column that `where` names, or in the result of its condition."""

    def __init__(self, where: Hashable, nulls: int, of_objects: bool) -> None:
        as_bool = ".astype(bool)" if of_objects else ""
        if isinstance(where, Expression):
            first = written_out(Column(where.columns[0]))
            message = (
                f"where={where!r} is null for {nulls} edge{'s' if nulls > 1 else ''}, because a column that "
                f"it compares is: decide about nulls, for example with `{first} is not null and (...)`."
            )
        else:
            message = (
                f"where={where!r} holds {nulls} null{'s' if nulls > 1 else ''}: "
                f"fill {'them' if nulls > 1 else 'it'} first, with edges[{where!r}].fillna(False){as_bool} "
                f"or, in polars, fill_null(False)."
            )
        super().__init__(message)
        self.where, self.nulls, self.of_objects = where, nulls, of_objects

    def __reduce__(self) -> tuple:
        return type(self), (self.where, self.nulls, self.of_objects)


def mask(frame: Frame, where: Hashable, library: Library) -> Array:
    """Return the flags of a boolean column; refuse other types and nulls."""
    column = frame[where]
    nulls = library.null_count(column)
    if column.dtype.kind != "b" and not (nulls and _booleans(column, library)):
        if _booleans(column, library):
            helps = f"name a boolean one, for example edges[{where!r}].astype(bool)"
        elif isinstance(where, str) and (value := EXAMPLES.get(kind_of(column, library) or "")):
            condition = f"{written_out(Column(where))} {value}"
            helps = f"compare it with a value, as in where={condition!r}, or name a boolean one"
        else:
            helps = (
                f"name a boolean one, for example with a column that compares it, edges[{where!r}] == value"
            )
        raise TravError(f"where={where!r} is a column of {column.dtype}: {helps}.")
    if nulls:
        raise NullFlagsError(where, nulls, of_objects=column.dtype.kind != "b")
    return library.array(column)


def _booleans(column: Series, library: Library) -> bool:
    """Return whether a pandas column of objects holds only booleans and nulls."""
    return bool(
        library.name == "pandas" and column.dtype == object and column.dropna().isin([True, False]).all()
    )


def check_name(where: object) -> None:
    """Refuse a filter that can be neither the name of a column nor the text of a condition."""
    if _package(where) in LAZY and re.search("expr", f"{type(where)}", re.IGNORECASE):  # some are hashable
        flags = "edges.select(where).to_series()" if _package(where) == "polars" else "an array of booleans"
        raise TravError(
            f"where is an expression of {_package(where)}: give the text of a condition, such as 'weight > "
            f"3', or a mask, {flags}."
        )
    if not isinstance(where, Hashable) or isinstance(where, bool) or callable(where):
        raise TravError(
            f"where is {a_type(where)}: give the name of a column, a condition such as "
            f"'weight > 3', or an array or Series of booleans."
        )


def _package(value: object) -> str:
    """Return the name of the package of a value's type, such as "duckdb" for the module `_duckdb`."""
    return type(value).__module__.partition(".")[0].removeprefix("_")


def check_column(where: Hashable, columns: Sequence[Hashable]) -> None:
    """Refuse a filter that names no column, or more than one."""
    if where not in set(columns):  # compare by hash, as in `require_column`
        if isinstance(where, str) and where.lower() in WORDS:
            raise UnknownColumnError(
                f"where={where!r} is a word of the grammar of conditions, not a column: write a condition "
                f"such as 'weight > 3', or name one of {listed(columns)}."
            )
        raise UnknownColumnError(
            f"Column {written(where)} is not in the edges: choose one of {listed(columns)}; "
            f"after adding a column, build the graph again."
        )
    require_column(columns, where)


def refuse_filter(where: object) -> None:
    """Refuse every filter but None: a saved graph has no columns to filter by."""
    if where is None:
        return
    what = "where=<a mask>"
    if not is_mask(where):
        check_name(where)
        what = f"where={where!r}"
    raise TravError(
        f"{what} needs the columns of the edges, which a saved graph does not keep: "
        f"build the graph from its edges."
    )


def refuse_mask(where: object) -> None:
    """Refuse a mask, since edges on several workers have no positions."""
    if is_mask(where):
        raise TravError(
            f"where is {a_type(where)}, and a graph on the workers of a cluster takes no masks: "
            f"write a condition such as 'weight > 3', or add the mask to the edges as a column and name that."
        )
