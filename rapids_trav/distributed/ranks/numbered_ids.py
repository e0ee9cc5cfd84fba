"""Map between the caller's ids and the internal ids of the grid, by way of places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.frames.columns import Array
from rapids_trav.ids.maps import Column, Encoder, IdMap


class SpreadMap(IdMap, Protocol):
    """Distributed map between ids and places: each rank holds a range of the ids."""

    @property
    def firsts(self) -> np.ndarray:
        """Return the first place of each rank, and the number of all places."""


@dataclass(frozen=True)
class NumberedIds:
    """An `IdMap` to internal ids; all ranks encode, place and decode at the same time.

    Attributes
    ----------
    base : SpreadMap
        Map between ids and places.
    numbering : Numbering
    """

    base: SpreadMap
    numbering: Numbering
    rank: Array | None = None  # internal ids are compared by place, which the ranks know
    order: Array | None = None
    table: None = None
    by_value: bool = False  # ranks ask each other about all values at once

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
        return self.base.nbytes

    @property
    def ascending(self) -> SpreadMap:
        return self.base

    def placed(self, place: Array) -> Array:
        return self.numbering.internal(place)

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        encode = self.base.encoder(known, many)

        def renumber(columns: Sequence[Column]) -> Array:
            return self.numbering.internal(encode(columns))

        return renumber

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        """Return the ids of internal ids (collective), or with None the ids held here."""
        if internal is None:
            return self.base.decode(None)
        return self.base.decode(self.numbering.places(internal), nulls)
