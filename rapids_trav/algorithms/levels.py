"""Summaries by level and by vertex."""

from __future__ import annotations

from contextlib import ExitStack
from typing import get_args

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import Direction, SearchOptions
from rapids_trav.algorithms.request import ask
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.storage.search_memory import COUNTED_BYTES, DEGREES_BYTES, LEVEL_BYTES, LEVELS_BYTES
from rapids_trav.utilities.checks import one_of


def levels(graph: TraversableGraph, sources: object, options: SearchOptions) -> Frame:
    """Frame of the counts that `Graph.levels` documents."""
    question = ask(graph, sources, options)
    xp, n = graph.engine.xp, graph.n_vertices
    parts = []
    with ExitStack() as counted:
        for first, found in searches(graph, question, LEVELS_BYTES, beside=LEVEL_BYTES):
            k, bins = found.distance.size // max(n, 1), int(found.distance.max()) + 2
            step = max(n // bins, 1)  # searches that are counted at once
            for i in range(0, k, step):
                some = found.distance.reshape(k, -1)[i : i + step]
                with graph.storage.room(LEVEL_BYTES * len(some) * bins, "the levels"):
                    search, *counts = graph.values.count_levels(some, bins)
                counted.enter_context(graph.storage.room(COUNTED_BYTES * len(search), "counted levels"))
                parts.append((search + first + i, *counts))
            del found, some
        search, distance, count, cumulative = (xp.concatenate(column) for column in zip(*parts, strict=True))
        del parts
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
