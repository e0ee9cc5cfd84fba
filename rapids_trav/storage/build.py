"""Construction of the parts of a `Graph` from edges: ids, storage, and a reader of the caller's edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from rapids_trav.csr.adjacency import Array
from rapids_trav.edges.arrow_edges import ArrowEdges
from rapids_trav.edges.build_pass import BuildPass, SlicedEdges
from rapids_trav.edges.sources import EdgeSource, FrameEdges, edge_columns, open_edges, require_column
from rapids_trav.engines import select, spread_over
from rapids_trav.engines.interface import Engine
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import move
from rapids_trav.ids.degree_order import ReorderedIds, degrees, descending
from rapids_trav.ids.given import split
from rapids_trav.ids.maps import IdMap
from rapids_trav.ids.renumber import renumber
from rapids_trav.ids.renumber_streamed import renumber_distinct
from rapids_trav.memory.model.build import grown_bytes, order_bytes
from rapids_trav.storage.build_options import BuildOptions
from rapids_trav.storage.edge_rows import EdgeRows, Weight
from rapids_trav.storage.in_memory import GraphParts, InMemory
from rapids_trav.storage.interface import GraphEdges
from rapids_trav.storage.memory_errors import is_out_of_memory, telling_of_memory
from rapids_trav.storage.on_devices import OnDevices, is_spread
from rapids_trav.storage.placement import MemoryLimits, Placement, place_edges, rows_within
from rapids_trav.storage.spilled_build import least_bytes
from rapids_trav.utilities.phase_times import PhaseTimes

Pairs = Callable[[], Iterator[tuple[Array, Array]]]


def build(edges: Any, options: BuildOptions) -> GraphParts:
    """Build the parts of a graph from edges that `Graph.from_edges` documents."""
    source = open_edges(edges, options.engine)
    directed = bool(source.defaults.directed if options.directed is None else options.directed)
    weight = source.defaults.weight if options.weight is None else options.weight
    runner = select(options.engine, source.library.name)
    if options.devices is not None:
        runner = spread_over(
            runner, options.devices, shared=options.ranks_share_devices, layout=options.layout
        )
    sides = edge_columns(source, options.src, options.dst)
    if weight is not None:
        require_column(source.columns, weight)
    vertices = forms.opened(proxies.opened(options.vertices, on_gpu=source.library.name == "cudf"))
    extra = [] if vertices is None else [split("vertices", vertices, len(sides[0]))]
    if source.defaults.vertices is not None:
        extra.append([source.defaults.vertices])
    limits = MemoryLimits()
    if not is_spread(runner):
        limits = MemoryLimits.of(runner, source.count_rows(), directed, options.memory_limit, options.spill)

    def attempt(limits: MemoryLimits) -> GraphParts:
        return _build(source, sides, directed, weight, extra, runner, options, limits)

    if limits.reading is None:
        try:
            return attempt(limits)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error) or is_spread(runner):
                raise
            limits = limits.of_what_is_free(runner)
    with telling_of_memory("building the graph", runner):
        return attempt(limits)


def _build(
    source: EdgeSource,
    sides: tuple[list[Hashable], list[Hashable]],
    directed: bool,
    weight: Hashable | None,
    extra: list[list[Any]],
    runner: Any,
    options: BuildOptions,
    limits: MemoryLimits,
) -> GraphParts:
    whole, read = _reading(source, sides, weight, extra, limits)
    if limits.reading is not None:
        source = SlicedEdges(source, limits.rows_at_once)
    times = PhaseTimes(runner.synchronize)

    def edge_rows(ids: IdMap) -> EdgeRows:
        weights = None if read.weight_dtype is None else Weight(weight, read.weight_dtype, read.weight_scale)
        return EdgeRows(source, *sides, read.n_edges, ids, runner.xp, weights)

    with times.phase("renumber"):
        ids, pairs = _renumbered(read, len(sides[0]), source, runner.xp, whole, edge_rows)
    weighted = weight is not None
    vertex_order = options.vertex_order(runner.degree_sort)
    id_bytes = ids.nbytes + (order_bytes(ids.n) if vertex_order != "ids" else 0)
    placement = Placement(None, outside=False, keeps_codes=True)
    if not is_spread(runner):
        placement = place_edges(
            runner, limits, ids.n, id_bytes, read.n_edges, directed=directed, weighted=weighted
        )
    if limits.reading is None and placement.limit is not None:
        source = SlicedEdges(source, rows_within(placement.limit))
    order = None
    if (back_end := options.sort_back_end(runner.degree_sort)) is not None:
        with times.phase("degree sort"):
            order = descending(degrees(pairs(), ids.n, runner), back_end, runner.xp)
    elif vertex_order == "locality":
        with times.phase("locality order"):
            order = _locality_order(pairs if whole else None, edge_rows(ids).pairs, ids, read, runner, limits)
    if order is not None:
        named = placement.limit is None and runner.answers is not None
        ids = ReorderedIds.of(ids, order, runner.xp, named=named)
        pairs = _in_order(pairs, ids) if whole else edge_rows(ids).pairs
    rows = edge_rows(ids)
    if whole and not placement.keeps_codes:
        pairs = rows.pairs  # read again: the ids in memory would take the memory of the build
    with times.phase("adjacency"):
        reader = GraphEdges(directed, pairs, rows.pairs, rows.weighted if weighted else None)
        if is_spread(runner):
            storage: InMemory = OnDevices(runner, ids.n, reader, n_edges=read.n_edges)
        else:
            storage = placement.storage(runner, ids, read.n_edges, reader)
    return GraphParts(
        rows=rows,
        ids=ids,
        storage=storage,
        n_edges=read.n_edges,
        directed=directed,
        weight=weight,
        build_times=times.seconds,
    )


def _reading(
    source: EdgeSource,
    sides: tuple[list[Hashable], list[Hashable]],
    weight: Hashable | None,
    extra: list[list[Any]],
    limits: MemoryLimits,
) -> tuple[bool, BuildPass]:
    """Return whether the edges are read once, with all ids in memory, and the pass that reads them."""
    columns = list(dict.fromkeys([*sides[0], *sides[1]]))
    id_bytes = source.id_bytes(columns) if isinstance(source, (FrameEdges, ArrowEdges)) else None
    whole = limits.reads_whole(source.count_rows(), id_bytes)
    rows = source if whole else SlicedEdges(source, limits.rows_at_once)
    return whole, BuildPass(rows, sides, weight, extra)


def _renumbered(
    read: BuildPass,
    width: int,
    source: EdgeSource,
    xp: Any,
    whole: bool,
    edge_rows: Callable[[IdMap], EdgeRows],
) -> tuple[IdMap, Pairs]:
    """Renumber the ids; return their map and the edges, from memory if `whole`, else read again."""
    if not whole:
        ids = renumber_distinct(read, width, source.library, xp)
        return ids, edge_rows(ids).pairs
    ids, codes = renumber(read, width, source.library, xp)
    return ids, lambda: ((codes(2 * i), codes(2 * i + 1)) for i in range(read.chunks))


def _locality_order(
    codes: Pairs | None, again: Pairs, ids: IdMap, read: BuildPass, runner: Engine, limits: MemoryLimits
) -> Array:
    """Return the locality order, which bounded searches over the undirected edges compute on the host.

    The edges are `codes` if these are in memory and may stay there; otherwise they are read `again`.  Their
    adjacency is in the engine's memory or outside it, as that of a graph would be.
    """
    from rapids_trav.ids.locality_order import grown  # imports Numba, which other orders do not need

    more_bytes = order_bytes(ids.n)
    placement = place_edges(
        runner, limits, ids.n, ids.nbytes + more_bytes, read.n_edges, directed=False, weighted=False
    )
    pairs = codes if codes is not None and placement.keeps_codes else again

    def unfiltered(where: Hashable) -> Iterator[tuple[Array, Array]]:
        return pairs()

    edges = GraphEdges(False, pairs, unfiltered)
    storage = placement.storage(runner, ids, read.n_edges, edges, more_bytes)
    both_ways = storage.forward(weighted=False)
    needed = grown_bytes(ids.n) if runner.place == "host" else 0
    search = least_bytes(runner.place, ids.n, 1)
    with storage.room(needed, "the order of the vertices", search - needed):
        rows = both_ways.on_host()
        return move(grown(rows.row_offsets, rows.column_indices), runner.xp)


def _in_order(pairs: Pairs, ids: ReorderedIds) -> Pairs:
    """Return the pairs with their ids replaced by the numbers in the new order."""
    return lambda: ((ids.rank[u], ids.rank[v]) for u, v in pairs())
