"""Breadth-first search, from the caller's arguments to the frame of the answer.

A search computes for each vertex its distance (the fewest edges from a source) and a predecessor, which is
one edge nearer.  The engine searches.  This module cuts many searches into batches, which bound the memory,
and converts the arrays of the engine to a frame with the caller's ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Generic, NamedTuple

import numpy as np

from rapids_trav.algorithms.interface import Collector, TraversableGraph
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.request import ask, own_answers
from rapids_trav.algorithms.results import columns_of
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, Engine, LevelTrace, Ordered, Search
from rapids_trav.engines.searches import RankCosts
from rapids_trav.errors import TravMemoryError
from rapids_trav.frames.columns import BitMasked, Frame, Masked
from rapids_trav.frames.kinds import FrameT
from rapids_trav.ids.lookup import lookup
from rapids_trav.ids.maps import Column
from rapids_trav.memory.model.search import WORD, QueryBytes
from rapids_trav.storage.block_sizes import query_bytes
from rapids_trav.storage.in_memory import MemoryView
from rapids_trav.utilities.progress import part_of, report

BATCH_ENTRIES = 1 << 27  # most distances of a batch of searches, unless a single search has more
BATCH_SOURCES = 512
CUDF_ROWS = 2**31 - 1


class Traced(NamedTuple, Generic[FrameT]):
    """An answer with the trace of the search or run that computed it.

    Attributes
    ----------
    result : DataFrame
        The answer.
    trace : DataFrame
        For a search, one row for each level: `level`, `direction`, `frontier` (vertices), `edges` examined,
        `bytes`, `host_bytes` and `milliseconds`.  With `mode="each"`, a first column `batch` numbers the
        groups of sources that were searched together, in their order.  On GPUs that reach each other's
        memory, a last column `exchange` says how they took the frontier from each other.  On other workers,
        each rank r adds `following_ms_r`, `exchange_ms_r` (including the wait for others) and `bytes_r` (sent
        to others).  For a vertex program, one row for each iteration; see `Graph.run`.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> answer, trace = graph.bfs(0, trace=True)
    >>> trace[["level", "frontier"]]
       level  frontier
    0      1         1
    1      2         2
    2      3         1
    3      4         1
    """

    result: FrameT
    trace: FrameT


Answer = Any  # a frame, or `Traced` if trace=True


def bfs(graph: TraversableGraph, sources: object, options: SearchOptions) -> Answer:
    """Return the frame that `Graph.bfs` documents."""
    own = own_answers(graph)
    view, roots, asked = ask(graph, sources, options, checked=own is None)
    n, reached_only = graph.n_vertices, options.reached_only
    total = None if reached_only else (len(roots) if asked.each else 1) * n
    rows, columns, traces = graph.collector(total), None, []
    check_size(graph, rows, total or 0)
    room = answer_room(graph, asked.each, reached_only)
    for first, found in searches(graph, view, roots, asked, room, options.deterministic):
        traces.append(found.trace)
        if own is not None and not asked.each:
            columns = own.columns(found, len(roots), reached_only)
            check_size(graph, rows, len(columns["vertex"]))
        elif own is not None and not reached_only and len(found.distance) == len(roots):
            columns = own.make.columns_of_each(found, own.table, roots)
        else:
            part, n_rows = columns_of(graph, roots[first:] if asked.each else None, found, reached_only)
            check_size(graph, rows, rows.n_rows + n_rows)
            rows.add(part, n_rows)
            del part
        del found  # free it before the next batch is searched
    frame = framed(graph, columns, "sources", sources) if columns else rows.frame()
    result = graph.deliver(frame)
    return Traced(result, trace_frame(graph, traces, asked.each)) if asked.trace else result


def answer_room(graph: TraversableGraph, each: bool, reached_only: bool) -> int:
    """Return the bytes of an answer, per vertex of each search; 0 if none are counted."""
    if graph.budget is None:
        return 0
    table = query_bytes(graph.engine.place, graph.n_vertices)
    return table.answer(each=each, ranked=graph.ids.rank is not None, reached_only=reached_only)


def framed(
    graph: TraversableGraph, columns: dict[str, Column | BitMasked], what: str, sources: object
) -> Frame:
    """Return the frame of an answer; refuse the `sources`, an argument called `what`, if none was reached.

    The frame is made before the device has counted what was not reached.
    """
    distance = columns["distance"]
    own = distance if isinstance(distance, BitMasked) else None
    frame = None if own is not None and len(own.values) == 0 else graph.frame(columns)
    if own is not None and own.null_count() == len(own.values):
        # Not even a source was reached, so it is not in the graph: `lookup` raises the error.
        lookup(what, sources, graph.ids, graph.rows.source.library)
    return frame


def searches(
    graph: TraversableGraph,
    view: MemoryView,
    sources: Array,
    options: BfsOptions,
    room: int,
    deterministic: bool = False,
    later: int = 0,
    at_once: int | None = None,
) -> Iterator[tuple[int, Search]]:
    """Search the view; yield for each batch of sources the position of the first, and the results.

    A joint search is one batch, with arrays of shape (n,).  Independent searches come in batches of k,
    `at_once` at most, with arrays of shape (k, n).  The memory of a batch is held until the next one is
    requested; the caller should have dropped the results by then.

    `room` are the bytes, for each vertex of each search, of the arrays that the caller makes from a batch in
    addition to distances and predecessors, and `later` the most bytes that it asks for while a batch is held.
    If `deterministic`, predecessors are the smallest of the valid ones.
    """
    engine = graph.engine
    smallest = deterministic and options.predecessors
    if smallest:
        options = replace(options, predecessors=False)

    def needed(table: QueryBytes, number: int) -> int:
        if not options.each:
            return table.search(room, options.trace)
        together = options.variant == "auto"
        return table.searches(number, room, repeated=bool(repeated), together=together)

    repeated, total = options.repeated, len(sources) if options.each else 1
    if options.each and repeated is None:
        repeated = total > 1 and len(engine.xp.unique(sources)) < total
    most = max(1, min(at_once or BATCH_SOURCES, BATCH_ENTRIES // max(graph.n_vertices, 1), total))
    most = most // WORD * WORD or most  # fill whole words of a bit-parallel search
    first = 0
    while first < total:
        with view.searching(needed, options.variant, min(most, total - first), later) as number:
            if options.each:
                part = sources[first : first + number]
                with part_of(first, total, "sources"):
                    found = _search_each(engine, view, part, options, bool(repeated))
                report(first + number, total, "sources")
            else:
                found = engine.search(view, sources, options)
                report(len(sources), len(sources), "sources")
            yield first, with_smallest(graph, view, found) if smallest else found
            del found
        first += number


def with_smallest(graph: TraversableGraph, view: MemoryView, found: Search) -> Search:
    """Return the search with the smallest of the valid predecessors."""
    order, rank = graph.ids.order, graph.ids.rank
    ordered = None if order is None or rank is None else Ordered(order, rank)
    predecessor = graph.engine.smallest_predecessors(view, found.distance, ordered)
    return replace(found, predecessor=predecessor)


def _search_each(
    engine: Engine, view: MemoryView, sources: Array, options: BfsOptions, repeated: bool
) -> Search:
    """Search from each source; repeated sources are searched once, since engines require distinct ones."""
    if not repeated:
        return engine.search_each(view, sources, options)
    unique, inverse = engine.xp.unique(sources, return_inverse=True)
    found = engine.search_each(view, unique, options)
    predecessor = None if found.predecessor is None else found.predecessor[inverse]
    return replace(found, distance=found.distance[inverse], predecessor=predecessor)


def check_size(graph: TraversableGraph, rows: Collector, n_rows: int) -> None:
    if n_rows > CUDF_ROWS and rows.together and graph.rows.source.library.name == "cudf":
        raise TravMemoryError(
            f"The answer has more than {n_rows:,} rows, but a cuDF frame holds {CUDF_ROWS:,}: "
            f"ask for fewer sources at a time, or use reached_only=True or depth_limit."
        )


def trace_frame(graph: TraversableGraph, traces: list[list[LevelTrace]], each: bool = False) -> Frame:
    """Return a frame with a row for each level of each batch; a batch starts at level 1."""
    types = {"level": "int32", "direction": "O", "frontier": "int64", "edges": "int64", "bytes": "int64"}
    types |= {"host_bytes": "int64", "milliseconds": "float64"}
    columns: dict[str, Column] = {}
    levels = [level for trace in traces for level in trace]
    if each:
        firsts = [level.level == 1 for level in levels]
        columns["batch"] = np.cumsum(firsts, dtype="int32") - np.int32(1)
    columns |= trace_columns(graph, levels, types)
    columns["edges"] = Masked(columns["edges"], columns["edges"] >= 0)
    if any(level.exchange for level in levels):
        columns |= trace_columns(graph, levels, {"exchange": "O"})
    return graph.hand_out(columns | _rank_columns(levels))


def _rank_columns(levels: Sequence[LevelTrace]) -> dict[str, Column]:
    """Return a column for each rank and number of `RankCosts`, or none if there are no ranks."""
    return {
        f"{name}_{rank}": np.array([getattr(level.ranks[rank], name) for level in levels])
        for rank in range(len(levels[0].ranks) if levels else 0)
        for name in RankCosts._fields
    }


def trace_columns(
    graph: TraversableGraph, rows: Sequence[object], types: dict[str, str]
) -> dict[str, Column]:
    """Return a column for each attribute in `types` of the rows of a trace; type "O" stands for strings."""
    values = attrgetter(*types)
    table = np.array([values(row) for row in rows], dtype=list(types.items()))
    written = graph.rows.source.library.column
    return {
        name: written(table[name].tolist(), dtype="str")
        if dtype == "O"
        else np.ascontiguousarray(table[name])
        for name, dtype in types.items()
    }
