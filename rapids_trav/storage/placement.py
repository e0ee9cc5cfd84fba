"""Placement of the edges of a graph: in the engine's memory if they fit, else outside it.

`place_edges` decides once, when the vertices are known; `memory.model.build` has the formula.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from rapids_trav.edges.edge_source import EdgeSource
from rapids_trav.engines.interface import Engine, SpreadEngine
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import (
    PASS_ROW_BYTES,
    codes_bytes,
    graph_bytes,
    in_memory_bytes,
    renumber_bytes,
)
from rapids_trav.storage.in_memory import GraphEdges, InMemory
from rapids_trav.storage.limited import Limited
from rapids_trav.storage.on_devices import OnDevices
from rapids_trav.storage.paged import Paged
from rapids_trav.storage.spilled_build import LimitedArrays, SpilledBuild, least_bytes
from rapids_trav.utilities.locations import folder
from rapids_trav.utilities.sizes import parse_limit

SHARE = 0.9  # share of the free memory that a graph which must be paged may use, if no limit is given
FEWEST_ROWS, MOST_ROWS = 1 << 12, 1 << 26


@dataclass(frozen=True)
class MemoryLimits:
    """Memory limits of a graph, decided when only its number of edges is known.

    `limit` are the bytes of the engine's memory that the caller grants (None: no limit), and `reading` those
    that reading the edges may take: the limit or, if the edges alone do not fit the free memory, a share of
    that (None: they are read at once).
    """

    limit: int | None = None
    reading: int | None = None
    spill: str | os.PathLike[str] | None = None  # folder for arrays in files
    free: int = 0  # bytes that were free when this was decided, if they were looked at
    spread: SpreadEngine | None = None  # the engine if its devices hold the edges together, without limits

    @classmethod
    def of(
        cls,
        engine: Engine,
        n_edges: int | None,
        directed: bool,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
    ) -> MemoryLimits:
        """Return the limits that the caller gives or, if there are none, those that `n_edges` require."""
        if isinstance(engine, SpreadEngine):
            return cls(spread=engine)
        if spill is not None:
            spill = folder("spill", spill)
        if memory_limit is not None:
            limit = parse_limit(memory_limit)
            return cls(limit, limit, spill)
        if n_edges is None:
            return cls(spill=spill)
        free = engine.free_bytes()
        exceeds = graph_bytes(engine.place == "host", 0, n_edges, directed=directed) > free
        return cls(None, int(SHARE * free) if exceeds else None, spill, free)

    def of_what_is_free(self, engine: Engine) -> MemoryLimits:
        """Return limits by the free memory, for a graph whose build without limits ran out of memory."""
        share = int(SHARE * engine.free_bytes())
        return MemoryLimits(share, share, self.spill)

    @property
    def rows_at_once(self) -> int:
        """Number of rows of the edge list to read at once."""
        return MOST_ROWS if self.reading is None else rows_within(self.reading)

    def reads_whole(self, source: EdgeSource, ends: Sequence[Hashable]) -> bool:
        """Return whether the ids of all edges, in the columns `ends`, may be in memory at once."""
        if self.reading is None:
            return True
        n_edges, id_bytes = source.count_rows(), source.id_bytes(ends)
        if n_edges is None or id_bytes is None:
            return False
        return renumber_bytes(n_edges, id_bytes) <= self.reading


@dataclass(frozen=True)
class Placement:
    """Decision whether the edges of a graph are in the engine's memory, and under which limit."""

    limit: int | None  # bytes of the engine's memory that the graph may use; None: no counting
    outside: bool  # whether the edges are outside the engine's memory
    keeps_codes: bool  # whether the internal ids of all edges may stay in memory until the graph is built
    spill: str | os.PathLike[str] | None = None  # folder for arrays in files
    in_memory: int = 0  # smallest limit with which the edges are in the engine's memory
    edges: int = 0  # bytes that they take there
    spread: SpreadEngine | None = None  # the engine if its devices hold the edges together

    def enough(self, n_bytes: int) -> int:
        """Return a limit that suffices if `n_bytes` are needed while the edges are outside.

        From the limit `in_memory` on, the edges are in the engine's memory and count as well.
        """
        return n_bytes if n_bytes < self.in_memory else n_bytes + self.edges

    def storage(self, engine: Engine, ids: IdMap, edges: GraphEdges, more_bytes: int = 0) -> InMemory:
        """Return the storage of a graph of these edges, with its vertex ids counted in the limit.

        `more_bytes` are the bytes of an order of the vertices that `ids` does not have yet.
        """
        if self.spread is not None:
            return OnDevices(self.spread, ids.n, edges)
        if self.limit is None:
            return InMemory(engine, ids.n, edges)
        held = ids.nbytes + more_bytes
        least = held + least_bytes(engine.place, ids.n, 2 if edges.directed else 1)
        enough = (lambda n_bytes: self.enough(max(n_bytes, least))) if self.outside else int
        budget = Budget(self.limit, enough)
        budget.allocate(held, "vertex ids")
        if not self.outside:
            return Limited(LimitedArrays(budget, self.spill), engine, ids.n, edges)
        return Paged(SpilledBuild(engine, budget, self.spill), ids.n, edges)


def rows_within(limit: int) -> int:
    """Return the number of rows of the edge list that are read at once within a limit."""
    return max(FEWEST_ROWS, min(limit // PASS_ROW_BYTES, MOST_ROWS))


def place_edges(
    engine: Engine,
    limits: MemoryLimits,
    n_vertices: int,
    id_bytes: int,
    n_edges: int,
    *,
    directed: bool,
    weighted: bool,
) -> Placement:
    """Decide where the edges are stored, given the vertices, whose ids take `id_bytes`."""
    limit, host = limits.limit, engine.place == "host"
    if limits.spread is not None:
        return Placement(None, outside=False, keeps_codes=True, spread=limits.spread)
    if limit is None:
        needed = graph_bytes(host, n_vertices, n_edges, directed=directed, weighted=weighted)
        # Looking at the free memory again takes longer than numbering the vertices of a small graph.
        fits = needed <= limits.free // 2 or needed <= engine.free_bytes()
        if limits.reading is None and fits:
            return Placement(None, outside=False, keeps_codes=True)
        limit = int(SHARE * engine.free_bytes())
    needed = in_memory_bytes(host, n_vertices, n_edges, directed=directed, weighted=weighted) + id_bytes
    both_ways = 2 * n_edges if directed else n_edges  # symmetrised, a directed graph has each edge twice
    return Placement(
        limit,
        outside=needed > limit,
        keeps_codes=needed + codes_bytes(n_vertices, n_edges) <= limit,
        spill=limits.spill,
        in_memory=needed,
        edges=graph_bytes(host, n_vertices, both_ways, directed=directed, weighted=weighted),
    )
