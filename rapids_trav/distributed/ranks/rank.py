"""A rank: its communicator, local work and frame library, its state between requests, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_work import LocalWork
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.libraries import Library


@dataclass(frozen=True)
class Rank:
    """One rank of a graph that is spread over several."""

    communicator: Communicator
    work: LocalWork
    library: Library  # of its frames

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

    def from_holders(self, mine: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the number of each entry from the one rank that has it; 0 for entries that no rank has.

        Every rank calls it, with a flag for each entry and the numbers of its own; all are on the host, and
        few.
        """
        own = np.zeros(len(mine), np.int64)
        own[mine] = values
        return np.array(self.communicator.sum(own.tolist()), np.int64)


@dataclass
class RankState:
    """State of one rank; the first argument of every function that is called on all ranks."""

    communicator: Communicator
    device: Literal["cpu", "cuda"]
    partitions: list[tuple[int, Frame]] = field(default_factory=list)  # those given to it, with their numbers
    # What functions keep for later calls, such as the graph.  If an item has a method `release`, this is
    # called before the item is dropped, and what it returns is added to `exported`.
    items: dict[str, object] = field(default_factory=dict)
    exported: list[object] = field(default_factory=list)  # memory that others may read until all have left


@dataclass(frozen=True)
class Kept:
    """Answer of a rank whose frames become Dask data on its worker."""

    frames: Mapping[str, list[Frame]]  # the partitions of each frame that this rank has, in order
    about: object = None  # information for the client, such as the lengths of the frames
