"""Where the edges of a graph shall live: in the engine's memory if they fit, else outside it.

What a graph of n vertices and M adjacency entries (its m edges, twice that if undirected) takes in memory,
with v bytes a vertex id (4, from 2^31 vertices on 8), s structures (1, or 2 if directed) and 8 M s for
weights:

- on the CPU  s (8 n + v M), and 2 M while it is built;
- on a GPU    s (8 n + v M + v n), and 16 M while it is built, or 24 M if directed.

Beside it a question takes up to 160 n: a vertex program with what it starts from, and what is made of its
values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rapids_trav.errors import TravMemoryError
from rapids_trav.ids.maps import IdMap, vertex_dtype
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.in_memory import InMemory
from rapids_trav.storage.limited import Limited
from rapids_trav.storage.paged import Paged
from rapids_trav.storage.spilled_build import room_of_build, room_of_search
from rapids_trav.utilities.locations import folder
from rapids_trav.utilities.sizes import parse_bytes

SHARE = 0.9  # of the free memory that a graph which must be paged may use if no limit is given
RENUMBER_BYTES = 48  # of an id, while all are renumbered at once: itself, its code, and a table or a sort
READ_BYTES = 256  # of the limit for each row of the edges that is read at once
QUESTION_BYTES = 160  # of a vertex, that a question on a graph in memory takes
FEWEST_ROWS, MOST_ROWS = 1 << 12, 1 << 26


def in_memory_bytes(
    engine: str, n_vertices: int, n_edges: int, *, directed: bool, weighted: bool = False
) -> int:
    """What the graph takes in memory at most, as above."""
    entries = n_edges if directed else 2 * n_edges
    vertex = 4 if n_vertices < 2**31 else 8
    structures = 2 if directed else 1
    held = structures * (8 * n_vertices + vertex * entries + (8 * entries if weighted else 0))
    held += QUESTION_BYTES * n_vertices
    if engine == "cpu":
        return held + 2 * entries
    return held + structures * vertex * n_vertices + (24 if directed else 16) * entries


@dataclass(frozen=True)
class Placement:
    """How a graph is to be built.

    Attributes
    ----------
    limit : int or None
        Bytes of the engine's memory that the graph may use; None: all that there is.
    spill : path or None
        Folder for arrays in files.
    """

    limit: int | None = None
    spill: Any = None

    @classmethod
    def of(
        cls, engine: Any, n_edges: int | None, directed: bool, memory_limit: Any = None, spill: Any = None
    ) -> Placement:
        """The placement that a caller asks for or, without a limit, that so many edges need."""
        if spill is not None:
            spill = folder("spill", spill)
        if memory_limit is not None:
            limit = parse_bytes(memory_limit)
            if limit == 0:
                raise TravMemoryError(
                    f"memory_limit={memory_limit!r} leaves no memory to search in: give more or leave it out."
                )
            return cls(limit, spill)
        if n_edges is not None:
            needed = in_memory_bytes(engine.name, 0, n_edges, directed=directed)
            if needed > engine.free_bytes():
                return cls.of_what_is_free(engine, spill)
        return cls(None, spill)

    @classmethod
    def of_what_is_free(cls, engine: Any, spill: Any = None) -> Placement:
        """The placement of a graph that does not fit, if no limit is given."""
        return cls(int(SHARE * engine.free_bytes()), spill)

    @property
    def rows_at_once(self) -> int:
        """Rows of the edges to read at once."""
        return MOST_ROWS if self.limit is None else max(FEWEST_ROWS, min(self.limit // READ_BYTES, MOST_ROWS))

    def reads_whole(self, n_edges: int | None, id_bytes: int | None) -> bool:
        """Whether the ids of all edges may be in memory at once while they are renumbered.

        Parameters
        ----------
        n_edges : int or None
            None: unknown.
        id_bytes : int or None
            Of the columns that hold them.
        """
        if self.limit is None:
            return True
        if n_edges is None or id_bytes is None:
            return False
        return 2 * RENUMBER_BYTES * n_edges + 4 * id_bytes <= self.limit

    def fits(
        self, engine: Any, ids: IdMap, n_edges: int, directed: bool, weighted: bool, codes: bool = False
    ) -> bool:
        """Whether the graph is to be in memory, while the `codes` of all edges are there as well."""
        if self.limit is None:
            return True
        needed = in_memory_bytes(engine.name, ids.n, n_edges, directed=directed, weighted=weighted)
        needed += 2 * n_edges * vertex_dtype(ids.n).itemsize if codes else 0
        return needed + ids.nbytes <= self.limit

    def storage(self, engine: Any, ids: IdMap, n_edges: int, directed: bool, **edges: Any) -> InMemory:
        """The storage of a graph, whose edges are given as `InMemory` takes them."""
        if self.limit is None:
            return InMemory(engine, ids.n, directed=directed, **edges)
        budget = Budget(self.limit)
        if self.fits(engine, ids, n_edges, directed, edges.get("weighted") is not None):
            budget.allocate(ids.nbytes, "vertex ids")
            return Limited(engine, ids.n, directed=directed, budget=budget, n_edges=n_edges, **edges)
        beside = max(room_of_build(engine, ids.n), room_of_search(engine, ids.n, 2 if directed else 1))
        budget.allocate(ids.nbytes, "vertex ids", beside)
        return Paged(engine, ids.n, directed=directed, budget=budget, spill=self.spill, **edges)
