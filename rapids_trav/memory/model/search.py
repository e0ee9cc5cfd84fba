"""Memory of searches, from their start until the answer is complete.

With n vertices and v bytes for an id, searches take, in bytes:

- on the CPU  (5 + 2 v) n for distances, predecessors, a queue and bitmaps; k searches together take
  (4 + v) k n, and (24 + 2 v) n for each thread that runs a group of them;
- on a GPU    at most 32 n; k searches take (4 + v) k n, 24 n for each 64 of them (up to 256), and 2 v n.

Searches that run one after another, as they do if the caller names a variant, hold their answers twice when
these are concatenated.  So do searches with repeated sources.

Distances and predecessors take (4 + v) n for each search and stay until the answer is made from them.  What
the answer takes in addition is given per vertex of each search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rapids_trav.memory.model.build import OFFSET_BYTES
from rapids_trav.memory.model.program import FIXED_BYTES, LINKED_PART, question_bytes

DISTANCE_BYTES = 4
GPU_BYTES = 32
WORD = 64  # searches that run in one word of bits
MASK_BYTES = 3  # per row of an answer on a GPU: the null mask, as booleans and as bits
REPEATED_BYTES = 10  # per row on a GPU, if sources are repeated
TRACE_COLUMNS = 7
TRACE_BYTES = 8 * TRACE_COLUMNS  # per level in the trace of a search on a GPU
TRACE_LEVELS = 1 << 22  # most levels that the trace of a search on a GPU has room for

BATCH_BYTES = 24  # per vertex on a GPU, for each word of searches: three arrays
BATCH_WORDS = 4  # most words of searches at once on a GPU
HEAVY_BYTES = 20  # per vertex on a GPU: the making of a list of heavy rows
SUMS_BYTES = 28  # per vertex: number reached, two sums, and the largest distance
SHARES_BYTES = 16  # per vertex: its share of the paths, and the number of searches that reach it
SHARED = 32  # searches on a GPU whose shares of paths are summed at once
SHARED_HEAVY_DEGREE = 2048  # rows of this degree have sums of their own
BOUNDS_BYTES = 40  # per vertex: component, degree, two bounds, and a flag for bounds that differ
DRAWING_BYTES = 32  # per vertex: temporary arrays of choosing sources and of tightening bounds
KHOP_BYTES = 22  # per vertex of a neighbourhood: a mask, positions, ids, distances
TABLE_SHARE = 2  # size of the lookup table relative to the ids; it has empty slots
DEGREES_BYTES = 24  # per vertex: degrees in two types, and in the caller's order
HISTOGRAM_BYTES = 32  # per vertex: degrees, the group of each, and temporary arrays
TREE_BYTES = 64  # per vertex of a tree to check: distance, predecessor, and the columns they are read from
MARK_BYTES = 2  # per vertex: whether it is a source, and whether an edge joins it to its predecessor
LEVEL_BYTES = 28  # per level: its distance, its number of vertices, their running total, one more count
KEY_BYTES = 16  # per vertex being counted by distance: a mask, the bin, and the array the bin is made from
COUNTED_PART = 32  # this fraction of the vertices is counted at once ...
COUNTED_LEAST = 1 << 10  # ... but at least this number


@dataclass(frozen=True)
class QueryBytes:
    """Table of the bytes that each query by searches, or for components, takes on one graph."""

    host: bool
    n: int  # vertices
    vertex: int  # bytes of an internal id
    n_threads: int = 1  # of the CPU engine that search at the same time

    @property
    def found(self) -> int:
        """Bytes, per vertex, of the distance and predecessor that a search finds."""
        return DISTANCE_BYTES + self.vertex

    @property
    def state(self) -> int:
        """The most bytes that a search from one frontier takes, without its answer and trace."""
        return (5 + 2 * self.vertex if self.host else GPU_BYTES) * self.n

    def search(self, answer: int = 0, trace: bool = False) -> int:
        """Bytes of a search from one frontier, with `answer` bytes per vertex of the answer made from it."""
        running = self.state
        if trace and not self.host:  # its buffer is sized for the largest possible number of levels
            running += TRACE_BYTES * trace_levels(self.n)
        return max(running, self.n * (self.found + answer))

    def searches(self, number: int, answer: int = 0, *, repeated: bool = False, together: bool = True) -> int:
        """Bytes of independent searches with their answers, run together or one after another.

        `repeated` is whether two or more of them have the same source.
        """
        distances = number * self.found * self.n * (2 if repeated else 1)
        if not together:
            running = 2 * distances + self.state
        elif self.host:
            running = distances + min(number, self.n_threads) * (24 + 2 * self.vertex) * self.n
        else:
            running = distances + (BATCH_BYTES * min(words(number), BATCH_WORDS) + 2 * self.vertex) * self.n
        masks = 0 if self.host else MASK_BYTES + (REPEATED_BYTES if repeated else 0)
        return max(running, number * self.n * (self.found + answer + masks))

    def ahead(self, number: int) -> int:
        """Bytes of searches that run one after another, with the answers of all of them."""
        return self.state + (number - 1) * self.found * self.n if number else 0

    def answer(self, *, each: bool, ranked: bool, reached_only: bool) -> int:
        """Bytes, per vertex of each search, of the rows of an answer in the caller's order.

        With `each`, rows have a source column, and batches are concatenated.  If `ranked`, the order of
        internal ids differs from that of the caller's ids.
        """
        n_bytes = self.found if ranked or each else 0
        n_bytes += 8 if ranked else 0  # ids in the caller's type, before they are reordered
        if reached_only:
            n_bytes += 17 + self.found + self.vertex + (16 if each or ranked else 0)
        if each:
            n_bytes += 2 * self.vertex + 27  # sources and vertices; columns in the caller's ids, and masks
        return n_bytes

    def paths(self, each: bool) -> int:
        """Bytes, per vertex of each search, of predecessors renumbered over all searches, in two steps.

        A joint search needs none.
        """
        return 3 * self.vertex + 5 if each else 0

    def levels(self, n_levels: int) -> int:
        """Bytes of counting the vertices of a search by level, without the distances."""
        return LEVEL_BYTES * n_levels + KEY_BYTES * min(counted_at_once(self.n), self.n)

    def sums(self, number: int, of_vertices: bool, bounds: bool = False) -> int:
        """Bytes of sums over the distances of searches that run at once, none of which is kept.

        With `bounds`, they include those of eccentricities by bounds.
        """
        if bounds:
            return self.sums(number, of_vertices) + (BOUNDS_BYTES + DRAWING_BYTES) * self.n
        sums = SUMS_BYTES if of_vertices else 0  # sums of sources are few
        at_once = max(words(number), 1)
        if self.host:  # bit words, queues and sums of each thread, and the answer
            return (min(at_once, self.n_threads) * (24 + 2 * self.vertex + sums) + sums) * self.n
        running = BATCH_BYTES * min(at_once, BATCH_WORDS) + HEAVY_BYTES + 2 * self.vertex
        return (running + SUMS_BYTES) * self.n

    def shares(self, n_edges: int, edges: bool, together: int) -> int:
        """Bytes of the shares of vertices, and of edges if asked, in shortest paths.

        `together` is the number of searches at once: the threads of the CPU; on a GPU 1 or SHARED.
        """
        n = self.n
        sums = SHARES_BYTES * n + 8 * n_edges * edges
        running = (4 + self.vertex + 2 * 8) * n  # distance, order, number of paths and weight
        if self.host:
            return together * (running + sums) + SHARES_BYTES * n
        if together < SHARED:
            return running + sums + SHARES_BYTES * n
        heavy = min(n, n_edges // SHARED_HEAVY_DEGREE) * 8 * SHARED
        return (SHARED * (4 + 2 * 8) + 3 * 4 + HEAVY_BYTES + self.vertex) * n + heavy + sums

    def betweenness(self, n_edges: int, edges: bool, together: int) -> int:
        """Bytes of these shares and of the answer, which may have a row for each edge."""
        return self.shares(n_edges, edges, together) + (2 * self.vertex + 7 * 8) * n_edges * edges

    def trees(self, paged: bool) -> int:
        """Bytes of finding components by linking trees: parents; on a GPU also a queue.

        If its edges are `paged`, a GPU also takes the row offsets and a part of the columns.
        """
        if self.host:
            return self.vertex * self.n
        outside = OFFSET_BYTES * self.n + LINKED_PART if paged else 0
        return 2 * self.vertex * self.n + outside + FIXED_BYTES

    def components(self, ranked: bool, paged: bool) -> int:
        """Bytes of finding components and of the answer; see `answer` and `trees`."""
        return question_bytes(self.vertex, ranked) * self.n + self.trees(paged)

    def neighborhood(self, id_bytes: int) -> int:
        """Bytes of finding the edges of a neighbourhood, without the block of rows being read."""
        return self.n + TABLE_SHARE * id_bytes


def trace_levels(n_vertices: int) -> int:
    """Return the number of levels that the trace of a search on a GPU has room for."""
    return min(n_vertices + 1, TRACE_LEVELS)


def words(n_searches: int) -> int:
    """Return the number of words that hold a bit for each of `n_searches` searches."""
    return -(-n_searches // WORD)


def counted_at_once(n_vertices: int) -> int:
    """Return the number of vertices that are counted by distance at once."""
    return max(n_vertices // COUNTED_PART, COUNTED_LEAST)


Needed = Callable[[QueryBytes, int], int]  # bytes of a number of searches, from the table for their graph
