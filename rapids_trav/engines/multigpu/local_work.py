"""The work of a rank by itself: a protocol with an implementation on the CPU and one on the GPU.

Vertices are local ids, int32: those "from" which edges lead are the sources of the rank's column of the grid
and those "to" which they lead the destinations of its row, or the other way round in a search backwards.
Either is made of blocks, one for each rank of a group; a vertex within its block is an `offset`.  A bitmap
has vertex v at bit v % 32 of word v // 32, uint32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import numpy as np

from rapids_trav.csr.array import Array

WIDE_OFFSETS = 2**31  # edges of a rank from which offsets take 64 bits
SHIFT, MASK = 32, 2**32 - 1  # an edge as one int64: the end that it is sorted by, above the other


def offset_dtype(n_edges: int) -> np.dtype:
    """Return the type of offsets into so many edges: 64-bit from 2^31 on."""
    return np.dtype(np.int32 if n_edges < WIDE_OFFSETS else np.int64)


@dataclass(frozen=True)
class Compressed:
    """Edges of a rank by the end that they lead from: those of u at `offsets[u]` to `offsets[u + 1]`.

    Attributes
    ----------
    offsets : int32 or int64 array, (vertices from + 1,)
    targets : int32 array, (edges,)
        Vertices that the edges lead to.
    """

    offsets: Array
    targets: Array

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.targets.nbytes


@dataclass(frozen=True)
class Reach:
    """State of one rank along its edges of one orientation, by the local id of the end "to".

    Attributes
    ----------
    claimed : uint32 array
        Bitmap of the vertices found: each is handed to its owner once in a search.
    predecessor : int32 array or None
        The vertex "from" that it was found from; None if predecessors are not asked for.
    found : int32 array
        Room for the vertices that a level finds: block m holds offsets from `m * block` on.
    """

    claimed: Array
    predecessor: Array | None
    found: Array


@dataclass(frozen=True)
class Owned:
    """The vertices that a rank owns, by their offset.

    Attributes
    ----------
    visited : uint32 array
        Bitmap.
    distance : int32 array
        -1 where unreached.
    finder : int32 array or None
        The finder of the vertex, as the search numbers them; -1 at sources and where unreached.
    """

    visited: Array
    distance: Array
    finder: Array | None


class LocalWork(Protocol):
    """The steps of a level that touch edges or vertices."""

    @property
    def xp(self) -> ModuleType:
        """Return numpy or cupy."""

    def compress(self, pieces: list[Array], n_from: int) -> Compressed:
        """Group edges, given as int64 keys, by the end in their upper half; empties `pieces` as it goes."""

    def transpose(self, edges: Compressed, n_to: int) -> Compressed:
        """Group the same edges by their other end."""

    def expand(
        self, edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
    ) -> tuple[list[Array], int]:
        """Follow the edges of `frontier` and claim what they lead to (K5, K6).

        Returns
        -------
        list of int32 arrays
            For each block the offsets of the vertices claimed, in any order; they lie in `reach.found`.
        int
            Edges followed.
        """

    def pull(
        self, edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
    ) -> tuple[list[Array], int]:
        """Claim what `expand` would, from the other side: each vertex that is not claimed looks for one edge.

        Parameters
        ----------
        edges : Compressed
            By the end "to", targets are the ends "from".
        frontier : uint32 array
            Bitmap of the ends "from".
        reach : Reach
        block, n_blocks : int

        Returns
        -------
        list of int32 arrays
            As of `expand`.
        int
            Edges looked at.
        """

    def smallest_before(
        self, edges: Compressed, from_level: Array, to_level: Array, order: Array | None = None
    ) -> Array:
        """Return, for each vertex "to", the first "from" that is one level nearer, -1 if there is none.

        `order`, int32, has the vertices "from" in the order that counts; by default they ascend.
        """

    def candidates(self, edges: Compressed, frontier: Array) -> Array:
        """Return every edge of `frontier` as an int64 key, the end "to" above the end "from"."""

    def settle(self, owned: Owned, messages: Sequence[tuple[Array, int]], level: int) -> Array:
        """Visit the offsets of each message that are not visited yet, and return them: the next frontier.

        A message comes with the number of its finder.
        """

    def to_words(self, offsets: Array, n_words: int) -> Array:
        """Return the bitmap of some offsets."""

    def to_offsets(self, words: Array) -> Array:
        """Return the offsets of the bits that are set, in any order; int32."""
