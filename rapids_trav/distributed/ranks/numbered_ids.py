"""Map between the caller's ids and the internal ids of the grid, through places (`numbering`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.distributed.ranks.spread_ids import FEW
from rapids_trav.frames.columns import Array, move
from rapids_trav.ids.maps import Column, Encoder, IdMap


class SpreadMap(IdMap, Protocol):
    """Distributed map between ids and places: each rank holds a range of the ids."""

    @property
    def firsts(self) -> np.ndarray:
        """Return the first place of each rank, and the number of all places."""

    @property
    def integers_held(self) -> Array | None:
        """Return the ids held here if they are integers that only their holder knows, else None."""

    def received(self, ids: Array, valid: Array | None) -> Column:
        """Return ids such as those of `integers_held` as a column, with nulls where `valid` is False."""


class Everywhere(NamedTuple):
    """Tables of all vertices that each rank has, so that it translates without asking the others.

    Attributes
    ----------
    ids : array, (grid.n_vertices + 1,)
        By internal id, the ids if only their holders know them and they are integers, else the places.
    internal : vertex array, (n + 1,)
        Internal ids by place.

    The last entry of each is -1, for vertex -1.
    """

    ids: Array
    internal: Array

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.internal.nbytes


@dataclass(frozen=True)
class NumberedIds:
    """An `IdMap` to internal ids; all ranks encode, place and decode at the same time.

    Attributes
    ----------
    base : SpreadMap
        Map between ids and places.
    numbering : Numbering
    integers_owned : array, (owned,), optional
        The ids of the vertices owned here, if only their holders know them by their places and they are
        integers: owners then answer in one step, without asking the holders.
    everywhere : Everywhere, optional
        Tables of all vertices, where they are small.
    """

    base: SpreadMap
    numbering: Numbering
    integers_owned: Array | None = None
    everywhere: Everywhere | None = None
    rank: Array | None = None  # internal ids are compared by place, which the ranks know
    order: Array | None = None
    table: None = None
    text: None = None
    by_value: bool = False  # ranks ask each other about all values at once

    @classmethod
    def of(cls, base: SpreadMap, numbering: Numbering, room: int = 0) -> NumberedIds:
        """Return the map; every rank calls it, with the same number of bytes as `room` for `everywhere`."""
        held = base.integers_held
        integers = None if held is None else numbering.placed(held)
        owned = numbering.place_of_owned if integers is None else integers
        each = owned.dtype.itemsize + numbering.internal_of_held.dtype.itemsize
        if each * numbering.grid.n_vertices > room:
            return cls(base, numbering, integers)
        everywhere = Everywhere(numbering.by_internal_id(owned), numbering.internal_by_place())
        return cls(base, numbering, integers, everywhere)

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
    def nbytes(self) -> int:
        tables = (self.integers_owned, self.everywhere)
        return self.base.nbytes + sum(table.nbytes for table in tables if table is not None)

    @property
    def ascending(self) -> SpreadMap:
        return self.base

    def placed(self, place: Array) -> Array:
        """Return the internal ids of places, which all ranks pass alike."""
        if len(place) > FEW:
            return self._internal(place)
        if self.everywhere is None:
            return self.numbering.internal_of_few(move(place, np))
        return move(self._internal(place), np)  # few stay on the host

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        encode = self.base.encoder(known, many)
        internal = self._internal if many else self.placed

        def renumber(columns: Sequence[Column]) -> Array:
            return internal(encode(columns))

        return renumber

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        """Return the ids of internal ids (collective), or with None the ids held here."""
        if internal is None:
            return self.base.decode(None)
        if self.integers_owned is None:
            places = self._at_owners(internal, self.numbering.place_of_owned)
            return self.base.decode(places.astype(np.int64, copy=False), nulls)
        ids = self._at_owners(internal, self.integers_owned)
        return [self.base.received(ids, internal >= 0 if nulls else None)]

    def _internal(self, place: Array) -> Array:
        """Return the internal ids of places, -1 for -1, from the table here or else from their holders."""
        if self.everywhere is None:
            return self.numbering.internal(place)
        return self.everywhere.internal[self.numbering.rank.xp.asarray(place)]

    def _at_owners(self, internal: Array, owned: Array) -> Array:
        """Return values of internal ids, -1 for -1, from the table here or else from their owners."""
        if self.everywhere is None:
            return self.numbering.at_owners(internal, owned)
        return self.everywhere.ids[self.numbering.rank.xp.asarray(internal)]
