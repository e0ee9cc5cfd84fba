"""A rank with its communicator, local work and frame library, and the exchange of small Python objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

import numpy as np

from rapids_trav.engines.multigpu import communicator
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_work import LocalWork
from rapids_trav.frames.libraries import Library

Item = TypeVar("Item")


@dataclass(frozen=True)
class Rank:
    """One rank of a graph that is spread over several.

    Attributes
    ----------
    communicator : Communicator
        Its connection with the others.
    work : LocalWork
        Its local work, on the CPU or on its GPU.
    library : Library
        The library of its frames.
    """

    communicator: Communicator
    work: LocalWork
    library: Library

    @property
    def rank(self) -> int:
        """Number of this rank, from 0."""
        return self.communicator.rank

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self.communicator.size

    @property
    def xp(self) -> ModuleType:
        """Module of its arrays, numpy or cupy."""
        return self.work.xp

    @property
    def everyone(self) -> tuple[int, ...]:
        """All ranks, the group of most calls."""
        return tuple(range(self.size))

    def synchronize(self) -> None:
        """Wait until the device has finished the work on the current stream."""
        if self.xp is not np:
            self.xp.cuda.get_current_stream().synchronize()


def all_gather_objects(rank: Rank, value: Item) -> list[Item]:
    """Return the small object of each rank, in their order."""
    return communicator.gather_objects(rank.communicator, value, rank.xp)


def exchange_objects(rank: Rank, values: Sequence[Item]) -> list[Item]:
    """Send the k-th small object to rank k; return what each rank sent to this one."""
    return communicator.exchange_objects(rank.communicator, values, rank.xp)


def raise_together(rank: Rank, error: Exception | None) -> None:
    """Raise the first error that any rank has, on all ranks; return if no rank has one."""
    communicator.raise_together(rank.communicator, error, rank.xp)


def from_holders(rank: Rank, mine: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the number of each entry from the one rank that has it; 0 for entries that no rank has.

    Every rank calls it, with a flag for each entry and the numbers of its own; all are on the host, and few.
    """
    own = np.zeros(len(mine), np.int64)
    own[mine] = values
    return np.array(rank.communicator.sum(own.tolist()), np.int64)
