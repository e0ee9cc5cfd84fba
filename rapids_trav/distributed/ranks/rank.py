"""A rank with its communicator, local work and frame library."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_work import LocalWork
from rapids_trav.frames.libraries import Library


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
        return self.communicator.everyone

    def synchronize(self) -> None:
        """Wait until the device has finished the work on the current stream."""
        if self.xp is not np:
            self.xp.cuda.get_current_stream().synchronize()


def from_holders(rank: Rank, mine: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the number of each entry from the one rank that has it; 0 for entries that no rank has.

    Every rank calls it, with a flag for each entry and the numbers of its own; all are on the host, and few.
    """
    own = np.zeros(len(mine), np.int64)
    own[mine] = values
    return np.array(rank.communicator.sum(own.tolist()), np.int64)
