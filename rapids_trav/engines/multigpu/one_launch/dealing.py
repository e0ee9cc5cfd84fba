"""Ids of vertices that are dealt to ranks one by one, in descending order of their degree.

Dealing balances the edges: on R-MAT graphs with an edge factor of 16, the fullest of 8 ranks has 1.3% more
edges than the mean, whereas with consecutive ranges of vertices it would have seven times the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rapids_trav.engines.multigpu.grid import Number
from rapids_trav.errors import TravError

MOST_RANKS = 64  # as in kernels/fused_meeting.cuh
ALIGNED = 128  # ids of a rank are a multiple of this: its part of a bitmap is read in runs of 16 bytes
_NARROW_IDS = 2**31
SHARED = "bitmaps and lists for other GPUs"  # name of the memory that other ranks reach


@dataclass(frozen=True)
class Dealing:
    """Owners and ids of `n_vertices` vertices on `n_ranks` ranks.

    The vertex at place k in the order by degree belongs to rank `k % n_ranks` and is number `k // n_ranks`
    there; its id is that number after the ids of the ranks before.
    """

    n_vertices: int
    n_ranks: int

    def __post_init__(self) -> None:
        if not 1 <= self.n_ranks <= MOST_RANKS:
            raise TravError(f"A search in one launch takes 1 to {MOST_RANKS} ranks, not {self.n_ranks}.")

    @cached_property
    def each(self) -> int:
        """Number of ids of a rank, including those that no vertex has."""
        return max(1, -(-self.n_vertices // (self.n_ranks * ALIGNED))) * ALIGNED

    @property
    def n_ids(self) -> int:
        return self.each * self.n_ranks

    @property
    def vertex_dtype(self) -> np.dtype:
        return np.dtype(np.int32 if self.n_ids < _NARROW_IDS else np.int64)

    def id(self, place: Number) -> Number:
        """Return the id of the vertex at a place in the order by degree."""
        return place % self.n_ranks * self.each + place // self.n_ranks

    def place(self, id: Number) -> Number:
        """Return the place of an id in the order by degree; ids without a vertex come last."""
        return id % self.each * self.n_ranks + id // self.each

    def owner(self, id: Number) -> Number:
        """Return the rank that owns an id."""
        return id // self.each

    def first(self, rank: int) -> int:
        """Return the first id of a rank."""
        return rank * self.each
