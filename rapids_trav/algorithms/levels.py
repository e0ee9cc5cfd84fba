"""Summaries by level and by vertex."""

from __future__ import annotations

from typing import get_args

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import Direction, SearchOptions
from rapids_trav.algorithms.request import ask
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.model.search import (
    DEGREES_BYTES,
    DISTANCE_BYTES,
    counted_at_once,
    levels_bytes,
    search_bytes,
)
from rapids_trav.utilities.checks import one_of


def levels(graph: TraversableGraph, sources: object, options: SearchOptions) -> Frame:
    """Frame of the counts that `Graph.levels` documents."""
    question = ask(graph, sources, options)
    xp, n, storage = graph.engine.xp, graph.n_vertices, graph.storage
    spare = 0
    if (
        not question.each
    ):  # what a joint search worked in, beside the distances, is free when they are counted
        spare = search_bytes(graph.engine.place == "host", n, vertex_dtype(n).itemsize) - DISTANCE_BYTES * n
    # Within a limit one search is counted after another, a part of its vertices at a time.
    at_once = None if graph.budget is None else counted_at_once(n)
    parts = []
    for first, found in searches(graph, question, 0, beside=max(levels_bytes(n, n + 1) - spare, 0)):
        distance = found.distance.reshape(-1, n)
        step = 1 if at_once else max(n // (int(distance.max()) + 2), 1)
        for i in range(0, len(distance), step):
            some = distance[i : i + step]
            n_bins = int(some.max()) + 2
            with storage.room(max(levels_bytes(n, n_bins) - spare, 0), "the levels"):
                search, *counts = graph.values.count_levels(some, n_bins, at_once)
            parts.append((search + first + i, *counts))
        del found, distance, some
    columns_of = list(zip(*parts, strict=True))
    del parts
    search, distance, count, cumulative = (
        column[0] if len(column) == 1 else xp.concatenate(column) for column in columns_of
    )
    del columns_of
    columns = graph.id_columns("source", question.sources[search]) if question.each else {}
    columns |= {"distance": Masked(distance, distance >= 0), "vertices": count, "cumulative": cumulative}
    return graph.deliver(graph.frame(columns))


def degrees(graph: TraversableGraph, direction: Direction) -> Frame:
    """Frame of the degrees that `Graph.degrees` documents."""
    one_of("direction", direction, get_args(Direction))
    offsets = graph.storage.view(direction).out.row_offsets
    xp = graph.engine.xp
    with graph.storage.room(DEGREES_BYTES * graph.n_vertices, "the degrees"):
        degree = xp.diff(offsets).astype(xp.int64)
        columns = graph.id_columns("vertex") | {"degree": graph.values.in_order(degree)}
        return graph.deliver(graph.frame(columns))
