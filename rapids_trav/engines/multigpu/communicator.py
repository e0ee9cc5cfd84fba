"""Connection between ranks, against which a search over many ranks is written.

All ranks make the same calls in the same order, and all ranks of a group (such as a row of the grid) pass the
same group.  A call raises a `RankError` after the communicator's deadline, or when any rank has called
`abort`, so that no call hangs.

Small Python objects are pickled and sent as 32-bit words, which every communicator takes, preceded by their
length in bytes.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import add, sub
from types import ModuleType
from typing import NamedTuple, TypeVar

import numpy as np

from rapids_trav.engines.multigpu.grid import Grid, choose_grid
from rapids_trav.errors import CLOSED, TravError, TravMemoryError, first_line
from rapids_trav.frames.columns import Array, move

WAS_CLOSED = "the graph was closed"  # the reason for which questions that still run end


class InterruptError(TravError):
    """The caller has interrupted a request, which ends at the same point on all ranks; they stay usable."""

    def __init__(self) -> None:
        super().__init__("The call was interrupted: call it again.")

    def __reduce__(self) -> tuple:
        return type(self), ()


class RankError(TravError):
    """A rank failed, or did not answer in time, so that no rank can continue.

    `rank` is the one at fault, or the first of several; None if it is not known.
    """

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank

    @classmethod
    def because(cls, reason: str, rank: int | None = None) -> RankError:
        """Make the error for a reason, such as "rank 3 failed while searching: out of memory"."""
        if reason == WAS_CLOSED:
            return cls(CLOSED, rank)
        remedy = "the graph is lost: remove the cause and build it again"
        return cls(f"{reason[0].upper()}{reason[1:]}; {remedy}.", rank)

    def __reduce__(self) -> tuple:
        return type(self), (self.args[0], self.rank)  # keeps its rank when it is pickled


Item = TypeVar("Item")
LENGTH_WORDS = 2  # words before the bytes of an object, which hold their number
DEADLINE = 60.0  # seconds that a rank waits for the others, by default

Form = tuple[np.dtype, int]  # dtype and length of an array


@dataclass(frozen=True)
class Traffic:
    """Counts of the messages that a rank has sent to others."""

    messages: int = 0  # arrays, including empty ones, without those that a rank sends to itself
    bytes: int = 0  # of them and of notes, without the header of 8 bytes that holds type and length
    sums: int = 0  # over all ranks that the rank took part in
    sum_messages: int = 0  # of those sums, each of which may carry a note

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*map(add, vars(self).values(), vars(other).values()))

    def __sub__(self, other: Traffic) -> Traffic:
        return Traffic(*map(sub, vars(self).values(), vars(other).values()))


class Met(NamedTuple):
    """Result of a synchronisation of all ranks."""

    sums: list[int]  # over all ranks
    numbers: list[int]  # of the partners, in their order
    notes: list[Array]  # of the partners, as uint32, perhaps followed by undefined words


@dataclass(frozen=True)
class Note:
    """Values that a rank sends to partners together with a sum over all ranks.

    The numbers to sum are added up along one axis, then along the other, so that a rank sends (R - 1) + (C -
    1) messages.
    """

    partners: Sequence[int] = ()  # each has this rank as a partner; a rank may be its own
    number: int = 0
    words: Array | None = None  # int32 or uint32, at most `room`
    room: int = 0  # the same on all ranks
    # The rank's column and row of a grid of all ranks, which have all of its partners; by default those of
    # the squarest grid.
    axes: Sequence[Sequence[int]] = ()


NO_NOTE = Note()


class Communicator(ABC):
    """Connection of one rank with the others.

    A group is a tuple of ranks, in the same order on each of them, that includes the caller.  Arrays have one
    dimension and are in the memory that the rank works in: NumPy or CuPy.  Their types and lengths are sent
    with them, unless all ranks of the group pass as `known` the forms of what they receive, in the order of
    the group.  An array that was sent may be changed after the call; a received array belongs to the
    receiver, unless the rank sent it to itself.
    """

    rank: int  # number of this rank, from 0
    size: int  # number of ranks
    deadline: float  # seconds that a rank waits for others in one call
    traffic: Traffic  # that this rank has sent so far
    xp: ModuleType = np  # module of the arrays, numpy or cupy
    # Set, from any thread, to end the current request.  Ranks add it up in each synchronisation, so that all
    # of them end at the same one.
    stopping: bool = False

    @abstractmethod
    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        """Send the k-th array to the k-th rank of the group; return what each sent to this one."""

    @abstractmethod
    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        """Do what `meet` does, but for `stopping`."""

    @abstractmethod
    def check(self) -> None:
        """Raise a `RankError` if a rank has failed, been lost or called `abort`; return at once otherwise.

        For waits elsewhere, such as for a kernel.
        """

    @abstractmethod
    def abort(self, reason: str, rank: int | None = None) -> None:
        """Make the pending and all later calls of every rank raise a `RankError`; the first reason is kept.

        `rank` is the one at fault, by default this one.  May be called from any thread, and returns at once.
        """

    def axes(self, note: Note) -> Sequence[Sequence[int]]:
        """Return the groups along which numbers are added up, one after the other."""
        if note.axes:
            return note.axes
        grid = Grid(*choose_grid(self.size), 0)
        row, column = grid.place(self.rank)
        return grid.ranks_of_column(column), grid.ranks_of_row(row)

    def count_sum(self, note: Note) -> None:
        """Count the traffic of a sum over all ranks that carried a note."""
        others = sum(partner != self.rank for partner in note.partners)
        n_bytes = 0 if note.words is None else others * note.words.nbytes
        sent = sum(len(group) - 1 for group in self.axes(note))
        self.traffic += Traffic(bytes=n_bytes, sums=1, sum_messages=sent)

    @property
    def everyone(self) -> tuple[int, ...]:
        """All ranks, as a group."""
        return tuple(range(self.size))

    def all_gather(
        self, group: Sequence[int], array: Array, known: Sequence[Form] | None = None
    ) -> list[Array]:
        """Send `array` to each rank of the group; return their arrays, in the order of the group."""
        return self.exchange(group, [array] * len(group), known)

    def meet(self, values: Sequence[int], note: Note = NO_NOTE) -> Met:
        """Sum a few integers over all ranks, and send partners a note, in the same message if possible.

        Raises an `InterruptError` on all ranks, if the caller of any of them has interrupted the request.
        """
        met = self.sum_and_send((*values, int(self.stopping)), note)
        if met.sums.pop():
            raise InterruptError
        return met

    def sum(self, values: Sequence[int]) -> list[int]:
        """Return the sums, over all ranks, of a few integers."""
        return self.meet(values).sums

    def gather_objects(self, value: Item) -> list[Item]:
        """Return the small object of each rank, in their order."""
        received = self.all_gather(self.everyone, to_words(pickle.dumps(value), self.xp))
        return [pickle.loads(to_bytes(words)) for words in received]

    def exchange_objects(self, values: Sequence[Item]) -> list[Item]:
        """Send the k-th small object to rank k; return what each rank sent to this one."""
        received = self.exchange(self.everyone, [to_words(pickle.dumps(value), self.xp) for value in values])
        return [pickle.loads(to_bytes(words)) for words in received]

    @contextmanager
    def raising_together(self) -> Iterator[None]:
        """Raise the first `TravError` that the work inside raises on any rank, on all ranks."""
        error = None
        try:
            yield
        except TravError as raised:
            error = raised
        for other in self.gather_objects(error):
            if other is not None:
                raise other


@contextmanager
def aborting(communicator: Communicator, task: str, *, alike: bool = False) -> Iterator[None]:
    """Abort the communicator if the work inside fails, so that the other ranks do not wait for this one.

    If all ranks raise a `TravError` `alike`, because it follows from what all of them know, they stay usable.
    Its subclasses `TravMemoryError` and `RankError` report the failure of one rank.
    """
    try:
        yield
    except InterruptError:
        raise  # all ranks end here
    except BaseException as error:
        alone = isinstance(error, (TravMemoryError, RankError)) or not isinstance(error, TravError)
        if alone or not alike:
            what = first_line(error) if isinstance(error, Exception) else type(error).__name__
            communicator.abort(f"rank {communicator.rank} failed while {task}: {what}")
        raise


def sent(arrays: Sequence[Array], place: int) -> Traffic:
    """Return the traffic of sending arrays to a group in which the sender is at position `place`."""
    others = [array for position, array in enumerate(arrays) if position != place]
    return Traffic(len(others), sum(array.nbytes for array in others))


def to_words(data: bytes | memoryview, xp: ModuleType) -> Array:
    """Return bytes as an array of 32-bit words, preceded by the number of bytes."""
    words = np.zeros(LENGTH_WORDS + -(-len(data) // 4), np.uint32)
    words[:LENGTH_WORDS].view(np.uint64)[0] = len(data)
    words[LENGTH_WORDS:].view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    return move(words, xp)


def to_bytes(words: Array) -> memoryview:
    """Return the bytes that `to_words` was given, without a copy on the CPU."""
    host = np.ascontiguousarray(move(words, np))
    length = int(host[:LENGTH_WORDS].view(np.uint64)[0])
    return memoryview(host[LENGTH_WORDS:].view(np.uint8)[:length])
