"""Maps of vertex ids that are not integers; `maps` describes the interface.

`ValueIds` leaves strings, dates and other values to the frame library, and `merge_values` sorts them.
`CategoryIds` map the integer codes of a categorical dtype.  `TupleIds` combine the columns of a
several-column id two at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import Dtype, is_object, move
from rapids_trav.ids.maps import (
    Array,
    AscendingIds,
    Column,
    Encoder,
    IdMap,
    IntegerIds,
    Library,
    TextTable,
    vertex_dtype,
)


@dataclass(frozen=True)
class ValueIds(AscendingIds):
    """Map of any values that the frame library can sort: internal id `i` is `values[i]`."""

    values: Column
    library: Library
    xp: ModuleType
    width = 1

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def dtypes(self) -> tuple:
        return (self.values.dtype,)

    @cached_property
    def nbytes(self) -> int:
        """Bytes of the values, each of which is looked at: computed on first access."""
        return int(self.values.memory_usage(deep=True, index=False))

    @cached_property
    def text(self) -> TextTable | None:
        parts = self.library.text_parts(self.values)
        return None if parts is None else TextTable(*parts)

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        def encode(columns: Sequence[Column]) -> Array:
            if (few := self.library.few_positions(self.values, columns[0])) is not None:
                return move(few, self.xp).astype(vertex_dtype(self.n))
            return self.translate(*self.library.factorize(columns[0]))

        return encode

    def translate(self, codes: Array, uniques: Column) -> Array:
        """Return internal ids of `uniques[codes]`."""
        positions = move(self.library.positions(self.values, uniques), self.xp).astype(vertex_dtype(self.n))
        codes = move(codes, self.xp)
        if len(positions) == 0:
            return self.xp.full(len(codes), -1, dtype=positions.dtype)
        return self.xp.where(codes >= 0, positions[codes], -1).astype(positions.dtype)

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        return [self.library.take(self.values, internal, nulls)]


def same_categories(one: Dtype, other: Dtype) -> bool:
    """Return whether two categorical dtypes have the same codes (their `==` ignores the order)."""
    return one.ordered == other.ordered and one.categories.equals(other.categories)


@dataclass(frozen=True)
class CategoryIds(AscendingIds):
    """Map of categoricals of one dtype, in the order of its categories: a map of their codes."""

    codes: IntegerIds
    categories: Column
    width = 1

    @property
    def n(self) -> int:
        return self.codes.n

    @property
    def dtypes(self) -> tuple:
        return (self.categories.dtype,)

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        encode = self.codes.encoder(known, many)
        dtype = self.categories.dtype

        def codes(column: Column) -> Column:
            if not hasattr(column.dtype, "categories"):
                return self.codes.library.codes_in(dtype, column)
            if not same_categories(column.dtype, dtype):
                column = column.cat.set_categories(dtype.categories)  # astype would trust their order
            return self.codes.library.codes(column)

        return lambda columns: encode([codes(columns[0])])

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        (codes,) = self.codes.decode(internal)
        if nulls:
            codes = self.codes.xp.where(internal >= 0, move(codes, self.codes.xp), -1)
        return [self.codes.library.take(self.categories, codes, nulls)]


@dataclass(frozen=True)
class TupleIds(AscendingIds):
    """Map of pairs of a first id (of one or more columns) and a second, by the key `first * n + second`."""

    first: IdMap
    second: IdMap
    keys: IntegerIds

    @property
    def n(self) -> int:
        return self.keys.n

    @property
    def width(self) -> int:
        return self.first.width + 1

    @property
    def dtypes(self) -> tuple:
        return (*self.first.dtypes, *self.second.dtypes)

    @property
    def nbytes(self) -> int:
        return self.first.nbytes + self.second.nbytes + self.keys.nbytes

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        first, second, keys = (part.encoder(known, many) for part in (self.first, self.second, self.keys))

        def encode(columns: Sequence[Column]) -> Array:
            pair = (move(first(columns[:-1]), self.keys.xp), move(second(columns[-1:]), self.keys.xp))
            return keys([pair_keys(*pair, self.second.n)])

        return encode

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        (key,) = self.keys.decode(internal)
        first, second = self.keys.xp.divmod(move(key, self.keys.xp), max(self.second.n, 1))
        if nulls:
            first, second = (self.keys.xp.where(internal >= 0, part, -1) for part in (first, second))
        return [*self.first.decode(first, nulls), *self.second.decode(second, nulls)]


def pair_keys(first: Array, second: Array, n_second: int) -> Array:
    """Return an integer key for each pair, in the order of the pairs; -1 if either id is unknown."""
    keys = first.astype(np.int64) * n_second + second
    keys[(first < 0) | (second < 0)] = -1
    return keys


def merge_values(
    vocabularies: Sequence[Column], dtype: Dtype, library: Library
) -> tuple[np.ndarray | None, Column]:
    """Return the rank of each value if they are many strings, and the distinct values in ascending order.

    Strings are in `dtype`, times in its time zone.
    """
    values = library.concat([_in_zone_of(dtype, values) for values in vocabularies], ignore_index=True)
    strings = library.factorize_strings(values, ascending=True)
    places, merged = strings or (None, values.drop_duplicates().sort_values().reset_index(drop=True))
    if merged.dtype != dtype and family(dtype) == "text":
        merged = merged.astype(dtype)
    if places is None:
        _check_order(merged)
    return places, merged


def _in_zone_of(dtype: Dtype, values: Column) -> Column:
    """Convert times to the time zone of `dtype`, if both have one; return other values unchanged."""
    zone, own = _zone(dtype), _zone(values.dtype)
    return values if zone is None or own in (None, zone) else values.dt.tz_convert(zone)


def _zone(dtype: Dtype) -> object:
    """Return the time zone of a dtype of pandas, cuDF or Arrow; None if it has none."""
    return getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None)


def no_common_order(names: Sequence[Hashable], error: TypeError | ValueError) -> TravError:
    """Return the error for columns of these names, whose values could not be sorted."""
    columns = list(dict.fromkeys(map(repr, names)))
    if isinstance(error, UnicodeEncodeError):
        return TravError(
            f"Column {' or '.join(columns)} holds a string that is not valid Unicode ({error}): "
            f"replace it, for example with str.encode('utf-8', 'replace').str.decode('utf-8')."
        )
    holds = f"Column {columns[0]} holds" if len(columns) == 1 else f"Columns {' and '.join(columns)} hold"
    return TravError(
        f"{holds} values that have no common order ({error}): convert them, for example with astype(str)."
    )


def has_order(values: Column) -> bool:
    try:
        _check_order(values.sort_values())
    except (TypeError, ValueError):
        return False
    return True


def _check_order(values: Column) -> None:
    """Refuse objects, such as sets, some of which are neither less nor greater than others."""
    if is_object(values.dtype) and pd.api.types.infer_dtype(values) == "mixed":
        for one, other in pairwise(values):
            if not one < other:
                raise ValueError(f"neither of {written(one)} and {written(other)} comes first")


def family(dtype: Dtype) -> str:
    """Return the family of dtypes that may hold the same ids: strings are one family, dates another."""
    if dtype.kind in "mM":
        return dtype.kind
    return "text" if is_object(dtype) or pd.api.types.is_string_dtype(dtype) else str(dtype)
