"""Construction of the parts of a `Graph` from edges: ids, storage, and a reader of the caller's edges."""

from __future__ import annotations

from rapids_trav.csr.adjacency import Array
from rapids_trav.edges.build_pass import BuildPass, Pairs
from rapids_trav.edges.edge_source import EdgeSource
from rapids_trav.edges.sources import edge_columns, require_column
from rapids_trav.engines import select, spread_over
from rapids_trav.engines.interface import Engine
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Values, move
from rapids_trav.ids.degree_order import ReorderedIds, degrees, descending
from rapids_trav.ids.lookup import split
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.build import grown_bytes, order_bytes
from rapids_trav.storage.build_options import BuildOptions
from rapids_trav.storage.edge_rows import EdgeRows, Weight
from rapids_trav.storage.in_memory import GraphEdges, GraphParts
from rapids_trav.storage.memory_errors import as_memory_error, is_out_of_memory, telling_of_memory
from rapids_trav.storage.placement import MemoryLimits, place_edges, rows_within
from rapids_trav.utilities.phase_times import PhaseTimes


def build(source: EdgeSource, options: BuildOptions) -> GraphParts:
    """Build the parts of a graph from edges that `Graph.from_edges` documents."""
    directed = bool(source.defaults.directed if options.directed is None else options.directed)
    engine = select(options.engine, source.library.name)
    if options.devices is not None:
        engine = spread_over(
            engine, options.devices, shared=options.ranks_share_devices, layout=options.layout
        )
    read = _pass_over(source, options)
    limits = MemoryLimits.of(engine, source.count_rows(), directed, options.memory_limit, options.spill)
    try:
        return _build(read, directed, engine, options, limits)
    except (MemoryError, RuntimeError) as error:
        if limits.reading is not None or limits.spread is not None or not is_out_of_memory(error):
            raise as_memory_error(error, "building the graph", engine)  # noqa: B904 -- itself, or has its cause
        limits = limits.of_what_is_free(engine)
    with telling_of_memory("building the graph", engine):
        return _build(read, directed, engine, options, limits)


def _pass_over(source: EdgeSource, options: BuildOptions) -> BuildPass:
    """Return the pass over the columns and vertices that the caller names, or that the edges have."""
    sides = edge_columns(source, options.src, options.dst)
    weight = source.defaults.weight if options.weight is None else options.weight
    if weight is not None:
        require_column(source.columns, weight)
    extra: list[list[Values]] = []
    if options.vertices is not None:
        vertices = forms.opened(proxies.opened(options.vertices, on_gpu=source.library.name == "cudf"))
        extra.append(split("vertices", vertices, len(sides[0])))
    if source.defaults.vertices is not None:
        extra.append([source.defaults.vertices])
    return BuildPass(source, sides, weight, extra)


def _build(
    read: BuildPass, directed: bool, engine: Engine, options: BuildOptions, limits: MemoryLimits
) -> GraphParts:
    source, times = read.source, PhaseTimes(engine.synchronize)
    if limits.reading is not None:
        source = source.sliced(limits.rows_at_once)
    with times.phase("renumber"):
        if limits.reads_whole(read.source, read.ends):
            ids, codes = read.number(engine.xp)
        else:  # the edges are read again, since their ids take too much memory
            ids, codes = read.number_in(source, engine.xp), None
    vertex_order = options.vertex_order(engine.degree_sort)
    placement = place_edges(
        engine,
        limits,
        ids.n,
        ids.nbytes + (order_bytes(ids.n) if vertex_order != "ids" else 0),
        read.n_edges,
        directed=directed,
        weighted=read.weight is not None,
    )
    if limits.reading is None and placement.limit is not None:
        source = source.sliced(rows_within(placement.limit))
    weight = None if read.weight_dtype is None else Weight(read.weight, read.weight_dtype, read.weight_scale)
    rows = EdgeRows(source, *read.sides, read.n_edges, ids, engine.xp, weight)
    if vertex_order != "ids":
        if vertex_order == "degree":
            with times.phase("degree sort"):
                counted = degrees((codes or rows.pairs)(), ids.n, engine)
                order = descending(counted, options.sort_back_end, engine.xp)
        else:
            with times.phase("locality order"):
                order = _locality_order(codes, rows.pairs, ids, read.n_edges, engine, limits)
        named = placement.limit is None and engine.answers is not None
        ids = rows.ids = ReorderedIds.of(ids, order, engine.xp, named=named)
        codes = codes and _in_order(codes, ids)
    if not placement.keeps_codes:
        codes = None  # the edges are read again: the ids in memory would take the memory of the build
    with times.phase("adjacency"):
        weighted = weight and rows.weighted
        edges = GraphEdges(directed, read.n_edges, codes or rows.pairs, weighted, rows.pairs)
        storage = placement.storage(engine, ids, edges)
    return GraphParts(rows, ids, storage, read.n_edges, directed, read.weight, times.seconds)


def _locality_order(
    codes: Pairs | None, again: Pairs, ids: IdMap, n_edges: int, engine: Engine, limits: MemoryLimits
) -> Array:
    """Return the locality order, which bounded searches over the undirected edges compute on the host.

    The edges are `codes` if these are in memory and may stay there; otherwise they are read `again`.  Their
    adjacency is in the engine's memory or outside it, as that of a graph would be.
    """
    from rapids_trav.ids.locality_order import grown  # imports Numba, which other orders do not need

    more_bytes = order_bytes(ids.n)
    placement = place_edges(
        engine, limits, ids.n, ids.nbytes + more_bytes, n_edges, directed=False, weighted=False
    )
    pairs = codes if codes is not None and placement.keeps_codes else again
    storage = placement.storage(engine, ids, GraphEdges(False, n_edges, pairs), more_bytes)
    both_ways = storage.forward(weighted=False)
    needed = grown_bytes(ids.n) if engine.place == "host" else 0
    with holding(storage.budget, needed, "the order of the vertices"):
        rows = both_ways.on_host()
        return move(grown(rows.row_offsets, rows.column_indices), engine.xp)


def _in_order(pairs: Pairs, ids: ReorderedIds) -> Pairs:
    """Return the pairs with their ids replaced by the numbers in the new order."""
    return lambda: ((ids.rank[u], ids.rank[v]) for u, v in pairs())
