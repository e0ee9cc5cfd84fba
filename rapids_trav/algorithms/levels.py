"""Counts of vertices by level of a search, and degrees of vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import get_args

import numpy as np

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import Counted, TraversableGraph
from rapids_trav.algorithms.options import Direction, SearchOptions
from rapids_trav.algorithms.request import ask
from rapids_trav.algorithms.results import levels_of_many
from rapids_trav.csr.adjacency import Array
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.ids.lookup import lookup
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.search import DEGREES_BYTES, DISTANCE_BYTES, counted_at_once
from rapids_trav.storage.block_sizes import query_bytes
from rapids_trav.utilities.checks import one_of


def levels(graph: TraversableGraph, sources: object, options: SearchOptions) -> Frame:
    """Return the frame that `Graph.levels` documents."""
    xp, n = graph.engine.xp, graph.n_vertices
    checked = graph.engine.answers is None or n == 0
    view, roots, asked = ask(graph, sources, options, checked=checked)

    def needed(n_levels: int) -> int:
        table = query_bytes(graph.engine.place, n)
        # The working memory of a joint search is free when its distances are counted.
        spare = 0 if asked.each else table.state - DISTANCE_BYTES * n
        return max(table.levels(n_levels) - spare, 0)

    parts: list[tuple[int | Array, Counted]] = []
    for first, found in searches(graph, view, roots, asked, 0, later=needed(n + 1)):
        for place, counted in _count(graph, xp.atleast_2d(found.distance), needed):
            parts.append((first + place, counted))
        del found
    search: Array | None = None
    if asked.each:
        of_each = [xp.broadcast_to(xp.asarray(of), level.shape) for of, (level, _, _) in parts]
        search = _joined(of_each, xp)
    columns_of = list(zip(*(counted for _, counted in parts), strict=True))
    del parts
    level, count, cumulative = (_joined(column, xp) for column in columns_of)
    del columns_of
    if not (checked or asked.each) and int(level[0]) < 0:
        # Not even a source was reached, so it is not in the graph: `lookup` raises the error.
        lookup("sources", sources, graph.ids, graph.rows.source.library)
    columns = {} if search is None else graph.id_columns("source", roots[search])
    columns |= {"distance": Masked(level, level >= 0), "vertices": count, "cumulative": cumulative}
    return graph.deliver(graph.frame(columns))


def _joined(parts: Sequence[Array], xp: ModuleType) -> Array:
    """Return the entries of all parts, some of which may be on the host."""
    return parts[0] if len(parts) == 1 else xp.concatenate([xp.asarray(part) for part in parts])


def _count(
    graph: TraversableGraph, distance: Array, needed: Callable[[int], int]
) -> Iterator[tuple[int | Array, Counted]]:
    """Count the levels of each search of a batch; yield them with the place of their search in the batch.

    Under a memory limit, searches are counted one by one, a part of the vertices at a time.  Otherwise as
    many searches are counted together as need no more bins than there are vertices.
    """
    n = graph.n_vertices
    if graph.budget is not None:
        for place, of_one in enumerate(distance):
            n_bins = graph.values.most(of_one) + 2
            with graph.budget.hold(needed(n_bins), "the levels"):
                counted = graph.values.count_levels(of_one, n_bins, counted_at_once(n))
            yield place, counted
        return
    own = graph.engine.answers
    counts = None if own is None else own.level_counts(distance)
    if counts is not None:
        yield levels_of_many(np, counts)
        return
    n_bins = graph.values.most(distance) + 2
    step = max(n // n_bins, 1)
    for first in range(0, len(distance), step):
        search, counted = graph.values.count_many_levels(distance[first : first + step], n_bins)
        yield first + search, counted


def degrees(graph: TraversableGraph, direction: Direction) -> Frame:
    """Return the frame that `Graph.degrees` documents."""
    one_of("direction", direction, get_args(Direction))
    view = graph.storage.view(direction)
    rows = graph.collector(graph.n_vertices)
    with holding(graph.budget, DEGREES_BYTES * graph.n_vertices, "the degrees"):
        degree = graph.values.in_order(view.degrees())
        rows.add(graph.vertex_columns("vertex") | {"degree": degree}, len(degree))
        return graph.deliver(rows.frame())
