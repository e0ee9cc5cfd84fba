"""What the answers of all ranks come to: results, an error of all, or the loss of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

OK, ERROR, FAILED, LOST, LATE = "ok", "error", "failed", "lost", "late"  # how a rank can answer
Failure = tuple[str, int | None]  # a reason, and the rank at fault


class Reply(TypedDict, total=False):
    """What a rank answers, or all of them: the status, and what belongs to it."""

    status: str
    answer: object  # of OK and ERROR: the pickled result or error
    reason: str  # of FAILED, with the rank at fault
    rank: int | None
    seconds: float | None  # of LATE
    replies: list[Reply]  # of all ranks
    gang: str


def lost_worker(worker: str, rank: int) -> Failure:
    """Return the failure that the loss of a worker is."""
    return f"worker {worker}, which held rank {rank}, was lost", rank


def failure_of(replies: Sequence[Reply], workers: Sequence[str]) -> Failure | None:
    """Return why the ranks cannot go on, or None if they can.

    A lost worker explains what the others say; among those the first that knows a rank at fault is believed.
    One that does not answer is at fault itself if nobody else says why.
    """
    for rank, reply in enumerate(replies):
        if reply["status"] == LOST:
            return lost_worker(workers[rank], rank)
    failed = [reply for reply in replies if reply["status"] == FAILED]
    if not failed:
        late = [rank for rank, reply in enumerate(replies) if reply["status"] == LATE]
        if not late:
            return None
        return f"worker {workers[late[0]]} did not answer within {replies[late[0]]['seconds']:g} s", late[0]
    reply = next((each for each in failed if each["rank"] is not None), failed[0])
    reason, culprit = reply["reason"], reply["rank"]
    if culprit is not None and workers[culprit] not in reason:
        reason = f"{reason} (rank {culprit} is worker {workers[culprit]})"
    return reason, culprit


def agreed(outcomes: Sequence[Sequence[str] | None]) -> Failure | None:
    """Return why ranks that ended in these ways cannot go on, or None if all ended alike.

    An outcome is None for a result, and the type and message of an error.
    """
    kinds = [None if outcome is None else outcome[0] for outcome in outcomes]
    if len(set(kinds)) == 1:
        return None
    rank = next(rank for rank, kind in enumerate(kinds) if kind is not None)
    outcome = outcomes[rank]
    assert outcome is not None
    return f"rank {rank} failed alone: {outcome[1]}", rank
