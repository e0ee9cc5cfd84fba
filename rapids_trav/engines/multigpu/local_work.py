"""Protocol for the local work of a rank, with an implementation on the CPU and one on the GPU.

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
    """Edges of a rank, grouped by the end "from": those of u are at `offsets[u]` to `offsets[u + 1]`.

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
    """State of a rank's search along its edges in one direction, by the local id of the end "to".

    Attributes
    ----------
    claimed : uint32 array
        Bitmap of the vertices found; each is sent to its owner once in a search.
    predecessor : int32 array or None
        The vertex "from" that it was found from; None if predecessors are not asked for.
    found : int32 array
        Buffer for the vertices that a level finds: the offsets of block m begin at `m * block`.
    """

    claimed: Array
    predecessor: Array | None
    found: Array


@dataclass(frozen=True)
class Frontier:
    """Vertices whose edges are followed in a level.

    Attributes
    ----------
    vertices : int32 array
        Local ids of vertices "from".
    n_edges : int
        Number of their edges.
    scanned : int64 array, (vertices + 1,), or None
        Number of edges of the vertices before each, if the local work needs it.
    """

    vertices: Array
    n_edges: int
    scanned: Array | None = None


@dataclass(frozen=True)
class Owned:
    """State of the vertices that a rank owns, by their offset.

    Attributes
    ----------
    visited : uint32 array
        Bitmap of the vertices visited.
    distance : int32 array
        -1 where unreached.
    finder : int32 array or None
        Finder of each vertex, as numbered by `sweeps`; -1 at sources and where unreached.
    """

    visited: Array
    distance: Array
    finder: Array | None


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

        Returns
        -------
        list of int32 arrays
            For each block the offsets of the vertices claimed, in any order; stored in `reach.found`.
        """

    def pull(
        self, edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
    ) -> tuple[list[Array], int]:
        """Claim the vertices that `expand` would, bottom-up.

        Each vertex that is not claimed searches for one edge from the frontier.

        Parameters
        ----------
        edges : Compressed
            Edges grouped by the end "to"; their targets are the ends "from".
        frontier : uint32 array
            Bitmap of the frontier among the vertices "from".
        reach : Reach
        block, n_blocks : int

        Returns
        -------
        list of int32 arrays
            As returned by `expand`.
        int
            Number of edges examined.
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
        """Return the offsets of the bits that are set, in any order; int32.

        If the caller knows how many are set, a GPU does not have to be waited for.
        """
