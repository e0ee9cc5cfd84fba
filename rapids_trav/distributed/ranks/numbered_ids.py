"""Map between the caller's ids and the internal ids of the grid, by way of places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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
    """

    base: SpreadMap
    numbering: Numbering
    integers_owned: Array | None = None
    rank: Array | None = None  # internal ids are compared by place, which the ranks know
    order: Array | None = None
    table: None = None
    text: None = None
    by_value: bool = False  # ranks ask each other about all values at once

    @classmethod
    def of(cls, base: SpreadMap, numbering: Numbering) -> NumberedIds:
        """Return the map; every rank calls it."""
        held = base.integers_held
        return cls(base, numbering, None if held is None else numbering.placed(held))

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
        return self.base.nbytes + (0 if self.integers_owned is None else self.integers_owned.nbytes)

    @property
    def ascending(self) -> SpreadMap:
        return self.base

    def placed(self, place: Array) -> Array:
        """Return the internal ids of places, which all ranks pass alike."""
        if len(place) <= FEW:
            return self.numbering.internal_of_few(move(place, np))
        return self.numbering.internal(place)

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        encode = self.base.encoder(known, many)
        internal = self.numbering.internal if many else self.placed

        def renumber(columns: Sequence[Column]) -> Array:
            return internal(encode(columns))

        return renumber

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        """Return the ids of internal ids (collective), or with None the ids held here."""
        if internal is None:
            return self.base.decode(None)
        if self.integers_owned is None:
            return self.base.decode(self.numbering.places(internal), nulls)
        ids = self.numbering.at_owners(internal, self.integers_owned)
        return [self.base.received(ids, internal >= 0 if nulls else None)]
