"""Memory of searches, from their start until the answer is complete.

With n vertices and v bytes for an id, searches take, in bytes:

- on the CPU  (5 + 2 v) n for distances, predecessors, a queue and bitmaps; k searches together take
  (4 + v) k n, and (24 + 2 v) n for each thread that runs a group of them;
- on a GPU    at most 32 n; k searches take (4 + v) k n, 24 n for each 64 of them (up to 256), and 2 v n.

Searches that run one after another, as they do if the caller names a variant, hold their answers twice when
these are concatenated.  So do searches with repeated sources.

Distances and predecessors take (4 + v) n for each search and stay until the answer is made from them.  The
question declares the memory that this takes beside them; the constants and functions here give it per vertex
of each search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
class Searches:
    """Properties of searches that determine their memory.

    Attributes
    ----------
    variant : str
    number : int or None
        Number of independent searches; None stands for one search from a joint frontier.
    repeated : bool
        Whether two or more of the searches have the same source.
    answer : int
        Bytes of the answer per vertex of each search, in addition to distances and predecessors.
    beside : int
        Total bytes that the question may ask for while the memory of the searches is held.
    later : int
        Bytes that it will ask for after that memory has been released.
    trace : bool
        Whether the search records a row for each level.
    sums : {"vertices", "sources"}, optional
        Where the distances of the searches are summed; then neither they nor predecessors are kept.
    """

    variant: str = "auto"
    number: int | None = None
    repeated: bool = False
    answer: int = 0
    beside: int = 0
    later: int = 0
    trace: bool = False
    sums: Literal["vertices", "sources"] | None = None

    def nbytes(self, host: bool, n_vertices: int, vertex: int, n_threads: int = 1) -> int:
        """Return the bytes of all these searches, run at once by `n_threads` threads."""
        if self.sums is not None:
            return sums_bytes(host, n_vertices, vertex, self.number or 0, n_threads, self.sums == "vertices")
        if self.number is None:
            running = search_bytes(host, n_vertices, vertex)
            if self.trace and not host:  # its buffer is sized for the largest possible number of levels
                running += TRACE_BYTES * trace_levels(n_vertices)
        else:
            together = self.variant == "auto"
            running = searches_bytes(
                host, n_vertices, vertex, self.number, n_threads if together else None, self.repeated
            )
        answer = DISTANCE_BYTES + vertex + self.answer
        if self.number is not None and not host:
            answer += MASK_BYTES + (REPEATED_BYTES if self.repeated else 0)
        return max(running, (self.number or 1) * n_vertices * answer)


def trace_levels(n_vertices: int) -> int:
    """Return the number of levels that the trace of a search on a GPU has room for."""
    return min(n_vertices + 1, TRACE_LEVELS)


def search_bytes(host: bool, n_vertices: int, vertex: int) -> int:
    """Return the most bytes that a search from one frontier takes."""
    return (5 + 2 * vertex if host else GPU_BYTES) * n_vertices


def ahead_bytes(host: bool, n_vertices: int, vertex: int, ahead: int) -> int:
    """Return the bytes of `ahead` searches that run one after another, with the answers of all of them."""
    if ahead == 0:
        return 0
    return search_bytes(host, n_vertices, vertex) + (ahead - 1) * (DISTANCE_BYTES + vertex) * n_vertices


def searches_bytes(
    host: bool,
    n_vertices: int,
    vertex: int,
    n_searches: int,
    n_threads: int | None,
    repeated: bool = False,
) -> int:
    """Return the bytes of independent searches: run together by `n_threads`, or one by one if it is None."""
    answers = n_searches * (DISTANCE_BYTES + vertex) * n_vertices
    if repeated:
        answers *= 2
    if n_threads is None:
        return 2 * answers + search_bytes(host, n_vertices, vertex)
    if host:
        return answers + min(n_searches, n_threads) * (24 + 2 * vertex) * n_vertices
    return answers + (BATCH_BYTES * min(words(n_searches), BATCH_WORDS) + 2 * vertex) * n_vertices


def words(n_searches: int) -> int:
    """Return the number of words that hold a bit for each of `n_searches` searches."""
    return -(-n_searches // WORD)


def paths_bytes(vertex: int, each: bool) -> int:
    """Return the bytes, per vertex of each search, of predecessors renumbered over all searches.

    Renumbering takes two steps.  A joint search needs none.
    """
    return 3 * vertex + 5 if each else 0


def answer_bytes(vertex: int, each: bool, ranked: bool, reached_only: bool) -> int:
    """Return the bytes, per vertex of each search, of the rows of an answer in the caller's order.

    Parameters
    ----------
    each : bool
        Whether rows have a source column, and batches are concatenated.
    ranked : bool
        Whether the order of internal ids differs from that of the caller's ids.
    reached_only : bool
        Whether the answer has rows for reached vertices only.
    """
    found = DISTANCE_BYTES + vertex
    n_bytes = found if ranked or each else 0
    n_bytes += 8 if ranked else 0  # ids in the caller's type, before they are reordered
    if reached_only:
        n_bytes += 17 + found + vertex + (16 if each or ranked else 0)
    if each:
        n_bytes += 2 * vertex + 27  # sources and vertices; columns in the caller's ids, and masks
    return n_bytes


def counted_at_once(n_vertices: int) -> int:
    """Return the number of vertices that are counted by distance at once."""
    return max(n_vertices // COUNTED_PART, COUNTED_LEAST)


def levels_bytes(n_vertices: int, n_levels: int) -> int:
    """Return the bytes of counting the vertices of a search by level, without the distances."""
    return LEVEL_BYTES * n_levels + KEY_BYTES * min(counted_at_once(n_vertices), n_vertices)


def neighborhood_bytes(n_vertices: int, id_bytes: int) -> int:
    """Return the bytes of finding the edges of a neighbourhood, without the block of rows being read."""
    return n_vertices + TABLE_SHARE * id_bytes


def sums_bytes(
    host: bool, n_vertices: int, vertex: int, n_searches: int, n_threads: int, of_vertices: bool
) -> int:
    """Return the bytes of sums over the distances of searches that run at once."""
    sums = SUMS_BYTES if of_vertices else 0  # sums of sources are few
    at_once = max(words(n_searches), 1)
    if host:  # bit words, queues and sums of each thread, and the answer
        return (min(at_once, n_threads) * (24 + 2 * vertex + sums) + sums) * n_vertices
    running = BATCH_BYTES * min(at_once, BATCH_WORDS) + HEAVY_BYTES + 2 * vertex
    return (running + SUMS_BYTES) * n_vertices


def shares_bytes(host: bool, n_vertices: int, n_edges: int, edges: bool, vertex: int, together: int) -> int:
    """Return the bytes of the shares of vertices, and of edges if asked, in shortest paths.

    `together` is the number of searches at once: the threads of the CPU; on a GPU 1 or SHARED.
    """
    sums = SHARES_BYTES * n_vertices + 8 * n_edges * edges
    running = (4 + vertex + 2 * 8) * n_vertices  # distance, order, number of paths and weight
    if host:
        return together * (running + sums) + SHARES_BYTES * n_vertices
    if together < SHARED:
        return running + sums + SHARES_BYTES * n_vertices
    heavy = min(n_vertices, n_edges // SHARED_HEAVY_DEGREE) * 8 * SHARED
    return (SHARED * (4 + 2 * 8) + 3 * 4 + HEAVY_BYTES + vertex) * n_vertices + heavy + sums


def edge_shares_bytes(n_edges: int, vertex: int) -> int:
    """Return the bytes of making an answer with a row for each edge."""
    return (2 * vertex + 7 * 8) * n_edges


def bounds_bytes(n_vertices: int) -> int:
    """Return the bytes of eccentricities by bounds, without those of the searches."""
    return (BOUNDS_BYTES + DRAWING_BYTES) * n_vertices
