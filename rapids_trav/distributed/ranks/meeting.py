"""Exchange in which each rank collects the distinct ids of its range and sends the others their places.

A rank receives an id of its range from every rank that has this id.  If ids that all ranks have are
concentrated in one range, the rank of that range may receive many times more ids than any rank had.  The ids
are then sent in several rounds.  After each round the rank keeps only the distinct ids, and the ranks ask for
the places in a second exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.spread_ids import SpreadIds
from rapids_trav.distributed.ranks.values import Held, Kind, Values
from rapids_trav.frames.columns import Array

Result = TypeVar("Result")
MOST = 3  # ids that a rank receives in a round, as a multiple of the most that any rank has


class Together(Protocol):
    """Function for local work that may fail: it returns the result on all ranks, or raises on all."""

    def __call__(self, work: Callable[[], Result]) -> Result:
        """Return the result of `work()`."""


def meet(
    rank: Rank, kind: Kind, splitters: Values, pieces: Sequence[Values], together: Together
) -> tuple[SpreadIds, Callable[[], Array]]:
    """Send each rank the ids of its range.

    Parameters
    ----------
    rank : Rank
    kind : Kind
    splitters : array or column
    pieces : sequence of arrays or columns
        The distinct ids of this rank in ascending order, cut at the splitters.
    together : function
        Does local work that may fail on some ranks.

    Returns
    -------
    SpreadIds
    function
        Collective; returns the places of the ids of all pieces, one piece after another.
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
        values = _joined(kind, [values, *kind.exchange(share)], together)
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


def _joined(kind: Kind, pieces: Sequence[Values], together: Together) -> Values:
    return together(lambda: kind.union(pieces))


def _spread(rank: Rank, kind: Kind, held: Held, splitters: Values) -> SpreadIds:
    counts = rank.communicator.gather_objects(held.n)
    return SpreadIds(rank, kind, held, np.cumsum([0, *counts], dtype=np.int64), splitters)


def _asked(ids: SpreadIds, shares: Sequence[Sequence[Values]]) -> Array:
    """Return the places of the ids of all shares, grouped by range."""
    ask = ids.asker(many=True)
    answers = [ask(share) for share in shares]
    return ids.xp.concatenate([answer[k] for k in range(ids.here.size) for answer in answers])
