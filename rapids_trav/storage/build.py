"""Construction of the parts of a `Graph` from edges: their ids are numbered, placed, and built into rows.

1. `BuildPass` reads the columns of the ends and numbers the vertices.
2. `MemoryLimits.place` decides, once the vertices are known, whether the edges are in the engine's memory or
   outside it; `memory.model.build` has the formula.
3. The vertices are put in order: by degree, by locality, or by id.
4. `Placement.storage` builds the adjacency there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav.csr.adjacency import Array
from rapids_trav.edges.sources import EdgeSource
from rapids_trav.engines import select
from rapids_trav.engines.interface import Engine, SpreadEngine
from rapids_trav.errors import EdgeColumnsError, TravError, listed
from rapids_trav.frames.columns import Dtype, Series, Values, move, require_column
from rapids_trav.frames.decimals import Weights
from rapids_trav.ids.degree_order import ReorderedIds, descending
from rapids_trav.ids.lookup import components, isolated
from rapids_trav.ids.maps import IdMap
from rapids_trav.ids.renumber import renumber, renumber_distinct
from rapids_trav.memory.budget import Budget, holding
from rapids_trav.memory.model.build import (
    PASS_ROW_BYTES,
    codes_bytes,
    graph_bytes,
    grown_bytes,
    in_memory_bytes,
    order_bytes,
    renumber_bytes,
)
from rapids_trav.storage.build_options import BuildOptions, Ends
from rapids_trav.storage.edge_rows import EdgeRows
from rapids_trav.storage.in_memory import GraphEdges, InMemory, Parts
from rapids_trav.storage.limited import Limited
from rapids_trav.storage.memory_errors import as_memory_error, is_out_of_memory
from rapids_trav.storage.on_devices import OnDevices
from rapids_trav.storage.paged import Paged
from rapids_trav.storage.spilled_build import LimitedArrays, SpilledBuild, least_bytes
from rapids_trav.utilities.locations import folder
from rapids_trav.utilities.progress import PhaseTimes, report
from rapids_trav.utilities.sizes import parse_limit

Pairs = Callable[[], Iterator[tuple[Array, Array]]]  # of internal ids, chunk by chunk

SHARE = 0.9  # share of the free memory that a graph which must be paged may use, if no limit is given
FEWEST_ROWS, MOST_ROWS = 1 << 12, 1 << 26  # of the edge list that are read at once within a limit
EVERYTHING = sys.maxsize  # free bytes on several devices, which hold the edges together without limits


def build(source: EdgeSource, options: BuildOptions, kind: type[Parts]) -> Parts:
    """Build a graph of this kind from edges that `Graph.from_edges` documents."""
    directed = bool(source.defaults.directed if options.directed is None else options.directed)
    engine = select(options.engine, source.library.name)
    if options.devices is not None:
        from rapids_trav.engines.multigpu.devices import spread_over  # which one device does not need

        settings = options.settings
        engine = spread_over(
            engine, options.devices, shared=settings.ranks_share_devices, layout=settings.layout
        )
    read = BuildPass(source, options)
    limits = MemoryLimits.of(engine, source.count_rows(), directed, options.memory_limit, options.spill)
    while True:
        try:
            return _build(read, directed, options, limits, kind)
        except (MemoryError, RuntimeError) as error:
            less = limits.of_what_is_free() if is_out_of_memory(error) else None
            if less is None:
                raise as_memory_error(error, "building the graph", engine)  # noqa: B904 -- has its cause
        limits = less


def _build(
    read: BuildPass, directed: bool, options: BuildOptions, limits: MemoryLimits, kind: type[Parts]
) -> Parts:
    engine, times = limits.engine, PhaseTimes(limits.engine.synchronize)
    source = sliced(read.source, limits.reading)
    with times.phase("renumber"):
        # If the ids take too much memory, the edges are read again in internal ids.
        ids, codes = read.number(engine.xp, None if limits.reads_whole(read.source, read.ends) else source)
    vertex_order = options.vertex_order(engine.degree_sort)
    placement = limits.place(
        ids.n,
        ids.nbytes + (order_bytes(ids.n) if vertex_order != "ids" else 0),
        read.n_edges,
        directed=directed,
        weighted=read.weight is not None,
    )
    if limits.reading is None:
        source = sliced(source, placement.limit)
    weight = None if read.weights is None else read.weights.found
    rows = EdgeRows(source, *read.sides, read.n_edges, ids, engine.xp, weight)
    if vertex_order != "ids":
        if vertex_order == "degree":
            with times.phase("degree sort"):
                counted = degrees((codes or rows.pairs)(), ids.n, engine)
                order = descending(counted, options.settings.sort or "radix", engine.xp)
        else:
            with times.phase("locality order"):
                order = _locality_order(codes, rows.pairs, ids, read.n_edges, limits)
        named = placement.limit is None and engine.answers is not None
        ids = rows.ids = ReorderedIds.of(ids, order, engine.xp, named=named)
        codes = codes and _in_order(codes, ids)
    if not placement.keeps_codes:
        codes = None  # the edges are read again: the ids in memory would take the memory of the build
    with times.phase("adjacency"):
        weighted = weight and rows.weighted
        edges = GraphEdges(directed, read.n_edges, codes or rows.pairs, weighted, rows.pairs)
        storage = placement.storage(ids, edges)
    return kind(rows, ids, storage, read.n_edges, directed, read.weight, times.seconds)


def degrees(chunks: Iterable[tuple[Array, Array]], n: int, engine: Engine) -> Array:
    """Count the ends of edges at each vertex, int64 (n,)."""
    degree: Array = engine.xp.zeros(n, dtype=np.int64)
    for ends in chunks:
        for end in ends:
            engine.count_ids(end, degree)
    return degree


def _locality_order(
    codes: Pairs | None, again: Pairs, ids: IdMap, n_edges: int, limits: MemoryLimits
) -> Array:
    """Return the locality order, which bounded searches over the undirected edges compute on the host.

    The edges are `codes` if these are in memory and may stay there; otherwise they are read `again`.  Their
    adjacency is in the engine's memory or outside it, as that of a graph would be.
    """
    from rapids_trav.ids.locality_order import grown  # imports Numba, which other orders do not need

    engine, more_bytes = limits.engine, order_bytes(ids.n)
    placement = limits.place(ids.n, ids.nbytes + more_bytes, n_edges, directed=False, weighted=False)
    pairs = codes if codes is not None and placement.keeps_codes else again
    storage = placement.storage(ids, GraphEdges(False, n_edges, pairs), more_bytes)
    both_ways = storage.forward(weighted=False)
    needed = grown_bytes(ids.n) if engine.place == "host" else 0
    with holding(storage.budget, needed, "the order of the vertices"):
        rows = both_ways.on_host()
        return move(grown(rows.row_offsets, rows.column_indices), engine.xp)


def _in_order(pairs: Pairs, ids: ReorderedIds) -> Pairs:
    """Return the pairs with their ids replaced by the numbers in the new order."""
    return lambda: ((ids.rank[u], ids.rank[v]) for u, v in pairs())


def sliced(source: EdgeSource, limit: int | None) -> EdgeSource:
    """Return the edges in slices of as many rows as fit a limit; as they are without one."""
    if limit is None:
        return source
    return source.sliced(max(FEWEST_ROWS, min(limit // PASS_ROW_BYTES, MOST_ROWS)))


def edge_columns(source: EdgeSource, src: Ends, dst: Ends) -> tuple[list[Hashable], list[Hashable]]:
    """Return the columns of sources and destinations: those named, else the default pair that exists."""
    if not source.columns:
        raise EdgeColumnsError("The edges have no columns: give a frame with a column for each end.")
    if src is None and dst is None and {"src", "dst"} <= set(source.columns):  # as `usual_ends` would find
        src, dst = "src", "dst"
    elif src is None and dst is None:
        from rapids_trav.io.columns import usual_ends  # the package imports parsers, which frames do not need

        found = usual_ends(list(dict.fromkeys(name for name in source.columns if isinstance(name, str))))
        if found is None:
            raise EdgeColumnsError(
                f"The edges have neither columns 'src' and 'dst' nor 'source' and 'destination': "
                f"name them with src= and dst=, from {listed(source.columns)}."
            )
        src, dst = found
    if src is None or dst is None:
        missing = "dst" if dst is None else "src"
        raise TravError(f"Only one end of the edges is named: give {missing}= as well.")
    sides = _side(source, "src", src), _side(source, "dst", dst)
    widths = len(sides[0]), len(sides[1])
    if widths[0] != widths[1] or not widths[0]:
        raise TravError(
            f"src names {widths[0]} column{'' if widths[0] == 1 else 's'} and dst names {widths[1]}: "
            f"give both ends the same number, at least one."
        )
    for name in (*sides[0], *sides[1]):
        require_column(source.columns, name)
    if sides[0] == sides[1]:
        raise TravError(f"src and dst both name {listed(sides[0])}: give each end its own column.")
    return sides


def _side(source: EdgeSource, end: str, columns: Hashable | Sequence[Hashable]) -> list[Hashable]:
    """Return the columns of one end as a list; a tuple may be the label of one column."""
    if isinstance(columns, (list, pd.Index)) or (
        isinstance(columns, tuple) and columns not in source.columns
    ):
        names = list(columns)
    else:
        names = [columns]
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TravError(
                f"{end} holds a {type(name).__name__}, not the name of a column: "
                f"give the name of a column of the edges, or a list of names."
            ) from None
    return names


class BuildPass:
    """A pass over the columns that the caller names, or that the edges have.

    It yields the ids of the ends and of the vertices that the graph has in any case, counts rows and checks
    weights.
    """

    def __init__(self, source: EdgeSource, options: BuildOptions) -> None:
        self.source = self._reading = source
        self.sides = edge_columns(source, options.src, options.dst)
        self.ends = list(dict.fromkeys([*self.sides[0], *self.sides[1]]))  # the sides may share a column
        self.weight = source.defaults.weight if options.weight is None else options.weight
        if self.weight is not None:
            require_column(source.columns, self.weight)
        self._extra: list[list[Values]] = []  # ids by column
        if options.vertices is not None:
            self._extra.append(components("vertices", options.vertices, len(self.sides[0]), source.library))
        if source.defaults.vertices is not None:
            self._extra.append([source.defaults.vertices])
        self.chunks = 0
        self.n_edges = 0
        self.weights: Weights | None = None

    def number(self, xp: ModuleType, slices: EdgeSource | None) -> tuple[IdMap, Pairs | None]:
        """Number the vertices; return the map of their ids, and the edges in internal ids.

        With `slices` of the edges, these are read once for each column of an id, and only ids are kept.
        """
        self._reading, width = slices or self.source, len(self.sides[0])
        if slices is not None:
            return renumber_distinct(self, width, slices.library, xp), None
        ids, codes = renumber(self, width, self.source.library, xp)
        n = 2 * self.chunks
        return ids, lambda: zip(map(codes, range(0, n, 2)), map(codes, range(1, n, 2)), strict=True)

    def __iter__(self) -> Iterator[list[tuple[Hashable, Series]]]:
        self.chunks = self.n_edges = 0
        self.weights = weights = None if self.weight is None else Weights(self.weight, self.source.library)
        dtypes: list[Dtype] = []
        total = self._reading.count_rows()
        columns = dict.fromkeys(self.ends if weights is None else [*self.ends, weights.name])
        for frame in self._reading.chunks(list(columns)):
            if weights is not None:
                weights.add(frame[weights.name])
            for side in self.sides:
                yield [(name, frame[name]) for name in side]
            self.chunks += 1
            self.n_edges += len(frame)
            report(self.n_edges, total, "rows")
            if self._extra:
                dtypes = [frame[name].dtype for name in self.sides[0]]
        if weights is not None:
            weights.warn_if_rounded()
        for vertices in self._extra:
            yield [
                ("vertices", isolated(values, dtype, self.source.library))
                for values, dtype in zip(vertices, dtypes, strict=True)
            ]


@dataclass(frozen=True)
class MemoryLimits:
    """Memory limits of a graph on an engine, decided when only its number of edges is known.

    `whole` makes the storage of a graph without a limit.  `limit` are the bytes of the engine's memory that
    the caller grants (None: no limit), and `reading` those that reading the edges may take: the limit or, if
    the edges alone do not fit the free memory, a share of that (None: they are read at once).
    """

    engine: Engine
    whole: Callable[[int, GraphEdges], InMemory]
    limit: int | None = None
    reading: int | None = None
    spill: str | os.PathLike[str] | None = None  # folder for arrays in files
    free: int = 0  # bytes that were free when this was decided, if they were looked at

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
            return cls(engine, partial(OnDevices, engine), free=EVERYTHING)
        whole = partial(InMemory, engine)
        if spill is not None:
            spill = folder("spill", spill)
        if memory_limit is not None:
            limit = parse_limit(memory_limit)
            return cls(engine, whole, limit, limit, spill)
        if n_edges is None:
            return cls(engine, whole, spill=spill)
        free = engine.free_bytes()
        exceeds = graph_bytes(engine.place == "host", 0, n_edges, directed=directed) > free
        return cls(engine, whole, None, int(SHARE * free) if exceeds else None, spill, free)

    def of_what_is_free(self) -> MemoryLimits | None:
        """Return limits for a graph whose build without limits ran out of memory; None if none would help."""
        if self.reading is not None or self.free == EVERYTHING:
            return None
        share = int(SHARE * self.engine.free_bytes())
        return replace(self, limit=share, reading=share)

    def reads_whole(self, source: EdgeSource, ends: Sequence[Hashable]) -> bool:
        """Return whether the ids of all edges, in the columns `ends`, may be in memory at once."""
        if self.reading is None:
            return True
        n_edges, id_bytes = source.count_rows(), source.id_bytes(ends)
        if n_edges is None or id_bytes is None:
            return False
        return renumber_bytes(n_edges, id_bytes) <= self.reading

    def place(
        self, n_vertices: int, id_bytes: int, n_edges: int, *, directed: bool, weighted: bool
    ) -> Placement:
        """Decide where the edges are stored, given the vertices, whose ids take `id_bytes`."""
        limit, engine, host = self.limit, self.engine, self.engine.place == "host"
        if limit is None:
            needed = graph_bytes(host, n_vertices, n_edges, directed=directed, weighted=weighted)
            # Looking at the free memory again takes longer than numbering the vertices of a small graph.
            fits = needed <= self.free // 2 or needed <= engine.free_bytes()
            if self.reading is None and fits:
                return Placement(self)
            limit = int(SHARE * engine.free_bytes())
        needed = in_memory_bytes(host, n_vertices, n_edges, directed=directed, weighted=weighted) + id_bytes
        both_ways = 2 * n_edges if directed else n_edges  # symmetrised, a directed graph has each edge twice
        return Placement(
            self,
            limit,
            outside=needed > limit,
            keeps_codes=needed + codes_bytes(n_vertices, n_edges) <= limit,
            in_memory=needed,
            edges=graph_bytes(host, n_vertices, both_ways, directed=directed, weighted=weighted),
        )


@dataclass(frozen=True)
class Placement:
    """Decision whether the edges of a graph are in the engine's memory, and under which limit."""

    limits: MemoryLimits
    limit: int | None = None  # bytes of the engine's memory that the graph may use; None: no counting
    outside: bool = False  # whether the edges are outside the engine's memory
    keeps_codes: bool = True  # whether all edges in internal ids may stay in memory until the graph is built
    in_memory: int = 0  # smallest limit with which the edges are in the engine's memory
    edges: int = 0  # bytes that they take there

    def enough(self, n_bytes: int) -> int:
        """Return a limit that suffices if `n_bytes` are needed while the edges are outside.

        From the limit `in_memory` on, the edges are in the engine's memory and count as well.
        """
        return n_bytes if n_bytes < self.in_memory else n_bytes + self.edges

    def storage(self, ids: IdMap, edges: GraphEdges, more_bytes: int = 0) -> InMemory:
        """Return the storage of a graph of these edges, with its vertex ids counted in the limit.

        `more_bytes` are the bytes of an order of the vertices that `ids` does not have yet.
        """
        if self.limit is None:
            return self.limits.whole(ids.n, edges)
        engine, spill = self.limits.engine, self.limits.spill
        held = ids.nbytes + more_bytes
        least = held + least_bytes(engine.place, ids.n, 2 if edges.directed else 1)
        enough = (lambda n_bytes: self.enough(max(n_bytes, least))) if self.outside else int
        budget = Budget(self.limit, enough)
        budget.allocate(held, "vertex ids")
        if not self.outside:
            return Limited(LimitedArrays(budget, spill), engine, ids.n, edges)
        return Paged(SpilledBuild(engine, budget, spill), ids.n, edges)
