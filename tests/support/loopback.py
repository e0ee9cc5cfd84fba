"""Ranks as threads of one process.

The ranks of a group meet at a barrier: each leaves the arrays that it sends in slots, and the last to arrive
releases all.  There are two sets of slots, used alternately: arrays stay in their slots until the second
meeting after theirs, and by then all ranks have taken them.  Arrays are copied, as they are between
processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from rapids_trav.engines.multigpu.communicator import (
    DEADLINE,
    Array,
    Communicator,
    Form,
    Met,
    Note,
    RankError,
    Traffic,
    aborting,
    sent,
)

Result = TypeVar("Result")


class _Meeting:
    """Barrier at which the ranks of one group exchange items, any number of times."""

    def __init__(self, world: LoopbackWorld, group: tuple[int, ...]) -> None:
        self.changed = threading.Condition()
        self._world = world
        self._group = group
        self._left: list[Any] = [None] * len(group)
        self._arrived: set[int] = set()
        self._opened = 0

    def swap(self, place: int, item: Any) -> list[Any]:
        """Leave `item`; return the items of the whole group once all ranks have arrived."""
        with self.changed:
            mine = self._opened
            left = self._left
            left[place] = item
            self._arrived.add(self._group[place])
            if len(self._arrived) == len(self._group):
                # Keep no item: to free an array of a GPU waits for kernels, which may wait for this rank.
                self._left = [None] * len(self._group)
                self._arrived.clear()
                self._opened += 1
                self.changed.notify_all()
            self._world.waiting[self._group[place]] = self
            done = self.changed.wait_for(
                lambda: self._opened > mine or self._world.failure is not None, self._world.deadline
            )
            missing = self._world.at_fault(self.missing())
        if self._opened > mine:
            self._world.waiting.pop(self._group[place], None)
            return left
        if not done:
            ranks = ", ".join(map(str, missing))
            self._world.fail(
                f"rank {ranks} did not answer rank {self._group[place]} within {self._world.deadline:g} s",
                missing[0],
            )
        raise self._world.error()

    def missing(self) -> list[int]:
        """Return the ranks that have not arrived."""
        return sorted(set(self._group) - self._arrived)


class LoopbackWorld:
    """State that the ranks of one process share.

    Parameters
    ----------
    size : int
        Number of ranks.
    deadline : float
        Seconds that a rank waits for others in one call.
    """

    def __init__(self, size: int, deadline: float = DEADLINE) -> None:
        self.size = size
        self.deadline = deadline
        self.failure: tuple[str, int | None] | None = None
        self.waiting: dict[int, _Meeting] = {}  # the meeting at which a rank waits
        self._meetings: dict[tuple[int, ...], _Meeting] = {}
        self._lock = threading.Lock()

    def meeting(self, group: tuple[int, ...]) -> _Meeting:
        """Return the barrier of a group."""
        with self._lock:
            if group not in self._meetings:
                self._meetings[group] = _Meeting(self, group)
            return self._meetings[group]

    def fail(self, reason: str, rank: int | None) -> None:
        """End the waiting of every rank; the first reason is kept."""
        with self._lock:
            self.failure = self.failure or (reason, rank)
            meetings = list(self._meetings.values())
        for meeting in meetings:
            with meeting.changed:
                meeting.changed.notify_all()

    def at_fault(self, missing: list[int]) -> list[int]:
        """Return the ranks that hold up those that wait for missing ones, some of which wait elsewhere."""
        asked, seen = missing, set(missing)
        while asked:
            if found := [rank for rank in asked if rank not in self.waiting]:
                return found
            further = {k for rank in asked if (meeting := self.waiting.get(rank)) for k in meeting.missing()}
            asked = sorted(further - seen)
            seen |= further
        return missing

    def error(self) -> RankError:
        """Return a new error that gives the reason."""
        reason, rank = self.failure or ("a rank failed", None)
        return RankError.because(reason, rank)


class LoopbackCommunicator(Communicator):
    """Communicator of one rank; see `communicator.Communicator`."""

    def __init__(self, world: LoopbackWorld, rank: int) -> None:
        self.rank = rank
        self.size = world.size
        self.deadline = world.deadline
        self.traffic = Traffic()
        self._world = world

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        place = group.index(self.rank)
        given = [array if k == place else array.copy() for k, array in enumerate(arrays)]
        received = [theirs[place] for theirs in self._meet(tuple(group), place, given)]
        if known is not None:  # a wrong form would go unnoticed where nothing but the data is sent
            assert [(array.dtype, len(array)) for array in received] == list(known)
        self.traffic += sent(arrays, place)
        return received

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        words = np.empty(0, np.uint32) if note.words is None else note.words.view(np.uint32).copy()
        assert len(words) <= note.room  # elsewhere there would be no room for them
        sums, told = list(values), {}
        for group in self.axes(note):
            left = self._meet(tuple(group), group.index(self.rank), (sums, note.number, words))
            sums = [sum(column) for column in zip(*(of for of, _, _ in left), strict=True)]
            told |= {k: (number, given) for k, (_, number, given) in zip(group, left, strict=True)}
        self.count_sum(note)
        return Met(sums, [told[k][0] for k in note.partners], [told[k][1] for k in note.partners])

    def check(self) -> None:
        if self._world.failure is not None:
            raise self._world.error()

    def abort(self, reason: str, rank: int | None = None) -> None:
        self._world.fail(reason, self.rank if rank is None else rank)

    def _meet(self, group: tuple[int, ...], place: int, item: Any) -> list[Any]:
        self.check()
        return self._world.meeting(group).swap(place, item)


def run_ranks(
    size: int, function: Callable[[LoopbackCommunicator], Result], *, deadline: float = DEADLINE
) -> list[Result]:
    """Call `function(communicator)` on every rank at once; return the results in the order of the ranks.

    Raises
    ------
    RankError
        If a rank raises an error, which is then the cause, or does not come to a meeting within the deadline.
        A rank that never returns is left behind in a daemon thread.
    """
    world = LoopbackWorld(size, deadline)
    results: list[Any] = [None] * size
    errors: dict[int, BaseException] = {}
    working = set(range(size))
    finished = threading.Semaphore(0)
    # Longer than any rank waits for another: the rank that gives up first has the more precise reason.
    patience = 2 * deadline

    def work(rank: int) -> None:
        communicator = LoopbackCommunicator(world, rank)
        try:
            with aborting(communicator, "working"):
                results[rank] = function(communicator)
        except BaseException as error:  # reported to the caller below
            errors[rank] = error
        finally:
            working.discard(rank)
            finished.release()

    for rank in range(size):
        threading.Thread(target=work, args=(rank,), name=f"rank {rank}", daemon=True).start()
    try:
        for _ in range(size):
            while not finished.acquire(timeout=patience):
                late = sorted(working)
                if 0 < len(late) < size:  # the others are done and had time to notice a failure
                    world.fail(f"rank {late[0]} did not end within {patience:g} s of the others", late[0])
                    raise world.error() from _cause(world, errors)
    except BaseException:
        world.fail("the caller gave up waiting", None)  # an interrupt, which only the main thread sees
        raise
    if world.failure is not None:
        raise world.error() from _cause(world, errors)
    return results


def _cause(world: LoopbackWorld, errors: dict[int, BaseException]) -> BaseException | None:
    """Return the error that the rank at fault raised, if there is one."""
    rank = world.failure[1] if world.failure else None
    return None if rank is None else errors.get(rank)
