"""Outcome of a request from the answers of all ranks: results, a common error, or the loss of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

OK, ERROR, FAILED, LOST, LATE = "ok", "error", "failed", "lost", "late"  # status of a rank's answer
Failure = tuple[str, int | None]  # a reason, and the rank at fault
Frames = dict[str, list[tuple[str, int, bytes]]]  # by name: key, bytes and pickled type of each frame


class Reply(TypedDict, total=False):
    """Answer of one rank, or of all: the status, and the entries that belong to it."""

    status: str
    answer: object  # with OK and ERROR: the pickled result or error
    frames: Frames  # with OK, if the result has frames: those that the worker stores
    reason: str  # with FAILED, beside the rank at fault
    rank: int | None
    progress: tuple[int, int | None, str] | None  # what is done of how much, and the unit
    seconds: float | None  # with LATE: how long the scheduler waited
    replies: list[Reply]  # in the answer of all ranks
    group: str


def lost_worker(worker: str, rank: int) -> Failure:
    """Return the failure for the loss of a worker."""
    return f"worker {worker}, which held rank {rank}, was lost", rank


def failure_of(replies: Sequence[Reply], workers: Sequence[str]) -> Failure | None:
    """Return why the ranks cannot continue, or None if they can.

    A lost worker comes first, because it explains the answers of the others.  Next comes the first failure
    that names a rank at fault, then any other failure.  A rank that did not answer is at fault itself if no
    rank reports a failure.
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
    """Return why ranks with these outcomes cannot continue, or None if all ended alike.

    An outcome is None for a result, and the type and message for an error.
    """
    kinds = [None if outcome is None else outcome[0] for outcome in outcomes]
    if len(set(kinds)) == 1:
        return None
    rank = next(rank for rank, kind in enumerate(kinds) if kind is not None)
    outcome = outcomes[rank]
    assert outcome is not None
    return f"rank {rank} failed alone: {outcome[1]}", rank
