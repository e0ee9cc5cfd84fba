"""Builds an `IdMap` of columns of which only the distinct ids are kept, for edges beyond the memory.

They are kept twice, and one list of columns at a time, but the lists are read again for each column of an id;
the code that needs the internal ids reads them once more.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav.frames.columns import Series
from rapids_trav.ids.composite_ids import TupleIds, pair_keys, same_categories
from rapids_trav.ids.lookup import known_again
from rapids_trav.ids.maps import Array, IdMap, Library
from rapids_trav.ids.renumber import IdColumn, Lists, Renumbering, read, renumber_integers

FEW = 1 << 20  # ids that are collected before duplicates are removed
GAPS = 2  # cap on the ids counted per distinct one, which bounds the size of a table over their range


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
