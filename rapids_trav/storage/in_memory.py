"""Storage of edges in the engine's memory: adjacencies that are built on first use, and views of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList, WeightedRows, strengths
from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.interface import Builder, Chunks, Engine
from rapids_trav.engines.runs import GatherView, LinkView
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.search import Needed
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.mapped_arrays import place_of

NAMES = ("forward", "backward", "symmetric")


@dataclass(frozen=True)
class GraphEdges:
    """The edges of a graph, or those that a filter keeps, in the form that storage reads."""

    directed: bool
    n_edges: int  # at most
    chunks: Chunks  # pairs of internal ids, for the build only
    weighted: Callable[..., Iterator[tuple[Array, ...]]] | None = None  # triples, by a filter as `filtered`
    filtered: Callable[[Hashable], Iterator[tuple[Array, ...]]] | None = None
    forward: Adjacency | None = None  # what a build would give, if it exists, with weights if there are any
    layouts: Mapping[int, PathLayout] = field(default_factory=dict)  # by the most edges of relaxed paths


class AdjacencySet:
    """The adjacencies of one set of edges.

    Undirected edges need a single, symmetric adjacency.  Directed edges are stored by source (CSR); the
    adjacency by destination (CSC) and the symmetrised one are made from it when a search needs them.  Weights
    are read when a run first needs them.
    """

    limited = False  # whether a budget counts the memory taken

    def __init__(self, engine: Builder, n_vertices: int, edges: GraphEdges) -> None:
        self._engine = engine
        self.n_vertices = n_vertices
        self.directed = edges.directed
        self._weighted = edges.weighted
        self._weights: dict[str, Array] = {}
        self._by_weight: dict[str, WeightedRows | None] = {}
        self._runs_by_weight = 0  # searches by weight over rows that are not sorted by it
        self._degrees: dict[tuple[str, bool], Array] = {}
        self._coo: dict[int, EdgeList] = {}  # edge lists, by the identity of their adjacency
        if edges.forward is None:
            forward = self._built(edges.chunks, symmetric=not edges.directed)
        else:
            forward = self._builder.take_over(edges.forward)
        if forward.weights is not None:
            self._weights["forward"] = forward.weights
            forward = replace(forward, weights=None)
        self.forward: Adjacency = forward

    @property
    def _builder(self) -> Builder:
        """Builder of the structures."""
        return self._engine

    @cached_property
    def backward(self) -> Adjacency:
        return self._rebuilt(symmetric=False) if self.directed else self.forward

    @cached_property
    def symmetric(self) -> Adjacency:
        return self._rebuilt(symmetric=True) if self.directed else self.forward

    def adjacency(self, name: str) -> Adjacency:
        """Return the adjacency called `name` in the form that searches read."""
        return getattr(self, name)

    # The memory of searches, which only a budget counts; see `MemoryView`.
    def searching(
        self, direction: str, needed: Needed, variant: str, most: int, later: int
    ) -> AbstractContextManager[int]:
        return nullcontext(most)

    def searching_ahead(self, most: int, needed: Needed) -> AbstractContextManager[int]:
        return nullcontext(most)

    def _built(self, chunks: Chunks, *, symmetric: bool = False, transpose: bool = False) -> Adjacency:
        """Build an adjacency of the caller's edges."""
        return self._builder.build_adjacency(
            chunks, self.n_vertices, symmetric=symmetric, transpose=transpose
        )

    def _rebuilt(self, *, symmetric: bool) -> Adjacency:
        """Build the symmetrised adjacency if `symmetric`, else the one by destination."""
        engine = self._engine
        assert isinstance(engine, Engine)  # subclasses override this for other builders
        if symmetric:
            return engine.symmetrized(self.forward, self.__dict__.get("backward"))
        return engine.transposed(self.forward)

    def expanded(self, adjacency: Adjacency) -> EdgeList:
        """Return one of the adjacencies in coordinate form; the result is cached."""
        if id(adjacency) not in self._coo:
            self._coo[id(adjacency)] = self._builder.expand_rows(adjacency)
        return self._coo[id(adjacency)]

    def weights(self, name: str) -> Array:
        """Return the weights of the adjacency called `name`, one for each column; the result is cached."""
        if name not in self._weights:
            how = {
                "forward": {"symmetric": not self.directed},
                "backward": {"transpose": True},
                "symmetric": {"symmetric": True},
            }[name]
            assert self._weighted is not None
            built = self._built(self._weighted, **how)
            assert built.weights is not None
            self._weights[name] = built.weights
            self.__dict__.setdefault(name, replace(built, weights=None))
        return self._weights[name]

    def by_weight(self, direction: str) -> tuple[WeightedRows, WeightedRows] | None:
        """Return the edges by source and by destination with each row sorted by weight, if that pays.

        The rows are sorted once, after as many searches as sorting takes time, and dropped if the engine
        finds that they are of no use; memory that is limited is not spent on a second copy of the edges.
        """
        engine, known = self._engine, self._by_weight
        if self.limited or not isinstance(engine, Engine) or engine.sorted_paths is None:
            return None
        if self._runs_by_weight < engine.sorted_paths.pays_after:
            self._runs_by_weight += 1
            return None
        into, out = self.into_and_out(direction)
        for name in (out, into):
            if name not in known:
                rows = engine.sorted_paths.sort_rows(self.adjacency(name), self.weights(name))
                if rows is None:
                    return None
                known[name] = rows
        rows_out, rows_in = known[out], known[into]
        if rows_out is None or rows_in is None or rows_out.learned.get("useless"):
            known[out] = known[into] = None
            return None
        return rows_out, rows_in

    @cached_property
    def weight_range(self) -> tuple[float, float] | None:
        """Smallest and largest weight, available once a run has read the weights; None without edges."""
        built = next(iter(list(self._weights.values())))  # another thread may add those of a direction
        return (built.min().item(), built.max().item()) if len(built) else None

    def into_and_out(self, direction: str) -> tuple[str, str]:
        """Return the names of the adjacencies by which a vertex gathers, and by which its edges lead on."""
        if not self.directed:
            return "forward", "forward"
        names = {"out": ("backward", "forward"), "in": ("forward", "backward")}
        return names.get(direction, ("symmetric", "symmetric"))

    def degrees(self, direction: str) -> Array:
        """Return the number of edges that lead on from each vertex in this direction, int64 (n,)."""
        xp = self._engine.xp
        return xp.diff(self.adjacency(self.into_and_out(direction)[1]).row_offsets).astype(xp.int64)

    def gather_view(self, direction: str, weighted: bool, pushed: bool) -> GatherView:
        """Return the arrays that a vertex program needs to read the edges in this direction."""
        into, out = self.into_and_out(direction)
        weights = self.weights(into) if weighted else None
        out_weights = self.weights(out) if weighted and pushed else None
        view = MemoryView(self, direction)
        key = (into, weighted)
        if key not in self._degrees:
            xp = self._engine.xp
            self._degrees[key] = (
                xp.diff(view.out.row_offsets).astype(xp.int64)
                if weights is None
                else strengths(view.into.column_indices, weights, self.n_vertices, xp)
            )
        return GatherView(
            view.into,
            view.out,
            weights,
            self._degrees[key],
            out_weights=out_weights,
            weight_range=lambda: self.weight_range,
            by_weight=partial(self.by_weight, direction),
        )

    def link_view(self) -> LinkView:
        """Return the edges in a form for finding components, from the adjacencies built so far."""
        built = self.__dict__
        if not self.directed:
            return LinkView(self.forward, self.forward)
        if (symmetric := built.get("symmetric")) is not None:
            return LinkView(symmetric, symmetric)
        return LinkView(self.forward, built.get("backward"))

    def label(self, name: str) -> str:
        """Return the title of the adjacency called `name` in reports of memory."""
        titles = {"forward": "CSR", "backward": "CSC"} if self.directed else {}
        return titles.get(name, "CSR, symmetrised")

    def held(self) -> Iterator[tuple[str, Array]]:
        """Yield name and array of each part of each existing structure; parts of one share its name."""
        for name in NAMES if self.directed else NAMES[:1]:
            if (adjacency := self.__dict__.get(name)) is not None:
                label = self.label(name)
                yield from ((label, part) for part in adjacency.parts)
                if name in self._weights:
                    yield f"weights of {label}", self._weights[name]
                if (rows := self._by_weight.get(name)) is not None:
                    yield f"{label}, sorted by weight", rows.entries
                if (edges := self._coo.get(id(adjacency))) is not None:
                    # In some engines the edge list shares the columns of the adjacency.
                    own = (edges.src,) if edges.dst is adjacency.column_indices else (edges.src, edges.dst)
                    yield from ((f"COO of {label}", part) for part in own)
        yield from (("degrees", degree) for degree in list(self._degrees.values()))  # threads add some


@dataclass(frozen=True)
class MemoryView:
    """View of an `AdjacencySet` in one direction; it implements `engines.interface.View`."""

    structures: AdjacencySet
    direction: str

    @property
    def n_vertices(self) -> int:
        return self.structures.n_vertices

    @property
    def out(self) -> Adjacency:
        return self.structures.adjacency(self.structures.into_and_out(self.direction)[1])

    @property
    def into(self) -> Adjacency:
        return self.structures.adjacency(self.structures.into_and_out(self.direction)[0])

    @property
    def coo(self) -> EdgeList:
        return self.structures.expanded(self.out)

    @property
    def stored(self) -> Adjacency:
        return getattr(self.structures, self.structures.into_and_out(self.direction)[1])

    def degrees(self) -> Array:
        """Return the number of edges that lead on from each vertex, int64 (n,)."""
        return self.structures.degrees(self.direction)

    @property
    def limited(self) -> bool:
        """Whether a budget counts the memory of searches, so that they must free all of it when they end."""
        return self.structures.limited

    def searching(
        self, needed: Needed, variant: str = "auto", most: int = 1, later: int = 0
    ) -> AbstractContextManager[int]:
        """Hold memory for searches in this view until their answers are complete; give their number.

        It is up to `most`, and at least 1, with room left for the `later` bytes that are asked for meanwhile.
        """
        return self.structures.searching(self.direction, needed, variant, most, later)

    def searching_ahead(self, most: int, needed: Needed) -> AbstractContextManager[int]:
        """Hold memory for searches ahead of the one whose answer is made; give their number, up to `most`.

        `needed` is for an answer while it is made.  The memory is held between questions, which do not wait
        for it.
        """
        return self.structures.searching_ahead(most, needed)


class InMemory:
    """Storage of a graph that fits the engine's memory.

    Subclasses pass what builds the adjacencies of all edges and of those that a filter keeps.
    """

    budget: Budget | None = None  # no limit on memory

    def __init__(
        self,
        engine: Engine,
        n_vertices: int,
        edges: GraphEdges,
        build: Callable[[int, GraphEdges], AdjacencySet] | None = None,
    ) -> None:
        self.engine = engine
        self._build = partial(AdjacencySet, engine) if build is None else build
        self._filtered, self._weighted, self._n_edges = edges.filtered, edges.weighted, edges.n_edges
        self._all = self._build(n_vertices, edges)
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

    def _structures(self, where: Hashable | None) -> AdjacencySet:
        if where is None:
            return self._all
        recent = self._recent  # another thread may replace it
        if recent is None or recent[0] != where:
            self._recent = recent = None  # freed before its successor is built
            weighted = self._weighted and partial(self._weighted, where)
            edges = GraphEdges(self._all.directed, self._n_edges, self._pairs(where), weighted)
            self._recent = recent = (where, self._build(self._all.n_vertices, edges))
        return recent[1]

    def _pairs(self, where: Hashable) -> Chunks:
        assert self._filtered is not None
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


@dataclass(eq=False)
class GraphParts:
    """Parts of a graph in this process, built from its edges or read from a folder."""

    rows: RowReader
    ids: IdMap
    storage: InMemory
    n_edges: int
    directed: bool
    weight: Hashable | None  # column of the weights
    build_times: dict[str, float]  # seconds by phase

    def __post_init__(self) -> None:
        self.engine = self.storage.engine
        self.n_vertices = self.ids.n
        self.budget = self.storage.budget


Parts = TypeVar("Parts", bound=GraphParts)
