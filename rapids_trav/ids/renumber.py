"""Builds an `IdMap` and internal ids from columns of vertex ids, in one pass over the columns.

`read` checks a column and converts it to the form in which it is renumbered:

- Nulls, booleans, fractions and mixtures of kinds are refused, with a remedy in the error.
- Integers of any width and sign are read unchanged; whole floats are read as integers.
- Categoricals stay unchanged; everything else is factorized.

`renumber_distinct` keeps only the distinct ids, twice, and one list of columns at a time, but reads the lists
again for each column of an id; the code that needs the internal ids reads them once more.

- Integers (and whole floats) whose range is at most `DENSE` times their number are marked in a table of
  flags; a map without gaps stores nothing, one with gaps stores the ids in ascending order.  Wider ranges are
  sorted.
- Other values: each column is factorized by the frame library, the vocabularies are merged and sorted, and
  the codes of each column are translated.  `frames.strings` finds and sorts strings of pandas.
- Several columns: each has its own map; the pairs of their internal ids are renumbered again as integers.

Peak memory beyond the columns, with k ids given (two for each edge): for integers, either a table of at most
10 k bytes, rarely more than a few bytes per vertex, or 4 k bytes of internal ids and the sort of k ids; for
other values, 4 k bytes and the vocabularies; for strings of pandas, also 12 k bytes while a column is read
(24 for each row, 42 of Python objects, and the bytes of one column of these), and some 24 bytes for each
distinct string while they are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError, plain, written
from rapids_trav.frames.columns import Dtype, Series, is_object, move
from rapids_trav.frames.libraries import check_arrow
from rapids_trav.ids.composite_ids import (
    CategoryIds,
    TupleIds,
    ValueIds,
    family,
    has_order,
    merge_values,
    no_common_order,
    pair_keys,
    same_categories,
)
from rapids_trav.ids.lookup import is_decimal, known_again, names_nothing
from rapids_trav.ids.maps import (
    Array,
    Column,
    IdMap,
    Library,
    RangeIds,
    SortedIds,
    table_base,
    vertex_dtype,
    wide,
)

Lists = Iterable[Sequence[tuple[Hashable, Column]]]
Codes = Callable[[int], Array]  # from the position of a column or list of ids to its internal ids

DENSE = 2  # widest range, as a multiple of the number of ids given, for which a table is used
SMALL_TABLE = 1 << 16  # ranges up to this always use a table
FEW = 1 << 20  # ids that are collected before duplicates are removed
GAPS = 2  # cap on the ids counted per distinct one, which bounds the size of a table over their range
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


@dataclass
class Renumbering:
    """Collects columns of one component of the ids; gives the map and each column's internal ids."""

    library: Library
    xp: ModuleType
    parts: list[IdColumn] = field(default_factory=list)

    def add(self, name: Hashable, column: Column) -> None:
        self.parts.append(read(name, column, self.library, self.xp))

    def finish(self) -> tuple[IdMap, Codes]:
        """Return the map, and a function from an added column's position to its internal ids."""
        # A column without rows does not affect the kind of the ids, unless no column has any.
        filled = [i for i, part in enumerate(self.parts) if part.rows] or [0]
        if len(filled) == len(self.parts):
            return self._renumber(self.parts)
        ids, codes = self._renumber([self.parts[i] for i in filled])
        order = {position: i for i, position in enumerate(filled)}
        empty = self.xp.zeros(0, dtype=np.int32)
        return ids, lambda position: codes(order[position]) if position in order else empty

    def _renumber(self, parts: Sequence[IdColumn]) -> tuple[IdMap, Codes]:
        kinds = {part.kind for part in parts}
        if "category" in kinds and not all(
            part.kind == "category" and same_categories(part.dtype, parts[0].dtype) for part in parts
        ):
            parts = [self.plain(part) for part in parts]  # with different categories, the values are the ids
            kinds = {part.kind for part in parts}
        if kinds != {"integer"}:
            refuse_mixtures(parts, self.library)
        if kinds == {"value"}:
            return self._values(parts)
        if kinds == {"category"}:
            codes = [move(self.library.array(self.library.codes(part.data)), self.xp) for part in parts]
            ids, take = renumber_integers(codes, np.dtype(np.int64), self.library, self.xp)
            dtype = parts[0].dtype
            return CategoryIds(ids, self.library.column(dtype.categories).astype(dtype)), take
        arrays = [part.data for part in parts]
        given = sum([part.rows for part in parts])
        return renumber_integers(arrays, common_dtype(parts, self.library), self.library, self.xp, given)

    def plain(self, part: IdColumn) -> IdColumn:
        """Replace the codes of categoricals by their values; return other parts unchanged."""
        if part.kind != "category":
            return part
        codes = move(self.library.array(self.library.codes(part.data)), self.xp)
        used = self.xp.zeros(len(part.dtype.categories), dtype=bool)
        used[codes] = True
        chosen = self.xp.flatnonzero(used)
        values = self.library.take(self.library.column(part.dtype.categories), chosen)
        distinct = read(part.name, values, self.library, self.xp)
        places = self.xp.empty(len(used), dtype=vertex_dtype(len(used)))
        places[chosen] = self.xp.arange(len(chosen), dtype=places.dtype)
        if distinct.kind == "value":
            of_chosen, uniques = distinct.data
            data = move(of_chosen, self.xp)[places[codes]], uniques
        else:
            data = distinct.data[places[codes]]
        return replace(distinct, rows=part.rows, data=data)

    def _values(self, parts: Sequence[IdColumn]) -> tuple[IdMap, Codes]:
        vocabularies = [uniques for _, uniques in (part.data for part in parts)]
        try:
            places, merged = merge_values(vocabularies, parts[0].dtype, self.library)
        except (TypeError, ValueError) as error:
            unordered = [part for part in parts if not has_order(part.data[1])] or parts
            raise no_common_order([part.name for part in unordered], error) from error
        ids = ValueIds(merged, self.library, self.xp)
        if places is None:
            translated = [ids.translate(*part.data) for part in parts]
        else:
            pieces = np.split(places, np.cumsum([len(uniques) for uniques in vocabularies[:-1]]))
            translated = [
                move(piece[part.data[0]], self.xp) for piece, part in zip(pieces, parts, strict=True)
            ]
        for part, codes in zip(parts, translated, strict=True):
            if len(codes) and int(codes.min()) < 0:  # kernels do not check the bounds of their arrays
                raise TravError(
                    f"Column {part.name!r} holds values that are not equal to themselves, so they cannot be "
                    f"ids: convert them, for example with astype(str)."
                )
        return ids, lambda position: translated[position]


def refuse_mixtures(parts: Sequence[IdColumn], library: Library) -> None:
    """Refuse columns whose values are of different kinds, such as numbers and strings."""
    one = parts[0]
    for other in parts:
        if other.kind != one.kind:
            _refuse_mixture(one, other, library)
    for other in parts:
        if one.kind == "value" and family(other.dtype) != family(one.dtype):
            _refuse_mixture(one, other, library)


def _refuse_mixture(one: IdColumn, other: IdColumn, library: Library) -> None:
    whole = "integer" in (one.kind, other.kind) and any(map(_is_whole, (one.dtype, other.dtype)))
    remedy = library.remedy(INT64 if whole else TEXT)
    if one.name == other.name:
        raise TravError(
            f"Column {one.name!r} is {one.dtype} in some of the edges and {other.dtype} in others, "
            f"which are different kinds of id: convert one, for example with {remedy}."
        )
    raise TravError(
        f"Columns {one.name!r} ({one.dtype}) and {other.name!r} ({other.dtype}) hold different kinds of "
        f"id: convert one, for example with {remedy}."
    )


def _is_whole(dtype: Dtype) -> bool:
    kind: Dtype = getattr(dtype, "pyarrow_dtype", dtype)
    return is_decimal(dtype) and kind.scale == 0


def common_dtype(parts: Sequence[IdColumn], library: Library) -> Dtype:
    """Return the dtype of integer ids: that of the columns, or one that holds them all.

    Floats beside integers count as int64, since some ids would become equal as floats.
    """
    dtypes = list(dict.fromkeys([part.dtype for part in parts]))
    if len(dtypes) > 1 and any(dtype.kind in "iu" for dtype in dtypes):
        whole = (np.dtype(np.int64) if dtype.kind == "f" else dtype for dtype in dtypes)
        dtypes = list(dict.fromkeys(whole))
    if len(dtypes) == 1:
        return dtypes[0]
    if {dtype.kind for dtype in dtypes} == {"i", "u"} and any(str(d).lower() == "uint64" for d in dtypes):
        return None  # perhaps no integer type holds them all: the values decide
    if all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return np.result_type(*dtypes)
    return library.concat([library.column([], dtype=dtype) for dtype in dtypes]).dtype


def renumber_integers(
    arrays: Sequence[Array], dtype: Dtype, library: Library, xp: ModuleType, given: int | None = None
) -> tuple[RangeIds | SortedIds, Codes]:
    """Return the map of integer ids, `given` with duplicates, and the internal ids of each array."""
    given = sum(map(len, arrays)) if given is None else given
    filled = [array for array in arrays if len(array)]
    first = min([int(array.min()) for array in filled], default=0)
    last = max([int(array.max()) for array in filled], default=-1)
    integer_dtype = common_integer_dtype({array.dtype for array in arrays}, first, last)
    dtype = integer_dtype if dtype is None else dtype
    kind = integer_dtype.kind
    arrays = [array if array.dtype.kind == kind else array.astype(integer_dtype) for array in arrays]
    dense = last - first < max(DENSE * given, SMALL_TABLE)
    ids: RangeIds | SortedIds
    if given == 0:
        ids = RangeIds(0, 0, integer_dtype, dtype, library, xp)
    elif dense:
        found = _flagged(arrays, first, last, integer_dtype, xp)
        if len(found) == last - first + 1:
            ids = RangeIds(first, len(found), integer_dtype, dtype, library, xp)
        else:
            ids = SortedIds(found, True, dtype, library, xp)
    else:
        return _sorted(arrays, integer_dtype, dtype, library, xp)
    encode = ids.encoder(known=True)
    return ids, lambda position: encode([arrays[position]])


def common_integer_dtype(dtypes: Collection[np.dtype], first: int, last: int) -> np.dtype:
    """Return the integer dtype that holds ids of these dtypes, from `first` to `last`."""
    common = np.result_type(*dtypes) if dtypes else np.dtype(np.int64)
    if common.kind in "iu":
        return common
    if last < 2**63:
        return np.dtype(np.int64)
    if first >= 0:
        return np.dtype(np.uint64)
    raise TravError(no_integer_type(first, last))


def _flagged(arrays: Sequence[Array], first: int, last: int, dtype: np.dtype, xp: ModuleType) -> Array:
    """Return the distinct ids in ascending order, by a table of flags over their range."""
    base = table_base(first, last)
    flags = xp.zeros(last - base + 1, dtype=bool)
    for array in arrays:
        flags[array.astype(wide(dtype), copy=False) - base if base else array] = True
    ids = xp.flatnonzero(flags).astype(wide(dtype), copy=False)
    return (ids + base if base else ids).astype(dtype, copy=False)


def _sorted(
    arrays: Sequence[Array], integer_dtype: np.dtype, dtype: Dtype, library: Library, xp: ModuleType
) -> tuple[SortedIds, Codes]:
    """Map ids over a wide range: hash each array once on the CPU, sort all on a GPU."""
    if xp is not np:
        distinct = [xp.unique(array) for array in arrays if len(array)]  # CuPy cannot scan an empty array
        found = xp.unique(xp.concatenate(distinct)).astype(integer_dtype)
        ids = SortedIds(found, False, dtype, library, xp)
        encode = ids.encoder(known=True)
        encoded = [encode([array]) for array in arrays]
        return ids, lambda position: encoded[position]
    factorized = []
    for array in arrays:
        codes, uniques = pd.factorize(array)
        factorized.append((codes.astype(vertex_dtype(len(uniques))), uniques))
    found = np.unique(np.concatenate([uniques for _, uniques in factorized])).astype(integer_dtype)
    ids = SortedIds(found, False, dtype, library, xp)
    translated = [ids.translate(*part) for part in factorized]
    return ids, lambda position: translated[position]


def renumber(lists: Lists, width: int, library: Library, xp: ModuleType) -> tuple[IdMap, Codes]:
    """Return the map of lists of ids, each given as `width` named columns, and the internal ids by list."""
    components = [Renumbering(library, xp) for _ in range(width)]
    for columns in lists:
        for component, (name, column) in zip(components, columns, strict=True):
            component.add(name, column)
    ids, codes = components[0].finish()
    for component in components[1:]:
        second, second_codes = component.finish()
        keys = [pair_keys(codes(i), second_codes(i), second.n) for i in range(len(component.parts))]
        key_ids, codes = renumber_integers(keys, np.dtype(np.int64), library, xp)
        ids = TupleIds(ids, second, key_ids)
    return ids, codes


def renumber_distinct(lists: Lists, width: int, library: Library, xp: ModuleType) -> IdMap:
    """Return the map that `renumber` would make of these lists, iterating over them `width` times."""
    components = [Renumbering(library, xp) for _ in range(width)]
    for columns in lists:
        for component, (name, column) in zip(components, columns, strict=True):
            part = read(name, column, library, xp)
            if part.rows or not component.parts:
                component.parts.append(part)
            _compact(component.parts, library, xp, FEW)
    for component in components:
        _compact(component.parts, library, xp, 0)
    ids, _ = components[0].finish()
    for i, component in enumerate(components[1:], 1):
        second, _ = component.finish()
        ids = _combined(ids, second, lists, i, library, xp)
    return ids


def _combined(
    first: IdMap, second: IdMap, lists: Lists, i: int, library: Library, xp: ModuleType
) -> TupleIds:
    """Return the map of pairs of the ids of columns 0 to i - 1 with those of column i."""
    encode = first.encoder(many=True), second.encoder(many=True)
    found: list = []
    for columns in lists:
        values = [column for _, column in columns]
        one = known_again(encode[0], values[:i], library, xp)
        other = known_again(encode[1], values[i : i + 1], library, xp)
        found.append(xp.unique(pair_keys(one, other, second.n)))
        if sum(map(len, found[1:])) > max(len(found[0]), FEW):
            found = [xp.unique(xp.concatenate(found))]
    keys, _ = renumber_integers([xp.unique(xp.concatenate(found))], np.dtype(np.int64), library, xp)
    return TupleIds(first, second, keys)


def _compact(parts: list[IdColumn], library: Library, xp: ModuleType, few: int) -> None:
    """Merge parts of one kind once the added ones are as large as the part to which they are added."""
    sizes = [len(part.data[1] if part.kind == "value" else part.data) for part in parts]
    if sum(sizes[1:]) <= max(*sizes[:1], few) and few:
        return
    merged: list[IdColumn] = []
    while parts:
        alike = [part for part in parts if _alike(part, parts[0])]
        parts[:] = [part for part in parts if not _alike(part, alike[0])]
        merged.append(_merged(alike, library, xp))
    parts[:] = merged


def _alike(one: IdColumn, other: IdColumn) -> bool:
    if one.kind != other.kind or one.kind == "category":
        return one.kind == other.kind and same_categories(one.dtype, other.dtype)
    return one.dtype == other.dtype


def _merged(parts: list[IdColumn], library: Library, xp: ModuleType) -> IdColumn:
    """Merge the distinct ids of all parts; `rows` bounds how sparse they may be for a table."""
    data: Series | tuple[Array, Series]
    if parts[0].kind == "integer":
        arrays = [part.data for part in parts]
        array = arrays[0] if len(arrays) == 1 else xp.concatenate(arrays)
        data = pd.unique(array) if xp is np else xp.unique(array)  # on the CPU hashing is faster than sorting
        size = len(data)
    elif parts[0].kind == "category":
        data = library.concat([part.data for part in parts]).drop_duplicates().reset_index(drop=True)
        size = len(data)
    else:
        uniques = library.concat([part.data[1] for part in parts]).drop_duplicates().reset_index(drop=True)
        data, size = (xp.zeros(0, dtype=np.int64), uniques), len(uniques)
    return replace(parts[0], rows=min(sum(part.rows for part in parts), GAPS * size), data=data)
