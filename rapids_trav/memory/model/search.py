"""Bytes of searches while they run and until their answer stands.

Of n vertices with v bytes an id:

- on the CPU  distances, predecessors, a queue and bitmaps: (5 + 2 v) n; of k searches run together
  (4 + v) k n, and (24 + 2 v) n for each thread that runs a group of them;
- on a GPU    at most 32 n; of k searches (4 + v) k n, 24 n for each 64 up to 256, and 2 v n.

Searches that are run one after another, as variants by name are, hold their answers twice when they are put
together, and so do those of repeated sources.

Distances and predecessors, (4 + v) n of each search, stay until an answer is made of them.  What that takes
beside them, the question tells: the constants and functions here have it for each vertex of each search.
"""

from __future__ import annotations

from dataclasses import dataclass

DISTANCE_BYTES = 4
GPU_BYTES = 32
WORD = 64  # searches that run in one word of bits
MASK_BYTES = 3  # of a row of an answer on a GPU: which values are null, and the bits made of that
REPEATED_BYTES = 10  # of a row on a GPU, where sources are repeated
TRACE_COLUMNS = 7
TRACE_BYTES = 8 * TRACE_COLUMNS  # of a level that a GPU's search records
TRACE_LEVELS = 1 << 22  # for which a GPU's search has room

SUMS_BYTES = 28  # of a vertex: how many are reached, two sums, and the largest distance
SHARES_BYTES = 16  # of a vertex: its share, and how often it is reached
BOUNDS_BYTES = 40  # of a vertex: component, degree, two bounds, and that they have not met
DRAWING_BYTES = 32  # of a vertex: what chooses where to search from, or draws the bounds closer
KHOP_BYTES = 22  # the vertices that are near: a mask, positions, ids, distances
TABLE_SHARE = 2  # times the ids, a table to look them up in, with places for some that there are not
DEGREES_BYTES = 24  # degrees in two types, and in the caller's order
TREE_BYTES = 64  # of a tree to check: distance and predecessor, and what they are read from
MARK_BYTES = 2  # whether a vertex is a source, and whether an edge joins it to its predecessor
LEVEL_BYTES = 28  # of a level: its distance, how many vertices it has, they and those before; a count more
KEY_BYTES = 16  # of a vertex that is being counted by its distance: a mask, the bin, and what that is made of
COUNTED_PART = 32  # one vertex in so many is counted at once ...
COUNTED_LEAST = 1 << 10  # ... and so many in any case


@dataclass(frozen=True)
class Searches:
    """Properties of searches that decide the room they take.

    Attributes
    ----------
    variant : str
    number : int or None
        Of independent searches; None: one, from a joint frontier.
    repeated : bool
        Whether some of them have one source.
    answer : int
        Bytes that the answer takes for each vertex of each search, beside what was found.
    beside : int
        Bytes that the question may ask for, in all, while these are held.
    later : int
        Bytes that it will ask for when these are given back.
    trace : bool
        Whether the search keeps a row for each level.
    """

    variant: str = "auto"
    number: int | None = None
    repeated: bool = False
    answer: int = 0
    beside: int = 0
    later: int = 0
    trace: bool = False

    def nbytes(self, host: bool, n_vertices: int, vertex: int, n_threads: int = 1) -> int:
        """Return the bytes of all of them, run at once by so many threads."""
        if self.number is None:
            running = search_bytes(host, n_vertices, vertex)
            if self.trace and not host:  # there is room for as many levels as it may have
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
    """Return how many levels a GPU's search has room to record."""
    return min(n_vertices + 1, TRACE_LEVELS)


def search_bytes(host: bool, n_vertices: int, vertex: int) -> int:
    """Return what a search from one frontier takes at most."""
    return (5 + 2 * vertex if host else GPU_BYTES) * n_vertices


def searches_bytes(
    host: bool,
    n_vertices: int,
    vertex: int,
    n_searches: int,
    n_threads: int | None,
    repeated: bool = False,
) -> int:
    """Return what independent searches take: together, by so many threads, or one after another (None)."""
    answers = n_searches * (DISTANCE_BYTES + vertex) * n_vertices
    if repeated:
        answers *= 2
    if n_threads is None:
        return 2 * answers + search_bytes(host, n_vertices, vertex)
    if host:
        return answers + min(n_searches, n_threads) * (24 + 2 * vertex) * n_vertices
    return answers + (24 * min(-(-n_searches // WORD), 4) + 2 * vertex) * n_vertices


def paths_bytes(vertex: int, each: bool) -> int:
    """Return, for each vertex of each search, what predecessors in the numbering of all searches take.

    They are made in two steps; those of a joint search are as they were found.
    """
    return 3 * vertex + 5 if each else 0


def answer_bytes(vertex: int, each: bool, ranked: bool, reached_only: bool) -> int:
    """Return, for each vertex of each search, what rows in the caller's order take, or the reached of them.

    Parameters
    ----------
    each : bool
        Whether rows name their source, and have to be put together.
    ranked : bool
        Whether internal ids are in another order than the caller's.
    """
    found = DISTANCE_BYTES + vertex
    n_bytes = found if ranked or each else 0
    n_bytes += 8 if ranked else 0  # ids of the caller's type, before they are in the caller's order
    if reached_only:
        n_bytes += 17 + found + vertex + (16 if each or ranked else 0)
    if each:
        n_bytes += 2 * vertex + 27  # sources and vertices; columns in the caller's ids, and masks
    return n_bytes


def counted_at_once(n_vertices: int) -> int:
    """Return how many vertices are counted by their distance at once."""
    return max(n_vertices // COUNTED_PART, COUNTED_LEAST)


def levels_bytes(n_vertices: int, n_levels: int) -> int:
    """Return what counting the vertices of a search by level takes beside the distances."""
    return LEVEL_BYTES * n_levels + KEY_BYTES * min(counted_at_once(n_vertices), n_vertices)


def neighborhood_bytes(n_vertices: int, id_bytes: int) -> int:
    """Return what finding the edges of a neighbourhood takes beside the rows in hand."""
    return n_vertices + TABLE_SHARE * id_bytes


def sums_bytes(host: bool, n_vertices: int, vertex: int, n_threads: int, of_vertices: bool) -> int:
    """Return what sums over distances take: on a GPU 64 distances of each vertex at a time."""
    sums = SUMS_BYTES if of_vertices else 0  # those of sources are few
    if host:  # words, queues and the sums of each thread, and the answer
        return (n_threads * (24 + 2 * vertex + sums) + sums) * n_vertices
    return (WORD * (DISTANCE_BYTES + 1) + 24 + 2 * vertex + 3 * SUMS_BYTES) * n_vertices


def shares_bytes(host: bool, n_vertices: int, n_edges: int, vertex: int, n_threads: int) -> int:
    """Return what the shares of vertices, and of so many edges, in shortest paths take."""
    running = 4 + vertex + 2 * 8  # distance, order, paths and weight
    copies = n_threads if host else 1
    return copies * ((running + SHARES_BYTES) * n_vertices + 8 * n_edges) + SHARES_BYTES * n_vertices


def edge_shares_bytes(n_edges: int, vertex: int) -> int:
    """Return what an answer with a row for each edge takes while it is made."""
    return (2 * vertex + 7 * 8) * n_edges


def bounds_bytes(host: bool, n_vertices: int, vertex: int, n_threads: int) -> int:
    """Return what eccentricities by bounds take: with a search that draws them closer, or sums at the end."""
    searching = DRAWING_BYTES * n_vertices + search_bytes(host, n_vertices, vertex)
    return BOUNDS_BYTES * n_vertices + max(
        searching, sums_bytes(host, n_vertices, vertex, n_threads, of_vertices=False)
    )
