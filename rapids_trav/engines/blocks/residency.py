"""Places of blocks in memory, and the choice of the block that is replaced.

Half of the places are hot: whenever a place is needed, the blocks in memory that were used most are there
(docs/systems.md, L6 and L7), so a block that is quiet for a while stays.  The other blocks rotate: the
earliest one that is quiet is replaced.  The frequency of a block is the mean number of times that one of its
rows became active; its weight halves every `HALF_LIFE` loads of any block (L10).  The clock counts loads, so
that equal runs make equal choices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from rapids_trav.csr.adjacency import Array

ABSENT, COMING = -1, -2  # instead of a place: no place, and being loaded
# In loads; with 8 or 128 a grid and R-MAT 16 and 18 load as much within 2 %, a road-like lattice within 20 %.
HALF_LIFE = 32


class Residency:
    """The places of blocks."""

    def __init__(self, n_blocks: int, n_places: int) -> None:
        self.place = np.full(n_blocks, ABSENT, np.int64)  # of each block, or `ABSENT` or `COMING`
        self.hot: list[int] = []  # resident blocks, as `rotating`, the first of which is replaced next
        self.rotating: list[int] = []
        self.frequency = np.zeros(n_blocks)  # of use, mean and decayed
        # Loads that began, loads of blocks that had been loaded before, and hot blocks that were replaced.
        self.loads = self.reloads = self.evictions = 0
        self._most_hot = n_places // 2
        self._free = list(range(n_places))[::-1]
        self._known = np.zeros(n_blocks, bool)

    def fill(self) -> None:
        """Give each block a place of its own, where it stays."""
        self.hot = list(range(len(self.place)))
        self.place[:] = self.hot
        self._free.clear()

    def use(self, amounts: Array) -> None:
        """Add to each block's frequency the mean number of times that its rows became active."""
        self.frequency += amounts

    def room(self, is_quiet: Callable[[int], bool]) -> int | None:
        """Return a free place, or the place of a rotating block that is quiet and is dropped, or None."""
        if self._free:
            return self._free.pop()
        self._keep_most_used()
        for block in self.rotating:
            if is_quiet(block):
                self.rotating.remove(block)
                place = int(self.place[block])
                self.place[block] = ABSENT
                return place
        return None

    def begin(self, block: int) -> None:
        """Record that a block is being loaded."""
        self.place[block] = COMING
        self.loads += 1
        self.reloads += int(self._known[block])
        self._known[block] = True
        self.frequency *= 0.5 ** (1 / HALF_LIFE)

    def land(self, block: int, place: int) -> None:
        """Record that a block has arrived."""
        self.place[block] = place
        (self.hot if len(self.hot) < self._most_hot else self.rotating).append(block)

    def _keep_most_used(self) -> None:
        """Exchange hot blocks, of which the coldest go next, for others that were used more often."""
        frequency = self.frequency.__getitem__
        while self.hot and self.rotating:
            coldest, hottest = min(self.hot, key=frequency), max(self.rotating, key=frequency)
            if frequency(coldest) >= frequency(hottest):
                return
            self.hot[self.hot.index(coldest)] = hottest
            self.rotating.remove(hottest)
            self.rotating.insert(0, coldest)
            self.evictions += 1


Copy = Callable[[int, int], int]  # copies a block to a place, returns its bytes


class Landed(NamedTuple):
    """A block that has been copied to its place."""

    block: int
    place: int
    n_bytes: int


class Loading(Protocol):
    """Interface of a loader."""

    most: int  # blocks that may be under way at once

    @property
    def n_coming(self) -> int:
        """Return the number of blocks that are being loaded, or have arrived and were not taken."""

    def begin(self, block: int, place: int) -> None:
        """Start to copy a block to a place."""

    def landed(self, wait: bool = False) -> Landed | None:
        """Return the block that arrived first, or None; with `wait`, wait for one that is being loaded."""

    def close(self) -> None:
        """Wait for the loads that have begun, and forget them."""
