"""Edges in the memory of the engine, as compressed rows that are built when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rapids_trav.structures import Adjacency, Array, EdgeList

Chunks = Callable[[], Iterator[tuple[Array, Array]]]


class Structures:
    """The adjacencies of one set of edges.

    Undirected edges need one structure, which reads the same both ways.  Directed ones are built by source
    (CSR); by destination (CSC) and symmetrised are made from it when a search asks for them.
    """

    def __init__(self, engine: Any, n_vertices: int, chunks: Chunks, directed: bool) -> None:
        self._engine = engine
        self.n_vertices = n_vertices
        self.directed = directed
        self._coo: dict[int, EdgeList] = {}  # by the identity of the adjacency that each spells out
        self.forward: Adjacency = engine.build_adjacency(chunks, n_vertices, symmetric=not directed)

    @cached_property
    def backward(self) -> Adjacency:
        return self._rebuilt(transpose=True) if self.directed else self.forward

    @cached_property
    def symmetric(self) -> Adjacency:
        return self._rebuilt(symmetric=True) if self.directed else self.forward

    def _rebuilt(self, **how: bool) -> Adjacency:
        edges = self._engine.expand_rows(self.forward)
        return self._engine.build_adjacency(lambda: iter([(edges.src, edges.dst)]), self.n_vertices, **how)

    def expanded(self, adjacency: Adjacency) -> EdgeList:
        """The coordinate form of one of the adjacencies, kept."""
        if id(adjacency) not in self._coo:
            self._coo[id(adjacency)] = self._engine.expand_rows(adjacency)
        return self._coo[id(adjacency)]

    def held(self) -> Iterator[tuple[str, int]]:
        """Name and bytes of each structure that exists."""
        names = ("forward", "backward", "symmetric") if self.directed else ("forward",)
        for name in names:
            if (adjacency := self.__dict__.get(name)) is not None:
                label = {"forward": "CSR", "backward": "CSC"}.get(name, "CSR, symmetrised")
                label = label if self.directed else "CSR, symmetrised"
                yield label, adjacency.nbytes
                if (edges := self._coo.get(id(adjacency))) is not None:
                    # An engine may let the list share the adjacency's columns.
                    shared = edges.dst.nbytes if edges.dst is adjacency.column_indices else 0
                    yield f"COO of {label}", edges.nbytes - shared


@dataclass(frozen=True)
class MemoryView:
    """`Structures` read in one direction; a `structures.View`."""

    structures: Structures
    direction: str

    @property
    def n_vertices(self) -> int:
        return self.structures.n_vertices

    @property
    def out(self) -> Adjacency:
        names = {"out": "forward", "in": "backward", "both": "symmetric"}
        return getattr(self.structures, names[self.direction])

    @property
    def into(self) -> Adjacency:
        names = {"out": "backward", "in": "forward", "both": "symmetric"}
        return getattr(self.structures, names[self.direction])

    @property
    def coo(self) -> EdgeList:
        return self.structures.expanded(self.out)


class InMemory:
    """Storage of a graph that fits the engine's memory.

    Parameters
    ----------
    engine
        An engine of `rapids_trav.engines`.
    n_vertices : int
    chunks : callable
        Gives a fresh iterator over the edges as pairs of internal ids, for the build alone.
    filtered : callable
        The same for the edges whose boolean column, named by the argument, is true.
    directed : bool
    """

    def __init__(
        self,
        engine: Any,
        n_vertices: int,
        chunks: Chunks,
        filtered: Callable[[Hashable], Iterator[tuple[Array, Array]]],
        directed: bool,
    ) -> None:
        self.engine = engine
        self._filtered = filtered
        self._all = Structures(engine, n_vertices, chunks, directed)
        self._recent: tuple[Hashable, Structures] | None = None

    def view(self, direction: str = "out", where: Hashable | None = None) -> MemoryView:
        """The graph read along its edges ("out"), against them ("in") or both ways ("both").

        With `where`, only the edges where that column is true; those of the most recent one are kept.
        """
        if where is None:
            return MemoryView(self._all, direction)
        if self._recent is None or self._recent[0] != where:
            self._recent = None  # freed before its successor is built
            pairs = list(self._filtered(where))  # read once: the build goes over them twice
            structures = Structures(
                self.engine, self._all.n_vertices, lambda: iter(pairs), self._all.directed
            )
            self._recent = (where, structures)
        return MemoryView(self._recent[1], direction)

    def memory(self) -> list[tuple[str, int]]:
        """Name and bytes of each structure that exists."""
        rows = list(self._all.held())
        if self._recent is not None:
            where, structures = self._recent
            rows += [(f"{name}, where {where!r}", size) for name, size in structures.held()]
        return rows
