"""How ranks talk: the protocol that a search over many ranks is written against.

All ranks make the same calls in the same order, and all ranks of a group name it alike.  A call gives up
after the communicator's deadline, or when any rank has called `abort`, with a `RankError`: none hangs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rapids_trav.csr.array import Array
from rapids_trav.errors import first_line

DEADLINE = 60.0  # seconds that a rank waits for the others, by default


@dataclass(frozen=True)
class Traffic:
    """Count what a rank has sent to others.

    Attributes
    ----------
    messages : int
        Arrays sent to another rank; empty ones count too.  What a rank hands to itself does not.
    bytes : int
        Bytes of those arrays.  Beside them goes a header of 8 bytes, with type and length, a message.
    sums : int
        Sums over all ranks that it took part in.
    """

    messages: int = 0
    bytes: int = 0
    sums: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.messages + other.messages, self.bytes + other.bytes, self.sums + other.sums)

    def __sub__(self, other: Traffic) -> Traffic:
        return Traffic(self.messages - other.messages, self.bytes - other.bytes, self.sums - other.sums)


class Communicator(Protocol):
    """The end of one rank in the connection with the others.

    A group is a tuple of ranks, in the same order on each of them, with the caller among them.  Arrays have
    one dimension and lie where the rank works: NumPy or CuPy.  Their types and lengths travel with them.  An
    array that was sent may be changed after the call; one that was received belongs to the receiver, unless
    it came from itself.
    """

    @property
    def rank(self) -> int:
        """Return this rank, from 0."""

    @property
    def size(self) -> int:
        """Return the number of ranks."""

    @property
    def traffic(self) -> Traffic:
        """Return what this rank has sent so far."""

    def all_gather(self, group: Sequence[int], array: Array) -> list[Array]:
        """Send `array` to each rank of the group; return theirs, in the order of the group."""

    def exchange(self, group: Sequence[int], arrays: Sequence[Array]) -> list[Array]:
        """Send the k-th array to the k-th rank of the group; return what each sent to this one."""

    def sum(self, values: Sequence[int]) -> list[int]:
        """Return the sums, over all ranks, of a few integers."""

    def abort(self, reason: str) -> None:
        """End the pending and all later calls of every rank with a `RankError`; the first reason holds.

        May be called from any thread, and returns at once.
        """


@contextmanager
def aborting(communicator: Communicator, task: str) -> Iterator[None]:
    """Abort the communicator if the work inside fails, so that the other ranks do not wait for this one."""
    try:
        yield
    except BaseException as error:
        what = first_line(error) if isinstance(error, Exception) else type(error).__name__
        communicator.abort(f"rank {communicator.rank} failed while {task}: {what}")
        raise


def sent(arrays: Sequence[Array], place: int) -> Traffic:
    """Return the traffic of arrays to a group in which the sender stands at `place`."""
    others = [array for position, array in enumerate(arrays) if position != place]
    return Traffic(len(others), sum(array.nbytes for array in others))
