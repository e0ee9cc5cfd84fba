"""Storage of edges in the engine's memory, as compressed rows that are built on first use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.interface import Chunks, Engine
from rapids_trav.engines.runs import GatherView, LinkView
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Beside, Budget, held
from rapids_trav.storage.adjacency_set import AdjacencySet, MemoryView
from rapids_trav.storage.edge_rows import PairReader
from rapids_trav.storage.interface import GraphEdges
from rapids_trav.storage.mapped_arrays import place_of


class InMemory:
    """Storage of a graph that fits the engine's memory.

    Parameters
    ----------
    engine : Engine
    n_vertices : int
    edges : GraphEdges
    build : callable, optional
        Builds the adjacencies of a set of edges; takes the arguments of `AdjacencySet` except the engine.
    """

    budget: Budget | None = None  # no limit on memory

    def __init__(
        self,
        engine: Engine,
        n_vertices: int,
        edges: GraphEdges,
        build: Callable[..., AdjacencySet] | None = None,
    ) -> None:
        self.engine = engine
        self._build = partial(AdjacencySet, engine) if build is None else build
        self._filtered = edges.filtered
        self._weighted = edges.weighted
        self._all = self._build(
            n_vertices, edges.chunks, edges.directed, self._with_weights(None), edges.forward
        )
        self._recent: tuple[Hashable, AdjacencySet] | None = None
        self._layouts = dict(edges.layouts)

    def view(self, direction: str = "out", where: Hashable | None = None) -> MemoryView:
        """Return the graph read along its edges ("out"), against them ("in") or both ways ("both").

        With `where`, the view has only the edges that this filter keeps; those of the most recent filter are
        cached.
        """
        return MemoryView(self._structures(where), direction)

    def gather_view(
        self,
        direction: str = "out",
        where: Hashable | None = None,
        weighted: bool = False,
        pushed: bool = False,
    ) -> GatherView:
        """Return the view for a vertex program.

        It has the weights of the edges if `weighted`, in the order of their sources as well if they may be
        `pushed`.
        """
        return self._structures(where).gather_view(direction, weighted, pushed)

    def link_view(self, where: Hashable | None = None) -> LinkView:
        """Return the edges in a form for finding components, from existing adjacencies; none is built."""
        return replace(self._structures(where).link_view(), budget=self.budget)

    def room(self, n_bytes: int, what: str, beside: Beside = 0) -> AbstractContextManager[None]:
        """Hold `n_bytes` of the limit, if there is one, for the duration of a block; see `Budget.hold`."""
        return held(self.budget, n_bytes, what, beside)

    def outlook(self, n_bytes: Beside) -> AbstractContextManager[None]:
        """Make refusals in a block name a limit that suffices for `n_bytes`; see `Budget.outlook`."""
        return nullcontext() if self.budget is None else self.budget.outlook(n_bytes)

    def _with_weights(self, where: Hashable | None) -> Chunks | None:
        return None if self._weighted is None else partial(self._weighted, where)

    def _structures(self, where: Hashable | None) -> AdjacencySet:
        if where is None:
            return self._all
        recent = self._recent  # another thread may replace it
        if recent is None or recent[0] != where:
            self._recent = recent = None  # freed before its successor is built
            whole = self._all
            structures = self._build(
                whole.n_vertices, self._pairs(where), whole.directed, self._with_weights(where)
            )
            self._recent = recent = (where, structures)
        return recent[1]

    def _pairs(self, where: Hashable) -> Chunks:
        if self.budget is not None:
            return partial(self._filtered, where)  # read twice, in chunks, rather than held in memory
        pairs = list(self._filtered(where))  # read once, since the build iterates over them twice
        return partial(iter, pairs)

    def forward(self, weighted: bool) -> Adjacency:
        """Return the edges by source (undirected ones both ways), with their weights if `weighted`."""
        weights = self._all.weights("forward") if weighted else None
        return replace(self._all.forward, weights=weights)

    @property
    def layouts(self) -> Mapping[int, PathLayout]:
        """Path layouts of all edges that exist already, by the most edges of their relaxed paths."""
        return dict(self._layouts)  # another thread may add one

    def keep_layout(self, layout: PathLayout) -> PathLayout:
        """Keep a path layout of all edges; return it as it is kept, with read-only arrays."""
        return self._layouts.setdefault(layout.relaxed, layout.kept(self._outside_limit))

    def _outside_limit(self, array: np.ndarray) -> np.ndarray:
        """Return a host array to be kept where the limit, if there is one, does not count it."""
        return array

    def close(self) -> None:
        """Stop what runs for the graph beside its caller; memory is freed with the last reference."""

    def memory(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each existing structure."""
        parts = list(self._all.held())
        for relaxed, layout in sorted(self.layouts.items()):
            name = f"paths of up to {relaxed:,} edges" if relaxed else "strict paths"
            parts += [(name, part) for part in layout.parts]
        if (recent := self._recent) is not None:
            where, structures = recent
            parts += [(f"{name}, where {where!r}", part) for name, part in structures.held()]
        rows: dict[tuple[str, str], int] = {}
        for name, part in parts:
            key = (name, place_of(part))
            rows[key] = rows.get(key, 0) + part.nbytes
        return [(name, n_bytes, place) for (name, place), n_bytes in rows.items()]


@dataclass(frozen=True)
class GraphParts:
    """Parts of a graph, built from its edges or read from a folder, from which `Graph` is made.

    Attributes
    ----------
    rows : PairReader
        Reader of the caller's edges.
    ids : IdMap
    storage : InMemory
        Storage of the adjacencies.
    n_edges : int
    directed : bool
    weight : hashable or None
        Column of the weights.
    build_times : dict of str to float
        Seconds by phase.
    """

    rows: PairReader
    ids: IdMap
    storage: InMemory
    n_edges: int
    directed: bool
    weight: Hashable | None
    build_times: dict[str, float]
