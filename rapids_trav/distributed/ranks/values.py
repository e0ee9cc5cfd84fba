"""Operations on ascending distinct ids of one kind: sampling, cutting at splitters, sending to ranks.

`Integers` works on arrays of the engine, `Labels` on columns of the frame library: strings, dates and Python
objects.  The rank of a range holds its ids as an ordinary map.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from rapids_trav.distributed.ranks.columns import exchange_columns
from rapids_trav.distributed.ranks.numbering import sendable
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.frames.columns import Array, Dtype, Masked, move
from rapids_trav.ids.composite_ids import ValueIds, merge_values
from rapids_trav.ids.maps import Column, RangeIds, SortedIds, integers, wide
from rapids_trav.ids.renumber import Codes, IdColumn, Renumbering, renumber_integers

Values = Array | Column  # distinct ids in ascending order
Held = RangeIds | SortedIds | ValueIds


@dataclass(frozen=True)
class Integers:
    """Operations on integers and whole floats."""

    rank: Rank
    integer_dtype: np.dtype  # in which a map holds the ids
    dtype: Dtype  # of decoded ids

    def none(self) -> Values:
        """Return an empty array or column of values."""
        return sendable(self.rank.xp.zeros(0, self.integer_dtype))

    def take(self, values: Values, rows: Array) -> Values:
        return values[rows]

    def hashes(self, values: Values) -> Array:
        """Return a hash of each value, which looks random and is the same on every rank.

        The bits are mixed as SplitMix64 does (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
        """
        mixed = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        return mixed

    def union(self, pieces: Sequence[Values]) -> Values:
        """Return the distinct values of several arrays or columns, ascending."""
        joined = self.rank.xp.concatenate(pieces)
        return self.rank.xp.unique(joined) if len(joined) else joined  # CuPy cannot scan an empty array

    def cut(self, values: Values, splitters: Values) -> list[Values]:
        """Cut ascending values into those before the first splitter, those from it to the next, and so on."""
        bounds = self.rank.xp.searchsorted(values, splitters.astype(values.dtype)).tolist()
        return [values[begin:end] for begin, end in pairwise([0, *bounds, len(values)])]

    def exchange(self, pieces: Sequence[Values]) -> list[Values]:
        """Send the k-th values to rank k; return what each sent to this one."""
        return self.rank.communicator.exchange(self.rank.everyone, pieces)

    def few(self, column: Column) -> Column:
        """Return a few values in the form that the encoder of a map takes."""
        given = move(integers(column, self.rank.library, self.integer_dtype), self.rank.xp)
        return given.astype(wide(self.integer_dtype), copy=False)  # unknown ones may be wider than any id

    def route(self, column: Column, splitters: Values) -> tuple[Array, list[Values]]:
        """Return the code of each row of a column, and its distinct values cut into the ranges of the ranks.

        Codes count the values of the first range, then those of the second, and so on; nulls have -1.
        """
        given = self.few(column)
        if not len(given):  # CuPy cannot scan an empty array
            return self.rank.xp.zeros(0, np.int64), self.cut(given, splitters)
        distinct, codes = self.rank.xp.unique(given, return_inverse=True)
        return codes, self.cut(distinct, splitters)

    def hold(self, pieces: Sequence[Values]) -> tuple[Held, Codes]:
        """Return the map of the values of all pieces, and a function from a piece's number to its codes."""
        arrays = [piece.astype(self.integer_dtype, copy=False) for piece in pieces]
        return renumber_integers(arrays, self.dtype, self.rank.library, self.rank.xp)

    def fetch(self, held: Held, rows: Array) -> Values:
        """Return the ids at these rows of a map, in the form in which they are sent."""
        if isinstance(held, SortedIds):
            return sendable(held.ids[rows])
        assert isinstance(held, RangeIds)
        return sendable((rows.astype(wide(self.integer_dtype)) + held.first).astype(self.integer_dtype))

    def column(self, pieces: Sequence[Values], rows: Array, nulls: bool) -> Column:
        """Return the ids at these rows of fetched pieces as a column; with `nulls`, row -1 is null."""
        found = self.rank.xp.concatenate(pieces)
        ids = found[rows] if len(found) else self.rank.xp.zeros(len(rows), found.dtype)
        return self.received(ids, rows >= 0 if nulls else None)

    def received(self, ids: Array, valid: Array | None) -> Column:
        """Return ids, in the form in which they are sent, as a column, with nulls where `valid` is False."""
        ids = ids.astype(self.integer_dtype, copy=False)
        return self.rank.library.cast(ids if valid is None else Masked(ids, valid), self.dtype)


@dataclass(frozen=True)
class Labels:
    """The operations of `Integers` on values that the frame library sorts."""

    rank: Rank
    dtype: Dtype

    def none(self) -> Values:
        return self.rank.library.column([], dtype=self.dtype)

    def take(self, values: Values, rows: Array) -> Values:
        return self.rank.library.take(values, rows)

    def hashes(self, values: Values) -> Array:
        if self.rank.library.name == "cudf":
            return values.hash_values().to_cupy()
        hashes = pd.util.hash_pandas_object(values, index=False, categorize=False)
        return move(hashes.to_numpy(), self.rank.xp)

    def union(self, pieces: Sequence[Values]) -> Values:
        filled = [piece for piece in pieces if len(piece)]  # empty ones must not decide the dtype
        return merge_values(filled, self.dtype, self.rank.library)[1] if filled else self.none()

    def cut(self, values: Values, splitters: Values) -> list[Values]:
        at = range(len(values))
        given = [splitters.iloc[k] for k in range(len(splitters))]
        bounds = [bisect.bisect_left(at, splitter, key=values.iloc.__getitem__) for splitter in given]
        return [values.iloc[begin:end] for begin, end in pairwise([0, *bounds, len(values)])]

    def exchange(self, pieces: Sequence[Values]) -> list[Values]:
        return exchange_columns(self.rank, pieces)

    def few(self, column: Column) -> Column:
        if hasattr(column.dtype, "categories"):
            column = column.astype(column.dtype.categories.dtype)
        if getattr(self.dtype, "kind", "") in ("m", "M") and column.dtype != self.dtype:
            column = column.astype(self.dtype)  # for example dates given as strings
        return column

    def route(self, column: Column, splitters: Values) -> tuple[Array, list[Values]]:
        library, xp = self.rank.library, self.rank.xp
        codes, distinct = library.factorize(self.few(column))
        codes = move(codes, xp)
        try:
            ascending = distinct.sort_values()
            pieces = self.cut(ascending, splitters)
            order = move(ascending.index.values, xp)
        except TypeError:  # values of several kinds, some of them unknown
            order, pieces = self._by_comparison(distinct, splitters)
        if not len(order):
            return codes.astype(np.int64), pieces
        places = xp.empty(len(order), np.int64)
        places[order] = xp.arange(len(order))
        return xp.where(codes >= 0, places[codes], -1), pieces

    def _by_comparison(self, distinct: Values, splitters: Values) -> tuple[Array, list[Values]]:
        """Cut values that have no common order; values that cannot be compared with ids go to rank 0."""
        ordered = list(splitters)

        def owner(value: object) -> int:
            try:
                return bisect.bisect_right(ordered, value)
            except TypeError:
                return 0

        owners = np.array([owner(value) for value in distinct], np.int64)
        order = np.argsort(owners, kind="stable")
        bounds = np.searchsorted(owners[order], np.arange(len(ordered) + 2)).tolist()
        moved = distinct.iloc[order]
        return move(order, self.rank.xp), [moved.iloc[begin:end] for begin, end in pairwise(bounds)]

    def hold(self, pieces: Sequence[Values]) -> tuple[Held, Codes]:
        parts = [
            IdColumn(None, "value", self.dtype, len(piece), (np.arange(len(piece)), piece))
            for piece in pieces
        ]
        held, codes = Renumbering(self.rank.library, self.rank.xp, parts).finish()
        assert isinstance(held, ValueIds)
        return held, codes

    def fetch(self, held: Held, rows: Array) -> Values:
        assert isinstance(held, ValueIds)
        return self.rank.library.take(held.values, rows)

    def column(self, pieces: Sequence[Values], rows: Array, nulls: bool) -> Column:
        filled = [piece for piece in pieces if len(piece)]
        found = self.rank.library.concat(filled, ignore_index=True) if filled else self.none()
        return self.rank.library.take(found, rows, nulls)


Kind = Integers | Labels
