"""Storage of edges in the engine's memory under a limit, which counts the graph and its construction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.interface import Builder, Chunks, Engine
from rapids_trav.engines.runs import GatherView
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import (
    DEGREE_BYTES,
    QUESTION_BYTES,
    QUESTION_FIXED,
    WEIGHT_BYTES,
    adjacency_bytes,
    edge_list_bytes,
)
from rapids_trav.memory.model.program import equals_bytes
from rapids_trav.memory.model.search import Needed
from rapids_trav.storage.block_sizes import SEARCH, most_within, query_bytes
from rapids_trav.storage.in_memory import AdjacencySet, GraphEdges, InMemory
from rapids_trav.storage.spilled_build import LimitedArrays, SpilledBuild

STRUCTURES = "the structures of the graph"
AHEAD = "searches of a stream"
AHEAD_SHARE = 2  # a stream of searches leaves other questions at least half of the room


class _Owner:
    """The owner of bytes of a budget, which are released with it."""


class LimitedAdjacencySet(AdjacencySet):
    """An `AdjacencySet` whose memory counts in a budget.

    With the CPU engine, structures that leave no room for a question are built in files.
    """

    limited = True
    _engine: Engine

    def __init__(self, arrays: LimitedArrays, engine: Engine, n_vertices: int, edges: GraphEdges) -> None:
        self._arrays, self._budget, self._n_edges = arrays, arrays.budget, edges.n_edges
        self._making = threading.RLock()
        self._files: SpilledBuild | None = None  # builder of the structure that is being built in files
        weights = None if edges.forward is None else edges.forward.weights
        self._unweighted = edges.weighted is None and weights is None
        self._place, self._engine, self.n_vertices = engine.place, engine, n_vertices
        weight = 0 if weights is None else weights.dtype.itemsize
        with self._growing(self._adjacency_bytes(not edges.directed, weight), new=True):
            super().__init__(engine, n_vertices, edges)

    @contextmanager
    def searching(self, direction: str, needed: Needed, variant: str, most: int, later: int) -> Iterator[int]:
        for name in set(self.into_and_out(direction)):  # before the search takes its memory
            getattr(self, name)
        if variant == "edge":
            self.expanded(getattr(self, self.into_and_out(direction)[1]))
        by_number = partial(needed, query_bytes(self._place, self.n_vertices))
        number = most_within(self._budget.free - later, most, by_number)
        with self._budget.hold(by_number(number), SEARCH, lambda: later):
            yield number

    @contextmanager
    def searching_ahead(self, most: int, needed: Needed) -> Iterator[int]:
        budget, table = self._budget, query_bytes(self._place, self.n_vertices)
        room = (budget.free - needed(table, 1)) // AHEAD_SHARE
        # The searches may end during another question, which must not be charged for the bytes.
        owner = _Owner()
        for ahead in range(most, 0, -1):
            n_bytes = table.ahead(ahead)
            if n_bytes > room:
                continue
            with suppress(TravMemoryError), budget.hold(n_bytes, AHEAD) as held:  # others may take the room
                held.keep(owner, n_bytes)
                break
        else:
            ahead = 0
        yield ahead

    def expanded(self, adjacency: Adjacency) -> EdgeList:
        if id(adjacency) in self._coo:
            return super().expanded(adjacency)
        with self._growing(edge_list_bytes(self.n_vertices, adjacency.n_edges)):
            return super().expanded(adjacency)

    def weights(self, name: str) -> Array:
        if name in self._weights:
            return super().weights(name)
        with (
            self._making,
            self._growing(self._adjacency_bytes(name == "symmetric" or not self.directed, WEIGHT_BYTES)),
        ):
            return super().weights(name)

    def gather_view(self, direction: str, weighted: bool, pushed: bool) -> GatherView:
        into, out = self.into_and_out(direction)
        for name in {into, out}:  # before memory is held for the arrays made from them
            getattr(self, name)
            if weighted and (name == into or pushed):
                self.weights(name)
        if (into, weighted) in self._degrees:
            view = super().gather_view(direction, weighted, pushed)
        else:
            with self._growing(DEGREE_BYTES * self.n_vertices):
                view = super().gather_view(direction, weighted, pushed)
                if self._files is not None:
                    degrees = self._files.kept(view.degrees, "degrees")
                    self._degrees[into, weighted], view = degrees, replace(view, degrees=degrees)
        return replace(view, budget=self._budget)

    @property
    def _builder(self) -> Builder:
        return self._files or self._engine

    def _built(self, chunks: Chunks, *, symmetric: bool = False, transpose: bool = False) -> Adjacency:
        if self._place != "host" or self._files is not None:
            return super()._built(chunks, symmetric=symmetric, transpose=transpose)
        return self._engine.build_outside(
            chunks, self.n_vertices, self._arrays, symmetric=symmetric, transpose=transpose
        )

    def _rebuilt(self, *, symmetric: bool) -> Adjacency:
        name = "symmetric" if symmetric else "backward"
        with self._making:
            if (made := self.__dict__.get(name)) is not None:
                return made
            source = edge_list_bytes(self.n_vertices, self.forward.n_edges)
            with self._growing(self._adjacency_bytes(symmetric) + source):
                if self._files is not None:
                    built = self._files.rebuild(self.forward, None, symmetric=symmetric)
                else:
                    built = super()._rebuilt(symmetric=symmetric)
                self.__dict__[name] = built  # here, so that it is counted once, and found by other threads
            return built

    def _adjacency_bytes(self, symmetric: bool, weight: int = 0) -> int:
        """Return the bytes of building an adjacency."""
        entries = self._n_edges * (2 if symmetric else 1)
        return adjacency_bytes(self._place == "host", self.n_vertices, entries, weight)

    @contextmanager
    def _growing(self, n_bytes: int, new: bool = False) -> Iterator[None]:
        """Hold memory for the structures that a block builds; those kept count for the lifetime of `self`.

        If the CPU engine's memory would not hold them and a question, no memory is held, and the block builds
        them in files with `_builder`.

        Structures that `held` lists after the block are kept.
        """
        budget = self._budget
        question = QUESTION_BYTES * self.n_vertices + QUESTION_FIXED
        # Edges of weight zero would need many bytes more, and few graphs have any.
        equals = 0 if self._unweighted else equals_bytes(self.n_vertices, 2 * self._n_edges)
        with self._making:
            if self._place == "host" and not budget.fits(n_bytes, question):
                self._files = SpilledBuild(self._engine, budget, self._arrays.scratch.folder)
                try:
                    yield
                finally:
                    self._files = None
                return
            before = 0 if new else self._held_bytes()
            with budget.hold(n_bytes, STRUCTURES, lambda: question + equals) as held:
                yield
                held.keep(self, min(self._held_bytes() - before, n_bytes))

    def _held_bytes(self) -> int:
        return sum(part.nbytes for _, part in self.held())

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_making"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._making = threading.RLock()


class Limited(InMemory):
    """Storage of a graph that fits the engine's memory, under a limit."""

    def __init__(self, arrays: LimitedArrays, engine: Engine, n_vertices: int, edges: GraphEdges) -> None:
        self.budget: Budget = arrays.budget
        self._scratch = arrays.scratch
        super().__init__(engine, n_vertices, edges, partial(LimitedAdjacencySet, arrays, engine))

    def _outside_limit(self, array: np.ndarray) -> np.ndarray:
        return self._scratch.copied(array, "a path layout") if self.engine.place == "host" else array
