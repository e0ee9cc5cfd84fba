"""Local work of a rank: `local_cpu` (Numba) and `local_cuda` (CuPy) implement it.

Vertices are local ids, int32.  In a forward search the vertices "from", which edges lead from, are the
sources of the rank's column of the grid, and the vertices "to", which edges lead to, are the destinations of
its row; in a backward search it is the other way round.  Both consist of blocks, one for each rank of a
group; the position of a vertex in its block is its `offset`.  A bitmap has vertex v at bit v % 32 of word v
// 32, uint32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

from rapids_trav.csr.array import Array

SHIFT, MASK = 32, 2**32 - 1  # an edge as one int64: the end to sort by in the upper half, the other below


@dataclass(frozen=True)
class Compressed:
    """Edges of a rank, grouped by the end "from": those of u are at `offsets[u]` to `offsets[u + 1]`."""

    offsets: Array  # int32 or int64, (vertices from + 1,)
    targets: Array  # int32, (edges,)

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.targets.nbytes


@dataclass(frozen=True)
class Reach:
    """State of a rank's search along its edges in one direction, by the local id of the end "to"."""

    claimed: Array  # bitmap of the vertices found; each is sent to its owner once in a search
    predecessor: Array | None  # int32, the vertex "from" that each was found from; None if not asked for
    found: Array  # int32, buffer of what a level finds: the offsets of block m begin at `m * block`


@dataclass(frozen=True)
class Frontier:
    """Vertices "from" whose edges are followed in a level."""

    vertices: Array
    n_edges: int
    scanned: Array | None = None  # int64, number of edges of the vertices before each, on GPUs


@dataclass(frozen=True)
class Owned:
    """State of the vertices that a rank owns, by their offset."""

    visited: Array  # bitmap
    distance: Array  # int32, -1 where unreached
    finder: Array | None  # int32, as numbered by `follow.sweeps`; -1 at sources and where unreached


class LocalWork(Protocol):
    """Steps of a level that touch edges or vertices."""

    @property
    def xp(self) -> ModuleType:
        """Module of the arrays, numpy or cupy."""

    def free_bytes(self) -> int:
        """Return the bytes of memory that are available."""

    def compress(self, pieces: list[Array], n_from: int) -> Compressed:
        """Group edges, given as int64 keys, by the end in their upper half; empties `pieces` as it goes."""

    def transpose(self, edges: Compressed, n_to: int) -> Compressed:
        """Group the same edges by their other end."""

    def frontier(self, edges: Compressed, vertices: Array) -> Frontier:
        """Return the vertices as a frontier whose edges are counted."""

    def expand(
        self, edges: Compressed, frontier: Frontier, reach: Reach, block: int, n_blocks: int
    ) -> list[Array]:
        """Follow the edges of `frontier` and claim the vertices that they lead to (K5, K6).

        Returns for each block the offsets of the vertices claimed, in any order; stored in `reach.found`.
        """

    def pull(
        self, edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
    ) -> tuple[list[Array], int]:
        """Claim the vertices that `expand` would, bottom-up; return them, and the number of edges examined.

        Each vertex that is not claimed searches for one edge from the frontier, a bitmap.  Here edges are
        grouped by the end "to", and their targets are the ends "from".
        """

    def smallest_before(
        self, edges: Compressed, from_level: Array, to_level: Array, order: Array | None = None
    ) -> Array:
        """Return for each vertex "to" the first vertex "from" that is one level nearer, -1 if none.

        `order`, int32, lists the vertices "from" in the order that decides; by default they ascend.
        """

    def candidates(self, edges: Compressed, frontier: Frontier) -> Array:
        """Return every edge of `frontier` as an int64 key: the end "to" in the upper half, "from" below."""

    def settle(self, owned: Owned, messages: Sequence[tuple[Array, int]], level: int) -> Array:
        """Visit the offsets of each message that are not visited yet; return them as the next frontier.

        Each message comes with the number of its finder.
        """

    def to_words(self, offsets: Array, n_words: int) -> Array:
        """Return the bitmap of these offsets."""

    def to_offsets(self, words: Array, n_set: int | None = None) -> Array:
        """Return the offsets of the bits that are set, in any order; a GPU need not wait to know `n_set`."""
