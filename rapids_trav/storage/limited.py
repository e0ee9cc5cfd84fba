"""Edges in the engine's memory under a limit: what the graph keeps counts, and what making it takes."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from rapids_trav.csr.adjacency import Adjacency, EdgeList
from rapids_trav.engines.runs import GatherView
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.adjacency_set import AdjacencySet, Chunks
from rapids_trav.storage.in_memory import InMemory
from rapids_trav.storage.search_memory import SEARCH, Searches, most_within

STRUCTURES = "the structures of the graph"
DEGREE_BYTES = 17  # of a vertex: its degree, as it is counted and as it is kept


class LimitedAdjacencySet(AdjacencySet):
    """`AdjacencySet` that count in a budget; `n_edges` are the most that there may be."""

    limited = True

    def __init__(
        self, budget: Budget, n_edges: int, engine: Any, n_vertices: int, chunks: Chunks, directed: bool,
        weighted: Chunks | None, forward: Adjacency | None,
    ) -> None:  # fmt: skip
        self._budget, self._n_edges = budget, n_edges
        self._making = threading.RLock()
        self._vertex = vertex_dtype(n_vertices).itemsize
        self._engine, self.n_vertices = engine, n_vertices
        weight = 0 if forward is None or forward.weights is None else forward.weights.dtype.itemsize
        with self._growing(self._adjacency_bytes(not directed, weight), new=True):
            super().__init__(engine, n_vertices, chunks, directed, weighted, forward)

    def searching(self, direction: str, asked: Searches) -> AbstractContextManager[None]:
        self._made_for_search(direction, asked.variant)
        n_bytes = asked.nbytes(self._engine, self.n_vertices, self._vertex)
        return self._budget.hold(n_bytes, SEARCH)

    def searches_at_once(self, most: int, asked: Searches) -> int:
        return most_within(self._budget.free, most, asked, self._engine, self.n_vertices)

    def expanded(self, adjacency: Adjacency) -> EdgeList:
        if id(adjacency) in self._coo:
            return super().expanded(adjacency)
        with self._growing(adjacency.n_edges * (self._vertex + 1) + 16 * self.n_vertices):
            return super().expanded(adjacency)

    def weights(self, name: str) -> Any:
        if name in self._weights:
            return super().weights(name)
        with self._making, self._growing(self._adjacency_bytes(name == "symmetric" or not self.directed, 8)):
            return super().weights(name)

    def gather_view(self, direction: str, weighted: bool, pushed: bool) -> GatherView:
        into, out = self.into_and_out(direction)
        for name in {into, out}:  # before room is taken for what is made of them
            getattr(self, name)
            if weighted and (name == into or pushed):
                self.weights(name)
        if (into, weighted) in self._degrees:
            view = super().gather_view(direction, weighted, pushed)
        else:
            with self._growing(DEGREE_BYTES * self.n_vertices):
                view = super().gather_view(direction, weighted, pushed)
        return replace(view, budget=self._budget)

    def _rebuilt(self, **how: bool) -> Adjacency:
        n_bytes = self._adjacency_bytes("symmetric" in how)
        source = self.forward.n_edges * (self._vertex + 1) + 16 * self.n_vertices
        with self._growing(n_bytes + source) as grown:
            built = super()._rebuilt(**how)
            grown.append(built.nbytes)  # it is kept when this has returned
            return built

    def _made_for_search(self, direction: str, variant: str) -> None:
        """Make what a search reads before the search takes its room."""
        into, out = self.into_and_out(direction)
        for name in {into, out}:
            getattr(self, name)
        if variant == "edge":
            self.expanded(getattr(self, out))

    def _adjacency_bytes(self, symmetric: bool, weight: int = 0) -> int:
        """What building one takes: itself, and low bits of its rows or, on a GPU, the sort of its edges."""
        entries = self._n_edges * (2 if symmetric else 1)
        rows, sorting = (8, 2) if self._engine.place == "host" else (8 + self._vertex, 24)
        return entries * (self._vertex + 2 * weight + sorting) + rows * (self.n_vertices + 1)

    @contextmanager
    def _growing(self, n_bytes: int, new: bool = False) -> Iterator[list[int]]:
        """Take room for what a block makes; what is kept of it counts as long as these structures live.

        The block may name bytes that will be kept, beside what it has added to `held`.
        """
        budget, kept = self._budget, 0
        with self._making:
            before = 0 if new else self._held_bytes()
            budget.allocate(n_bytes, STRUCTURES)
            try:
                grown: list[int] = []
                yield grown
                kept = min(self._held_bytes() - before + sum(grown), n_bytes)
                budget.keep_for(self, kept, STRUCTURES)
            finally:
                budget.release(n_bytes - kept, STRUCTURES)

    def _held_bytes(self) -> int:
        return sum(part.nbytes for _, part in self.held())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_making"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._making = threading.RLock()


class Limited(InMemory):
    """Storage of a graph that fits the engine's memory, under a limit; parameters as for `InMemory`, and

    Parameters
    ----------
    budget : Budget
    n_edges : int
    """

    def __init__(self, engine: Any, *rest: Any, budget: Budget, n_edges: int, **named: Any) -> None:
        self.budget: Budget = budget
        self._n_edges = n_edges
        super().__init__(engine, *rest, **named)

    def _built(
        self, n_vertices: int, chunks: Chunks, directed: bool, weighted: Chunks | None,
        forward: Adjacency | None = None,
    ) -> AdjacencySet:  # fmt: skip
        return LimitedAdjacencySet(
            self.budget, self._n_edges, self.engine, n_vertices, chunks, directed, weighted, forward
        )

    def _pairs(self, where: Hashable) -> Chunks:
        return lambda: self._filtered(where)  # read twice, a part at a time, in place of all of it once
