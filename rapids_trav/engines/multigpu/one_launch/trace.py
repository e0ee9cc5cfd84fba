"""What the kernels of a search in one launch left: the rows of their trace, and why they gave up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.one_launch.dealing import MOST_RANKS, Dealing
from rapids_trav.engines.searches import LevelTrace

_STEPS = ("push", "pull")
_EXCHANGES = ("none", "lists", "copies", "words", "offers")  # as `Exchange` in kernels/fused_state.cuh
_STEP_BITS = 2


class RankLevel(NamedTuple):
    """One level on one rank.

    The rank took the frontier (`exchange`) from the others' "lists", by "copies" of their parts of the
    bitmap, or as "words" of them that the others sent; "offers" if it pushed its own part of it and offered
    what it found to the owners.
    """

    direction: str  # "push" or "pull"
    exchange: str
    frontier: int  # vertices, over all ranks
    edges: int  # that the rank examined
    milliseconds: float  # on the device's clock


def levels_of(rows: np.ndarray) -> list[RankLevel]:
    """Return the levels from the rows, of which the first has their number and the time of the start."""
    n_levels = int(rows[0, 1])
    found = []
    for level in range(1, min(n_levels + 1, len(rows))):
        step, frontier, _, _, edges, _, end = (int(value) for value in rows[level])
        direction, exchange = _STEPS[step % (1 << _STEP_BITS)], _EXCHANGES[step >> _STEP_BITS]
        milliseconds = (end - int(rows[level - 1][-1])) / 1e6
        found.append(RankLevel(direction, exchange, frontier, edges, milliseconds))
    return found


def levels_together(levels: Sequence[Sequence[RankLevel]], dealing: Dealing) -> list[LevelTrace]:
    """Return the levels of a search with the ranks' counts added up and the time of the slowest rank."""
    vertex, bitmap = dealing.vertex_dtype.itemsize, dealing.n_ids // 8
    found = []
    for number, ranks in enumerate(zip(*levels, strict=True), start=1):
        first = ranks[0]
        edges = sum(rank.edges for rank in ranks)
        moved = edges * (vertex + 4) + dealing.n_ranks * _exchanged(first, vertex, bitmap)
        moved += 2 * vertex * edges if first.exchange == "offers" else 0  # at most one for each edge
        milliseconds = max(rank.milliseconds for rank in ranks)
        found.append(
            LevelTrace(
                number, first.direction, first.frontier, edges, moved, milliseconds, exchange=first.exchange
            )
        )
    return found


def _exchanged(level: RankLevel, vertex: int, bitmap: int) -> int:
    """Return the bytes that a rank takes from all, itself included, before a step."""
    return {"lists": vertex * level.frontier, "copies": bitmap, "words": bitmap}.get(level.exchange, 0)


def worked_seconds(began: int, arrived: int, met: int, finished: int) -> float:
    """Return the seconds of a search on one rank, without its wait for the others to begin.

    The times are those of the kernel's `Clock`.
    """
    return (arrived - began + finished - met) / 1e9


STOPPED = 2**32 - 1  # as in kernels/fused_meeting.cuh


def verdict_of(stop: int, deadline: float, names: Sequence[str]) -> RankError | None:
    """Return the error for `stop` of the kernel's `Meeting`, or None if the search ended.

    A rank waited for others for `deadline` seconds; `names` are those of the ranks, with their GPUs.
    """
    if stop == 0:
        return None
    if stop == STOPPED:
        return RankError("The search was stopped, because its graph was closed meanwhile.")
    rank, missing = divmod(stop - 1, MOST_RANKS)
    return RankError(
        f"{names[missing]} did not answer {names[rank]} within {deadline:g} s: end other work on it, and ask "
        f"again.",
        missing,
    )
