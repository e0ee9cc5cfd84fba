"""Which blocks have a place in memory, and which of them gives way to another.

Half of the places are hot: a block there is replaced only by one that was used more often (SYSTEMS L7), so
one that is quiet for a while stays.  The other blocks rotate: the first that came and is quiet goes.  How
often a block is used is the mean number of times that one of its rows became active, and counts half after
`HALF_LIFE` loads of any block (L10): a clock of loads, so that equal runs choose alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.csr.adjacency import Array

ABSENT, COMING = -1, -2  # places of blocks that have none, and of the one that is being loaded
# Loads; with 8 or 128 a grid and R-MAT 16 and 18 load as much within 2 %, a road-like lattice within 20 %.
HALF_LIFE = 32


class Residency:
    """The places of blocks.

    Attributes
    ----------
    place : int64 array, (k,)
        Of each block, or `ABSENT` or `COMING`.
    hot, rotating : list of int
        Blocks that are there; of those that rotate the next to go is first.
    frequency : float64 array, (k,)
        Decayed mean frequency of use.
    loads, reloads, evictions : int
        Blocks that were asked for, those of them that had been there before, and hot ones that gave way.
    """

    def __init__(self, n_blocks: int, n_places: int) -> None:
        self.place = np.full(n_blocks, ABSENT, np.int64)
        self.hot: list[int] = []
        self.rotating: list[int] = []
        self.frequency = np.zeros(n_blocks)
        self.loads = self.reloads = self.evictions = 0
        self._most_hot = n_places // 2
        self._free = list(range(n_places))[::-1]
        self._known = np.zeros(n_blocks, bool)

    def use(self, amounts: Array) -> None:
        """Count how often the rows of each block became active, on the mean of its rows."""
        self.frequency += amounts

    def room(self, is_quiet: Callable[[int], bool]) -> int | None:
        """Return a place that is free, or made so by a rotating block that is quiet; else None."""
        if self._free:
            return self._free.pop()
        for block in self.rotating:
            if is_quiet(block):
                self.rotating.remove(block)
                place = int(self.place[block])
                self.place[block] = ABSENT
                return place
        return None

    def begin(self, block: int) -> None:
        """Note that a block is on its way."""
        self.place[block] = COMING
        self.loads += 1
        self.reloads += int(self._known[block])
        self._known[block] = True
        self.frequency *= 0.5 ** (1 / HALF_LIFE)

    def land(self, block: int, place: int) -> None:
        """Note that it has come, and whether it is hot."""
        self.place[block] = place
        if len(self.hot) < self._most_hot:
            self.hot.append(block)
            return
        coldest = min(self.hot, key=self.frequency.__getitem__, default=None)
        if coldest is not None and self.frequency[coldest] < self.frequency[block]:
            self.hot.remove(coldest)
            self.rotating.insert(0, coldest)
            self.hot.append(block)
            self.evictions += 1
        else:
            self.rotating.append(block)
