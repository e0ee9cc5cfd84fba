"""Renumbering of vertices in descending order of degree.

Gan et al., VS-Graph500 (docs/systems.md, V1 to V3): with the hubs first, every row of the adjacency begins
with the neighbours that most searches reach soonest, so a bottom-up step mostly stops at the first one.  The
data that are read most often lie together, and vertices without edges come last.

Steps: count the degrees; sort them, ties by id; renumber the internal ids in that order.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from rapids_trav.frames.columns import move
from rapids_trav.ids.maps import (
    Array,
    Column,
    Encoder,
    IdMap,
    IntegerTable,
    Portable,
    RenumberedIds,
    SortedIds,
    TextTable,
    vertex_dtype,
)

BACK_ENDS = ("radix", "merge")


def descending(degree: Array, back_end: str, xp: ModuleType) -> Array:
    """Return the vertices by descending degree, ties by ascending id; all back ends give the same order."""
    key = (degree.max() - degree) if len(degree) else degree
    if back_end == "radix":
        order = _radix_order(key, xp)
    elif xp is np:
        order = np.argsort(key.astype(np.int64), kind="stable")
    else:
        order = xp.lexsort(key.astype(np.int64)[None, :])  # Thrust's merge sort
    return order.astype(vertex_dtype(len(degree)))


def _radix_order(key: Array, xp: ModuleType) -> Array:
    """Return the stable order of non-negative keys by a radix sort, which NumPy has for 16 bits at a time."""
    most = int(key.max()) if len(key) else 0
    if xp is not np:
        return xp.argsort(key.astype(np.uint64 if most >> 32 else np.uint32), kind="stable")
    order = np.argsort(key.astype(np.uint16), kind="stable")  # the lowest 16 bits
    for shift in range(16, most.bit_length(), 16):
        order = order[np.argsort((key[order] >> shift).astype(np.uint16), kind="stable")]
    return order


@dataclass(frozen=True)
class ReorderedIds(RenumberedIds[IdMap], Portable):
    """An `IdMap` whose internal ids are those of an ascending map in a new order."""

    base: IdMap
    order: Array  # internal id in `base` of each internal id of this map
    rank: Array  # the inverse: internal ids of this map, in ascending order of the caller's ids
    xp: ModuleType
    names: Array | None = None  # the caller's id of each internal id of this map, if that is stored as well

    @classmethod
    def of(cls, base: IdMap, order: Array, xp: ModuleType, *, named: bool = False) -> ReorderedIds:
        """Make the map for this order; `named` also stores integer ids with gaps, which saves time."""
        rank = xp.empty_like(order)
        rank[order] = xp.arange(len(order), dtype=order.dtype)
        table = base.table if named else None
        names = None if table is None or table.ids is None else table.ids[order]
        return cls(base, order, rank, xp, names)

    @property
    def nbytes(self) -> int:
        names = 0 if self.names is None else self.names.nbytes
        return self.base.nbytes + self.order.nbytes + self.rank.nbytes + names

    @functools.cached_property
    def table(self) -> IntegerTable | None:
        table = self.base.table
        return table and table._replace(order=self.order, rank=self.rank, names=self.names)

    @property
    def text(self) -> TextTable | None:
        text = self.base.text
        return text and text._replace(rank=self.rank)

    @property
    def by_value(self) -> bool:
        return self.base.by_value

    def placed(self, place: Array) -> Array:
        return self.rank[move(place, self.xp)]

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        if (known or many) and isinstance(self.base, SortedIds) and self.base.dense:
            return self.base.table_encoder(known, self.rank)
        encode = self.base.encoder(known, many)

        def renumber(columns: Sequence[Column]) -> Array:
            place = move(encode(columns), self.xp)
            return self.rank[place] if known else self.xp.where(place >= 0, self.rank[place], -1)

        return renumber

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        if internal is None:
            return self.base.decode(None)
        if nulls and self.n:
            internal = self.xp.where(internal >= 0, self.order[internal], -1)
        elif self.n:
            internal = self.order[internal]
        return self.base.decode(internal, nulls)
