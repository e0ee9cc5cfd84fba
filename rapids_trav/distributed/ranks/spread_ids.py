"""Distributed maps of ids of one column or several to places, and to internal ids (`NumberedIds`).

- `SpreadIds`: each rank holds the ids of a range of places as an ordinary map, and ranks ask each other.
- `SpreadRange`: consecutive integers, all of which each rank knows without holding any.
- `SpreadCategories` and `SpreadTuples`: categoricals, and ids of several columns.

`firsts` has the first place that each rank holds, and the number of all, int64 on the host.

Encoders and `decode` are collective (all ranks must call them), except in `SpreadRange`.  `decode(None)` is
not collective and returns the ids that this rank holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

import numpy as np

from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.values import Held, Integers, Kind, Values
from rapids_trav.engines.multigpu.lookup import distinct, offsets_in_ranges
from rapids_trav.frames.columns import Array, move
from rapids_trav.ids.composite_ids import CategoryIds, TupleIds
from rapids_trav.ids.maps import AscendingIds, Column, Encoder, Library, RangeIds, RenumberedIds

FEW = 256  # values up to this number are looked for by all ranks at once


@dataclass(frozen=True)
class SpreadRange(RangeIds):
    """Consecutive integers, which every rank translates by itself; `firsts` divides them evenly."""

    firsts: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    here: int = 0

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        if internal is None:
            internal = self.xp.arange(int(self.firsts[self.here]), int(self.firsts[self.here + 1]))
        return super().decode(internal, nulls)


@dataclass(frozen=True)
class SpreadIds(AscendingIds):
    """Ids of one column: rank r holds those from `splitters[r - 1]` to before `splitters[r]`."""

    here: Rank
    kind: Kind
    held: Held  # map of the ids that are held here, numbered from 0
    firsts: np.ndarray
    splitters: Values
    width = 1

    @property
    def n(self) -> int:
        return int(self.firsts[-1])

    @property
    def dtypes(self) -> tuple:
        return (self.kind.dtype,)

    @property
    def nbytes(self) -> int:
        return self.held.nbytes

    @property
    def library(self) -> Library:
        return self.here.library

    @property
    def xp(self) -> ModuleType:
        return self.here.xp

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        """Return a collective function to places; unless `many`, all ranks pass it the same values."""
        ask = self.asker(many) if many else None  # may make a table, which all calls use

        def translate(columns: Sequence[Column]) -> Array:
            if not self.n:  # on all ranks alike
                return self.xp.full(len(columns[0]), -1, np.int64)
            if not many and len(columns[0]) <= FEW:
                return self._sought(columns[0])
            codes, pieces = self.kind.route(columns[0], self.splitters)
            return chosen(self.xp.concatenate((ask or self.asker())(pieces)), codes, self.xp)

        return translate

    def _sought(self, column: Column) -> np.ndarray:
        """Return the places, on the host, of values that every rank looks for among those it holds."""
        found = np.full(len(column), -1, np.int64)
        if self.held.n:
            found[:] = move(self.held.encoder()([self.kind.few(column)]), np)
        mine = found >= 0
        after = found[mine] + int(self.firsts[self.here.rank]) + 1  # so that 0 is an unknown value
        return self.here.from_holders(mine, after) - 1

    @property
    def integers_held(self) -> Array | None:
        """The ids held here, in the form in which they are sent, if they are integers; else None."""
        if not isinstance(self.kind, Integers):
            return None
        return self.kind.fetch(self.held, self.xp.arange(self.held.n))

    def asker(self, many: bool = False) -> Callable[[Sequence[Values]], list[Array]]:
        """Return a collective function that maps the values of each range to places, -1 for unknown ones."""
        encode = self.held.encoder(many=many) if self.held.n else None

        def found(values: Values) -> Array:
            if encode is None or not len(values):
                return self.xp.full(len(values), -1, np.int64)
            return encode([values])

        return lambda pieces: self.reply([found(values) for values in self.kind.exchange(pieces)])

    def reply(self, codes: Sequence[Array]) -> list[Array]:
        """Send each rank the places of its request, given by codes of ids held here, -1 for unknown ids."""
        first = int(self.firsts[self.here.rank])
        wide = [move(some, self.xp).astype(np.int64) for some in codes]
        places = [self.xp.where(some >= 0, some + first, -1) for some in wide]
        return self.here.communicator.exchange(self.here.everyone, places)

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        if internal is None:
            return self.held.decode(None)
        xp = self.xp
        places = move(internal, xp).astype(np.int64, copy=False)
        wanted, rows = distinct(xp, places, self.n)
        asked = self.here.communicator.exchange(
            self.here.everyone, offsets_in_ranges(xp, wanted, self.firsts)
        )
        received = self.kind.exchange([self.kind.fetch(self.held, rows_here) for rows_here in asked])
        return [self.kind.column(received, rows, nulls)]


@dataclass(frozen=True)
class SpreadCategories(CategoryIds):
    """Categoricals, by their codes."""

    codes: SpreadRange | SpreadIds

    @property
    def firsts(self) -> np.ndarray:
        return self.codes.firsts


@dataclass(frozen=True)
class SpreadTuples(TupleIds):
    """Ids of several columns; each rank also keeps the decoded ids of the places that it holds."""

    keys: SpreadRange | SpreadIds
    held: list[Column] = field(default_factory=list)

    @property
    def firsts(self) -> np.ndarray:
        return self.keys.firsts

    @property
    def nbytes(self) -> int:
        return super().nbytes + sum(int(column.memory_usage(deep=True, index=False)) for column in self.held)

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        if internal is None:
            return [self.keys.library.take(column, None) for column in self.held]
        return super().decode(internal, nulls)


def chosen(places: Array, codes: Array, xp: ModuleType) -> Array:
    """Return `places[codes]`, -1 for code -1."""
    if not len(places):
        return xp.full(len(codes), -1, np.int64)
    return xp.where(codes >= 0, places[codes], -1)


SpreadMap = SpreadRange | SpreadIds | SpreadCategories | SpreadTuples


class Everywhere(NamedTuple):
    """Tables of all vertices that each rank has, so that it translates without asking the others.

    The last entry of each is -1, for vertex -1.
    """

    ids: Array  # by internal id: the ids if only holders know them and they are integers, else the places
    internal: Array  # internal ids by place

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.internal.nbytes


@dataclass(frozen=True)
class NumberedIds(RenumberedIds[SpreadMap]):
    """An `IdMap` to internal ids; all ranks encode, place and decode at the same time."""

    base: SpreadMap
    numbering: Numbering
    # The ids of the vertices owned here, if only their holders know them by their places and they are
    # integers: owners then answer in one step, without asking the holders.
    integers_owned: Array | None = None
    everywhere: Everywhere | None = None  # where it is small
    rank: Array | None = None  # internal ids are compared by place, which the ranks know
    order: Array | None = None
    table: None = None
    text: None = None
    by_value: bool = False  # ranks ask each other about all values at once

    @classmethod
    def of(cls, base: SpreadMap, numbering: Numbering, room: int = 0) -> NumberedIds:
        """Return the map; every rank calls it, with the same number of bytes as `room` for `everywhere`."""
        held = base.integers_held if isinstance(base, SpreadIds) else None
        integers = None if held is None else numbering.placed(held)
        owned = numbering.place_of_owned if integers is None else integers
        each = owned.dtype.itemsize + numbering.internal_of_held.dtype.itemsize
        if each * numbering.grid.n_vertices > room:
            return cls(base, numbering, integers)
        everywhere = Everywhere(numbering.by_internal_id(owned), numbering.internal_by_place())
        return cls(base, numbering, integers, everywhere)

    @property
    def nbytes(self) -> int:
        tables = (self.integers_owned, self.everywhere)
        return self.base.nbytes + sum(table.nbytes for table in tables if table is not None)

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
        assert isinstance(self.base, SpreadIds) and isinstance(self.base.kind, Integers)
        ids = self._at_owners(internal, self.integers_owned)
        return [self.base.kind.received(ids, internal >= 0 if nulls else None)]

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
