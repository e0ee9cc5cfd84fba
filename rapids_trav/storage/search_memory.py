"""What searches take while they run and until their answer stands, by the engine that runs them.

Of n vertices with v bytes an id (4, from 2^31 vertices on 8):

- on the CPU  distances, predecessors, a queue and bitmaps: (5 + 2 v) n; of k searches run together
  (4 + v) k n, and (24 + 2 v) n for each thread that runs a group of them;
- on a GPU    at most 32 n; of k searches (4 + v) k n, 24 n for each 64 up to 256, and 2 v n.

Searches that are run one after another, as variants by name are, hold their answers twice when they are put
together, and so do those of repeated sources.

Distances and predecessors, (4 + v) n of each search, stay until an answer is made of them.  What that takes
beside them, the question tells: the constants and functions here have it for each vertex of each search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rapids_trav.ids.maps import vertex_dtype

SEARCH = "a search"
GPU_BYTES = 32
MASK_BYTES = 3  # of a row of an answer on a GPU: which values are null, and the bits made of that
REPEATED_BYTES = 10  # of a row on a GPU, where sources are repeated
TRACE_BYTES = 56  # of a level that a GPU's search records
TRACE_LEVELS = 1 << 22  # for which a GPU's search has room
LEVEL_BYTES = 64  # of a level: how many vertices it and those before it have, in all and of those there are
COUNTED_BYTES = 64  # of a level that has been counted: its row, and once more when the rows are put together
LEVELS_BYTES = 14  # the key of each vertex, 8 bytes, and what it is made of
KHOP_BYTES = 22  # the vertices that are near: a mask, positions, ids, distances
DEGREES_BYTES = 24  # degrees in two types, and in the caller's order


@dataclass(frozen=True)
class Searches:
    """What decides the room that searches take.

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
        Bytes that the question will ask for for each vertex, once, while these are held.
    trace : bool
        Whether the search keeps a row for each level.
    """

    variant: str = "auto"
    number: int | None = None
    repeated: bool = False
    answer: int = 0
    beside: int = 0
    trace: bool = False

    def nbytes(self, engine: Any, n_vertices: int, vertex: int) -> int:
        """Of all of them, run at once."""
        if self.number is None:
            running = search_bytes(engine, n_vertices, vertex)
            if (
                self.trace and engine.place != "host"
            ):  # the fused search has room for as many levels as it may have
                running += TRACE_BYTES * min(n_vertices + 1, TRACE_LEVELS)
        else:
            together = self.variant == "auto"
            running = searches_bytes(engine, n_vertices, vertex, self.number, together, self.repeated)
        answer = 4 + vertex + self.answer
        if self.number is not None and engine.place != "host":
            answer += MASK_BYTES + (REPEATED_BYTES if self.repeated else 0)
        return max(running, (self.number or 1) * n_vertices * answer)


def search_bytes(engine: Any, n_vertices: int, vertex: int) -> int:
    """Of a search from one frontier, at most."""
    return (5 + 2 * vertex if engine.place == "host" else GPU_BYTES) * n_vertices


def searches_bytes(
    engine: Any, n_vertices: int, vertex: int, n_searches: int, together: bool, repeated: bool = False
) -> int:
    """Of searches that are independent, run together or one after another."""
    answers = n_searches * (4 + vertex) * n_vertices
    if repeated:
        answers *= 2
    if not together:
        return 2 * answers + search_bytes(engine, n_vertices, vertex)
    if engine.place != "host":
        return answers + (24 * min(-(-n_searches // 64), 4) + 2 * vertex) * n_vertices
    from rapids_trav.engines.cpu.runtime.compile import Team

    return answers + min(n_searches, Team().size) * (24 + 2 * vertex) * n_vertices


def paths_bytes(vertex: int) -> int:
    """For each vertex of each search: predecessors in the numbering of all of them, made in two steps."""
    return 3 * vertex + 5


def answer_bytes(vertex: int, each: bool, ranked: bool, reached_only: bool) -> int:
    """For each vertex of each search: rows in the caller's order, and those of them that were reached.

    Parameters
    ----------
    each : bool
        Whether rows name their source, and have to be put together.
    ranked : bool
        Whether internal ids are in another order than the caller's.
    """
    found = 4 + vertex
    n_bytes = found if ranked or each else 0
    n_bytes += 8 if ranked else 0  # ids of the caller's type, before they are in the caller's order
    if reached_only:
        n_bytes += 17 + found + vertex + (16 if each or ranked else 0)
    if each:
        n_bytes += 2 * vertex + 27  # sources and vertices; columns in the caller's ids, and masks
    return n_bytes


def most_within(room: int, most: int, asked: Searches, engine: Any, n_vertices: int) -> int:
    """How many searches at once, up to `most`, `room` bytes are enough for; one in any case."""
    vertex = vertex_dtype(n_vertices).itemsize
    room -= asked.beside * n_vertices
    while most > 1 and replace(asked, number=most).nbytes(engine, n_vertices, vertex) > room:
        most = most * 3 // 4
    return most
