"""Maps between the caller's vertex ids and the internal ones, 0 to n-1.

Internal ids ascend with the caller's ids, unless `degree_order` gives them another order.

An id consists of one or more columns.  This module has the maps of integers (and whole floats), which work on
the engine's arrays; `composite_ids` has those of strings, dates, categoricals and several columns.

`encoder()` returns a function from columns to internal ids, with -1 for unknown ids.  Its results are in the
engine's memory or in that of the columns; auxiliary data (a rank table) live as long as the function.
`decode` is the inverse: with `nulls`, internal id -1 becomes null.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import pandas as pd

from rapids_trav.frames.columns import Array, Dtype, Masked, Series, move
from rapids_trav.frames.libraries import Library

Column = Series
Encoder = Callable[[Sequence[Column]], Array]


class IdMap(Protocol):
    """Interface between a graph and its vertex ids."""

    @property
    def n(self) -> int:
        """Number of vertices."""

    @property
    def width(self) -> int:
        """Number of columns of an id."""

    @property
    def dtypes(self) -> tuple:
        """Dtypes of the columns, in which ids are returned."""

    @property
    def nbytes(self) -> int:
        """Bytes that the map holds."""

    @property
    def rank(self) -> Array | None:
        """Internal ids in ascending order of the caller's ids; None if internal ids ascend themselves."""

    @property
    def order(self) -> Array | None:
        """Place of each internal id in that order; None if internal ids ascend themselves."""

    @property
    def by_value(self) -> bool:
        """Whether an encoder of many values handles each separately, so that they may come in parts."""

    @property
    def ascending(self) -> IdMap:
        """The map whose internal ids ascend: this one, or the one on which it is based."""

    def placed(self, place: Array) -> Array:
        """Return internal ids of the vertices at these places of the ascending order."""

    @property
    def table(self) -> IntegerTable | None:
        """The map as explicit arrays, if ids are one column of 32- or 64-bit integers; else None."""

    @property
    def text(self) -> TextTable | None:
        """The map as addresses on the GPU, if ids are one column of strings there; else None."""

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        """Return a function from columns to internal ids, -1 for unknown ones unless all are `known`.

        With `many` it is optimized for many values.
        """

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        """Return the caller's ids as `width` columns that share no memory with the map; None: of all."""


class IntegerIds(IdMap, Protocol):
    """Map of one column of integers, on which maps of other ids are built."""

    @property
    def library(self) -> Library:
        """Frame library of the columns."""

    @property
    def xp(self) -> ModuleType:
        """Array module of the arrays."""


class IntegerTable(NamedTuple):
    """Map of plain integer ids as explicit arrays, for use in a kernel.

    Internal id `v` is the caller's `ids[place]`, or `first + place` if `ids` is None, where `place` is
    `order[v]`, or `v` itself if `order` is None; `rank` is the inverse of `order`.  `names`, unless None, has
    the caller's ids in internal order as well, which needs one look-up instead of two.
    """

    first: int
    ids: Array | None
    dtype: np.dtype
    order: Array | None = None
    rank: Array | None = None
    names: Array | None = None

    def internal(self, label: int, n: int, on_host: bool = False) -> Array | None:
        """Return the internal id of one of `n` vertices, (1,), if it can be told without reading an array.

        The ids must be a range, so that the place is known.  `rank` then has the internal id; without it, the
        place itself is the internal id, which costs nothing `on_host`.
        """
        place = label - self.first
        if self.ids is not None or not 0 <= place < n:
            return None
        if self.rank is None:
            return np.array([place], vertex_dtype(n)) if on_host else None
        return self.rank[place : place + 1]


def vertex_dtype(n: int) -> np.dtype:
    """Return the dtype of internal ids: 32 bits if that can count the vertices."""
    return np.dtype(np.int32 if n < 2**31 else np.int64)


def is_plain(dtype: Dtype, held: np.dtype) -> bool:
    """Return whether ids are returned in the dtype in which they are stored, of 32 or 64 bits."""
    return isinstance(dtype, np.dtype) and dtype == held and dtype.itemsize >= 4


def integers(column: Column, library: Library, dtype: np.dtype) -> Array:
    """Return a column or an array as integers of the sign of `dtype`, no narrower, so that no id wraps."""
    if hasattr(column, "iloc"):
        if hasattr(column.dtype, "categories"):
            column = column.astype(column.dtype.categories.dtype)
        column = library.array(column)
    return column if column.dtype.kind == dtype.kind else column.astype(wide(dtype))


def wide(dtype: np.dtype) -> np.dtype:
    """Return the 64-bit integer type of the same signedness, in which differences of ids do not overflow."""
    return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


class TextTable(NamedTuple):
    """Map of ids that are strings as addresses on the GPU, for use in a kernel.

    The string at a place of the ascending order has the bytes from `offsets[place]` to `offsets[place + 1]`.
    """

    offsets: int
    bytes: int
    offset_bytes: int  # size of an offset
    owner: object  # keeps the memory
    rank: Array | None = None  # the internal id at each place; None if internal ids ascend themselves


def table_base(first: int, last: int) -> int:
    """Return the first id of a table over this range: 0 if that costs little, which saves a subtraction."""
    return 0 if 0 <= first <= (last - first) // 4 else first


class Portable:
    """Base of objects that are pickled with the name of their array module, `xp`, instead of the module."""

    def __getstate__(self) -> dict[str, object]:
        state = dict(self.__dict__)
        if "xp" in state:
            state["xp"] = state["xp"].__name__
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if "xp" in state:
            self.__dict__["xp"] = importlib.import_module(str(state["xp"]))


Base = TypeVar("Base", bound=IdMap)


class RenumberedIds(Generic[Base]):
    """Base class of maps that give the vertices of another map, `base`, other internal ids."""

    base: Base

    @property
    def n(self) -> int:
        return self.base.n

    @property
    def width(self) -> int:
        return self.base.width

    @property
    def dtypes(self) -> tuple:
        return self.base.dtypes

    @property
    def ascending(self) -> Base:
        return self.base


class AscendingIds(Portable):
    """Base of maps whose internal ids ascend with the caller's."""

    rank: Array | None = None
    order: Array | None = None

    @property
    def table(self) -> IntegerTable | None:
        return None

    @property
    def text(self) -> TextTable | None:
        return None

    @property
    def by_value(self) -> bool:
        return False

    @property
    def ascending(self) -> Self:
        return self

    def placed(self, place: Array) -> Array:
        return place


@dataclass(frozen=True)
class RangeIds(AscendingIds):
    """Map of consecutive integers `first`, ..., `first + n - 1`; nothing is stored."""

    first: int
    n: int
    integer_dtype: np.dtype
    dtype: Dtype
    library: Library
    xp: ModuleType
    width = 1
    nbytes = 0
    by_value = True

    @property
    def dtypes(self) -> tuple:
        return (self.dtype,)

    @property
    def table(self) -> IntegerTable | None:
        return (
            IntegerTable(self.first, None, self.dtype) if is_plain(self.dtype, self.integer_dtype) else None
        )

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        internal = vertex_dtype(self.n)

        def encode(columns: Sequence[Column]) -> Array:
            values = integers(columns[0], self.library, self.integer_dtype)
            if self.first:
                values = values.astype(wide(self.integer_dtype), copy=False) - self.first
            if known:
                return values.astype(internal, copy=False)
            xp = np if isinstance(values, np.ndarray) else self.xp
            inside = (values >= 0) & (values < self.n)
            return xp.where(inside, values.astype(internal), internal.type(-1))

        return encode

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        if internal is None and not nulls and self.first + self.n <= np.iinfo(np.int64).max:
            ids = self.xp.arange(self.first, self.first + self.n, dtype=self.integer_dtype)
            return [self.library.cast(ids, self.dtype)]
        if internal is None:
            internal = self.xp.arange(self.n)
        if self.first:
            ids = (internal.astype(wide(self.integer_dtype)) + self.first).astype(self.integer_dtype)
        else:
            ids = internal.astype(self.integer_dtype)  # a copy: the caller may write into its result
        return [self.library.cast(Masked(ids, internal >= 0) if nulls else ids, self.dtype)]


@dataclass(frozen=True)
class SortedIds(AscendingIds):
    """Map of integers with gaps: internal id `i` is `ids[i]`; if `dense`, a table finds it."""

    ids: Array
    dense: bool
    dtype: Dtype
    library: Library
    xp: ModuleType
    width = 1

    @property
    def n(self) -> int:
        return len(self.ids)

    @property
    def dtypes(self) -> tuple:
        return (self.dtype,)

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes

    @property
    def by_value(self) -> bool:
        return self.dense

    @property
    def table(self) -> IntegerTable | None:
        return IntegerTable(0, self.ids, self.dtype) if is_plain(self.dtype, self.ids.dtype) else None

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        if self.dense and (known or many):
            return self.table_encoder(known)
        rank = self._search if known or many else partial(self.xp.searchsorted, self.ids)
        if known:
            return lambda columns: rank(self._integers(columns[0]))

        def encode(columns: Sequence[Column]) -> Array:
            values = self._integers(columns[0])
            first, last = self.ids[0], self.ids[-1]
            found = rank(self.xp.clip(values, first, last))
            return self.xp.where(self.ids[found] == values, found, -1).astype(vertex_dtype(self.n))

        return encode

    def table_encoder(self, known: bool, numbers: Array | None = None) -> Encoder:
        """Return an encoder that uses a table over the range of the ids; it maps to `numbers` if given."""
        rank = self._ranked(numbers)
        if known:
            return lambda columns: rank(self._integers(columns[0]))

        def encode(columns: Sequence[Column]) -> Array:
            values = self._integers(columns[0])
            first, last = self.ids[0], self.ids[-1]
            inside = (values >= first) & (values <= last)
            return self.xp.where(inside, rank(self.xp.clip(values, first, last)), -1)

        return encode

    def _integers(self, column: Column) -> Array:
        return move(integers(column, self.library, self.ids.dtype), self.xp)

    def _ranked(self, numbers: Array | None = None) -> Callable[[Array], Array]:
        """Return a function from ids to ranks or `numbers`, by a table over their range; -1 in the gaps."""
        first, last = int(self.ids[0]), int(self.ids[-1])
        base = table_base(first, last)
        table = self.xp.full(last - base + 1, -1, dtype=vertex_dtype(self.n))
        numbers = self.xp.arange(self.n, dtype=table.dtype) if numbers is None else numbers
        table[self._offsets(self.ids, base)] = numbers
        return lambda values: table[self._offsets(values, base)]

    def _offsets(self, values: Array, base: int) -> Array:
        return values.astype(wide(values.dtype), copy=False) - base if base else values

    def _search(self, values: Array) -> Array:
        """Return ranks by binary search; on the CPU each distinct value is searched for once."""
        if self.xp is not np:
            return self.xp.searchsorted(self.ids, values).astype(vertex_dtype(self.n))
        return self.translate(*pd.factorize(values))

    def translate(self, codes: Array, uniques: Array) -> Array:
        """Return internal ids of `uniques[codes]`, which must all be known."""
        return self.xp.searchsorted(self.ids, uniques).astype(vertex_dtype(self.n))[codes]

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        ids = self.ids.copy() if internal is None else self.ids[internal]
        return [self.library.cast(Masked(ids, internal >= 0) if nulls else ids, self.dtype)]
