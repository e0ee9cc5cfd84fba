"""Map between the caller's ids and their places, 0 to n - 1 in ascending order, distributed over ranks.

Each rank holds a range of the ids (`renumber_spread`) and answers lookups in it (`spread_ids`).  If ids have
several columns, each column has such a map, and so do the pairs of places, encoded as integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.read_columns import read_components
from rapids_trav.distributed.ranks.renumber_spread import renumber_component, renumber_spread_integers
from rapids_trav.distributed.ranks.spread_ids import SpreadIds, SpreadRange, SpreadTuples
from rapids_trav.distributed.ranks.values import Integers
from rapids_trav.frames.columns import Array
from rapids_trav.ids.composite_ids import CategoryIds, pair_keys
from rapids_trav.ids.maps import AscendingIds, Column, Encoder

SpreadMap = SpreadRange | SpreadIds | CategoryIds | SpreadTuples


@dataclass(frozen=True)
class RankIds(AscendingIds):
    """Map between ids and places; an `IdMap` whose encoder and `decode` all ranks call at the same time.

    Attributes
    ----------
    here : Rank
    ids : map
        The underlying map.
    firsts : int64 array on the host, (ranks + 1,)
        The place of the first id that each rank holds, and the number of all ids.
    """

    here: Rank
    ids: SpreadMap
    firsts: np.ndarray

    @property
    def n(self) -> int:
        return int(self.firsts[-1])

    @property
    def first(self) -> int:
        """Place of the first id that this rank holds."""
        return int(self.firsts[self.here.rank])

    @property
    def n_here(self) -> int:
        """Number of ids that this rank holds."""
        return int(self.firsts[self.here.rank + 1]) - self.first

    @property
    def width(self) -> int:
        return self.ids.width

    @property
    def dtypes(self) -> tuple:
        return self.ids.dtypes

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes

    @property
    def integers_held(self) -> Array | None:
        """The ids held here if they are integers that only their holder knows; see `SpreadIds`."""
        return self.ids.integers_held if isinstance(self.ids, SpreadIds) else None

    def received(self, ids: Array, valid: Array | None) -> Column:
        """Return ids such as those of `integers_held` as a column, with nulls where `valid` is False."""
        assert isinstance(self.ids, SpreadIds) and isinstance(self.ids.kind, Integers)
        return self.ids.kind.received(ids, valid)

    def encoder(self, known: bool = False, many: bool = False) -> Encoder:
        """Return a collective function that maps columns to int64 places.

        With `many`, the ranks pass different columns; else all pass the same, and few places may be on the
        host.
        """
        encode = self.ids.encoder(known, many)
        return lambda columns: encode(columns).astype(np.int64, copy=False)

    def decode(self, internal: Array = None, nulls: bool = False) -> list[Column]:
        """Return the ids at these places (collective), or with None the ids held here (not collective)."""
        return self.ids.decode(internal, nulls)


def build_ids(rank: Rank, sides: Sequence[Sequence[Column]]) -> tuple[RankIds, list[Array]]:
    """Renumber the ids of all ranks; every rank calls it.

    Parameters
    ----------
    rank : Rank
    sides : sequence of sequences of columns
        The lists of ids of this rank, possibly none; a list has one column for each column of the ids.

    Returns
    -------
    RankIds
    list of int64 arrays
        The places of each list.

    Raises
    ------
    TravError
        On all ranks, if a column on any of them cannot be used as ids.
    """
    ids: SpreadMap
    firsts: np.ndarray
    components = read_components(rank, sides)
    ids, firsts, places = renumber_component(rank, components[0])
    for component in components[1:]:
        second, _, second_places = renumber_component(rank, component)
        pairs = zip(places, second_places, strict=True)
        arrays = [pair_keys(one, other, second.n) for one, other in pairs]
        keys, firsts, places = renumber_spread_integers(rank, arrays, np.dtype(np.int64))
        ids = SpreadTuples(ids, second, keys)
    if isinstance(ids, SpreadTuples):
        here = rank.xp.arange(int(firsts[rank.rank]), int(firsts[rank.rank + 1]))
        ids = replace(ids, held=[rank.library.column(column) for column in ids.decode(here)])
    return RankIds(rank, ids, firsts), places
