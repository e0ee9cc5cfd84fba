"""Distributed renumbering of one column of ids.

Each rank renumbers its own columns, which gives its distinct ids in ascending order.  All ranks agree on
splitters, and send their ids to the ranks of the ids' ranges.  Each rank renumbers the ids that it receives
and replies with their codes: the place of an id is the first place of its range plus its code.  If the ids
turn out to be consecutive integers, no rank holds any, and no reply is needed.

In addition to its columns, a rank holds at its peak: its distinct ids, twice; the ids of its range; the ids
that it receives at once (`meet`); and 8 bytes for each row.  Of the ids of other ranks, a rank sees only
those in its range and those in the sample.

Splitters are chosen so that all ranks hold about the same number of ids, from a sample of the distinct ids,
regardless of how often and on how many ranks each occurs.  Every rank contributes its ids that have the
smallest hashes.  Of all contributed ids, those with the smallest hashes are the sample, which is the same on
every rank (K. Beyer et al., "On Synopses for Distinct-Value Estimation Under Multiset Operations", SIGMOD
2007).  With m sampled ids for each range, the sizes of the ranges deviate by about 1 / sqrt(m) of the mean.

If ids have several columns, each column has such a map, and so do the pairs of places, encoded as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from rapids_trav.distributed.ranks.columns import Component, read_components
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.spread_ids import (
    SpreadCategories,
    SpreadIds,
    SpreadMap,
    SpreadRange,
    SpreadTuples,
    chosen,
)
from rapids_trav.distributed.ranks.values import Held, Integers, Kind, Labels, Values
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Array, Dtype, move
from rapids_trav.ids.composite_ids import ValueIds, has_order, no_common_order, pair_keys
from rapids_trav.ids.maps import Column, RangeIds, SortedIds
from rapids_trav.ids.renumber import (
    Codes,
    IdColumn,
    Renumbering,
    common_dtype,
    common_integer_dtype,
    renumber_integers,
)

SAMPLED = 256  # sampled ids for each range
MOST = 3  # ids that a rank receives in a round, as a multiple of the most that any rank has


def sample(rank: Rank, kind: Kind, values: Values) -> Values:
    """Return the values that this rank contributes to the sample, ascending."""
    return smallest_hashes(rank, kind, values, SAMPLED * rank.size)


def splitters(rank: Rank, kind: Kind, sampled: Sequence[Values]) -> Values:
    """Return the first id of each range but the first, from all samples; empty if all samples are."""
    kept = smallest_hashes(rank, kind, kind.union(sampled), SAMPLED * rank.size)
    at = np.arange(1, rank.size) * len(kept) // rank.size if len(kept) else np.zeros(0, np.int64)
    return kind.take(kept, rank.xp.asarray(at))


def smallest_hashes(rank: Rank, kind: Kind, values: Values, most: int) -> Values:
    """Return the values with the smallest hashes, `most` of them or fewer, in their order."""
    if len(values) <= most:
        return values
    chosen = rank.xp.argpartition(kind.hashes(values), most)[:most]
    return kind.take(values, rank.xp.sort(chosen))


Result = TypeVar("Result")
Together = Callable[[Callable[[], Any]], Any]  # does work that may fail: on all ranks it returns, or raises
Spread = tuple[SpreadRange | SpreadIds, list[Array]]  # map, places of each list


def meet(
    rank: Rank, kind: Kind, splitters: Values, pieces: Sequence[Values], together: Together
) -> tuple[SpreadIds, Callable[[], Array]]:
    """Send each rank the distinct ids of its range; return their map, and a function to the places of all.

    `pieces` are the distinct ids of this rank in ascending order, cut at the splitters; the places are those
    of one piece after another, and all ranks ask for them.

    A rank receives an id of its range from every rank that has this id.  If ids that all ranks have are
    concentrated in one range, its rank may receive many times more ids than any rank had.  The ids are then
    sent in several rounds.  After each round the rank keeps only the distinct ids, and the ranks ask for the
    places in a second exchange.
    """
    rounds = _rounds(rank, pieces)
    if rounds == 1:
        got = kind.exchange(pieces)
        held, codes = together(lambda: kind.hold(got))
        ids = _spread(rank, kind, held, splitters)
        return ids, lambda: rank.xp.concatenate(ids.reply([codes(k) for k in range(rank.size)]))
    shares = [[_share(piece, k, rounds) for piece in pieces] for k in range(rounds)]
    values = kind.none()
    for share in shares:
        values = together(partial(kind.union, [values, *kind.exchange(share)]))
    held, _ = together(lambda: kind.hold([values]))
    ids = _spread(rank, kind, held, splitters)
    return ids, lambda: _asked(ids, shares)


def _rounds(rank: Rank, pieces: Sequence[Values]) -> int:
    """Return the number of rounds in which ids are sent, so that none is larger than `MOST` allows."""
    sent = np.array(rank.communicator.gather_objects([len(piece) for piece in pieces]), np.int64)
    return max(1, -(-int(sent.sum(axis=0).max()) // max(1, MOST * int(sent.sum(axis=1).max()))))


def _share(piece: Values, k: int, rounds: int) -> Values:
    """Return the k-th of `rounds` equal parts of a piece."""
    rows = piece.iloc if hasattr(piece, "iloc") else piece
    return rows[k * len(piece) // rounds : (k + 1) * len(piece) // rounds]


def _spread(rank: Rank, kind: Kind, held: Held, splitters: Values) -> SpreadIds:
    counts = rank.communicator.gather_objects(held.n)
    return SpreadIds(rank, kind, held, np.cumsum([0, *counts], dtype=np.int64), splitters)


def _asked(ids: SpreadIds, shares: Sequence[Sequence[Values]]) -> Array:
    """Return the places of the ids of all shares, grouped by range."""
    ask = ids.asker(many=True)
    answers = [ask(share) for share in shares]
    return ids.xp.concatenate([answer[k] for k in range(ids.here.size) for answer in answers])


def renumber_component(rank: Rank, component: Component) -> tuple[SpreadMap, list[Array]]:
    """Return the map of one column of the ids, and the places of each list of this rank."""
    if component.kind == "value":
        return _renumber_labels(rank, component)
    library, none = rank.library, rank.xp.zeros(0, np.int64)
    if component.kind == "integer":
        arrays = [part.data if part.rows else none for part in component.parts]
        return renumber_spread_integers(rank, arrays, common_dtype(component.shapes, library))
    arrays = [
        move(library.array(library.codes(part.data)), rank.xp) if part.rows else none
        for part in component.parts
    ]
    codes, places = renumber_spread_integers(rank, arrays, np.dtype(np.int64))
    categories = library.column(component.dtype.categories).astype(component.dtype)
    return SpreadCategories(codes, categories), places


def renumber_spread_integers(rank: Rank, arrays: Sequence[Array], dtype: Dtype | None) -> Spread:
    """Renumber integers, which are decoded to `dtype`; if None, to one that holds them all."""
    filled = [array for array in arrays if len(array)]
    spans = [(array.dtype, int(array.min()), int(array.max())) for array in filled]
    spans = [span for rank_spans in rank.communicator.gather_objects(spans) for span in rank_spans]
    first, last = min((s[1] for s in spans), default=0), max((s[2] for s in spans), default=-1)
    integer_dtype = common_integer_dtype({s[0] for s in spans}, first, last)
    kind = Integers(rank, integer_dtype, integer_dtype if dtype is None else dtype)
    sent = kind.none().dtype
    arrays = [array.astype(sent, copy=False) for array in arrays]
    mine, codes = renumber_integers(arrays, sent, rank.library, rank.xp)
    values = mine.ids if isinstance(mine, SortedIds) else kind.fetch(mine, rank.xp.arange(mine.n))
    sampled = kind.exchange([sample(rank, kind, values)] * rank.size) if spans else []
    given = splitters(rank, kind, sampled) if spans else kind.none()
    pieces = kind.cut(values, given) if spans else [values] * rank.size
    spread, places = meet(rank, kind, given, pieces, lambda work: work())
    if (n := spread.n) == last - first + 1:
        firsts = np.arange(rank.size + 1) * n // rank.size
        ids = SpreadRange(first, n, integer_dtype, kind.dtype, rank.library, rank.xp, firsts, rank.rank)
        encode = RangeIds.encoder(ids, known=True)
        return ids, [encode([array]).astype(np.int64, copy=False) for array in arrays]
    found = places()
    return spread, [chosen(found, codes(i), rank.xp) for i in range(len(arrays))]


def _renumber_labels(rank: Rank, component: Component) -> Spread:
    """Renumber strings, dates and other values that the frame library sorts."""
    library, parts, shapes = rank.library, component.parts, component.shapes
    kind = Labels(rank, shapes[0].dtype)

    def renumber_here() -> tuple[Values, Codes]:
        if not any(part.rows for part in parts):
            return kind.none(), lambda position: rank.xp.zeros(0, np.int64)
        ids, codes = Renumbering(library, rank.xp, parts).finish()
        assert isinstance(ids, ValueIds)
        return ids.values, codes

    values, codes = _together(rank, shapes, renumber_here, parts)
    sampled = kind.exchange([sample(rank, kind, values)] * rank.size)
    given = _together(rank, shapes, lambda: splitters(rank, kind, sampled))
    kind = Labels(rank, given.dtype)

    def cut() -> list[Values]:
        if not any(map(len, sampled)):
            return [kind.none()] * rank.size
        return kind.cut(values if values.dtype == kind.dtype else values.astype(kind.dtype), given)

    pieces = _together(rank, shapes, cut)
    spread, places = meet(rank, kind, given, pieces, lambda work: _together(rank, shapes, work))
    found = places()
    return spread, [chosen(found, codes(i), rank.xp) for i in range(len(parts))]


def _together(
    rank: Rank, shapes: Sequence[IdColumn], work: Callable[[], Result], parts: Sequence[IdColumn] = ()
) -> Result:
    """Do local work and return its result; if it fails on any rank, raise on all ranks.

    The message names the columns among `parts` whose values have no order, or all columns if there are none.
    """
    error: TypeError | ValueError | None = None
    unordered: list[Hashable] = []
    try:
        result = work()
    except (TypeError, ValueError) as caught:
        error = _portable(caught)
        unordered = [part.name for part in parts if part.rows and not has_order(part.data[1])]
    gathered = rank.communicator.gather_objects((error, unordered))
    first = next((one for one, _ in gathered if one is not None), None)
    if first is None:
        return result
    if isinstance(first, TravError):
        raise first
    without_order = {name for _, names in gathered for name in names}
    names = [shape.name for shape in shapes]
    raise no_common_order([name for name in names if name in without_order] or names, first)


def _portable(error: TypeError | ValueError) -> TypeError | ValueError:
    """Return an error in a form that can be sent to other ranks.

    For values without an order that is the underlying error, or a TypeError with its text.
    """
    cause = error.__cause__ if isinstance(error, TravError) else error
    if isinstance(cause, UnicodeEncodeError):
        return cause.with_traceback(None)
    if isinstance(cause, (TypeError, ValueError)):
        return TypeError(str(cause))
    return error.with_traceback(None)


def build_ids(rank: Rank, sides: Sequence[Sequence[Column]]) -> tuple[SpreadMap, list[Array]]:
    """Renumber the ids of all ranks; return their map and the places, int64, of each list of this rank.

    A list, one of `sides`, has one column for each column of the ids; there may be none here.

    Raises a `TravError` on all ranks, if a column on any of them cannot be used as ids.
    """
    components = read_components(rank, sides)
    ids, places = renumber_component(rank, components[0])
    for component in components[1:]:
        second, second_places = renumber_component(rank, component)
        pairs = zip(places, second_places, strict=True)
        arrays = [pair_keys(one, other, second.n) for one, other in pairs]
        keys, places = renumber_spread_integers(rank, arrays, np.dtype(np.int64))
        ids = SpreadTuples(ids, second, keys)
    if isinstance(ids, SpreadTuples):
        here = rank.xp.arange(int(ids.firsts[rank.rank]), int(ids.firsts[rank.rank + 1]))
        ids = replace(ids, held=[rank.library.column(column) for column in ids.decode(here)])
    return ids, places
