"""Shortest paths as a frame with a row for each vertex of each path.

Paths follow the predecessors of a search, or of a run by weight, from each target back to its source.  All
targets of a batch of searches are followed together (`VertexValues.walk`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import PathOptions, SsspOptions
from rapids_trav.algorithms.request import ask, distinct, on_engine, own_answers, resolve, unique, vertices
from rapids_trav.algorithms.sssp import check_weights, lengths, shortest
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.ids.lookup import lookup
from rapids_trav.storage.block_sizes import query_bytes
from rapids_trav.utilities.progress import report


def paths(graph: TraversableGraph, sources: object, options: PathOptions) -> Frame:
    """Return the frame that `Graph.paths` documents."""
    if options.weighted:
        return _by_weight(graph, sources, options)
    own = own_answers(graph)
    view, roots, asked = ask(graph, sources, options, checked=own is None)
    ends = asked.targets
    if ends is None:
        ends = distinct(graph, vertices(graph, "targets", None))
    parts = []
    room = query_bytes(graph.engine.place, graph.n_vertices).paths(asked.each)
    for first, found in searches(graph, view, roots, asked, room, options.deterministic):
        n_searches = len(found.distance) if asked.each else 1
        if own is not None and n_searches == (len(roots) if asked.each else 1):
            columns = own.make.path_rows(found, roots, ends, own.table, asked.each)
            if columns is None:
                lookup("sources", sources, graph.ids, graph.rows.source.library)  # raises the error
            else:
                return graph.deliver(graph.frame(columns))
        search, target, step, vertex = _follow(graph, found, ends)
        parts.append((roots[search + first], ends[target], step, vertex))
        del found
    return _frame(graph, parts, asked.each)


def _by_weight(graph: TraversableGraph, sources: object, options: PathOptions) -> Frame:
    """Return the frame of paths of least weight, from one run for all sources or one for each source."""
    check_weights(graph, "weighted=True")
    each = options.mode == "each"
    roots = vertices(graph, "sources", sources)
    roots = on_engine(graph, roots) if each else unique(graph, roots)
    ends = distinct(graph, vertices(graph, "targets", options.targets))
    asked = SsspOptions(where=resolve(graph, options.where), direction=options.direction)
    parts = []
    for first in range(len(roots)) if each else (None,):
        own = roots if first is None else roots[first : first + 1]
        with shortest(graph, own, asked) as found:
            # `_follow` reads distances only to find the unreached, which are -1.
            level = found.reached.astype(np.int32) - 1
            search, target, step, vertex = _follow(graph, Search(level, found.predecessor), ends)
            total = found.run.values[graph.engine.xp.maximum(vertex, 0)]
            parts.append((own[search], ends[target], step, vertex, total))
            report(len(roots) if first is None else first + 1, len(roots), "sources")
            del found, level
    return _frame(graph, parts, each)


def _frame(graph: TraversableGraph, parts: Sequence[tuple[Array, ...]], each: bool) -> Frame:
    """Return the rows of all searches as a frame; by weight, with the distance of each vertex."""
    concatenate = graph.engine.xp.concatenate
    source, target, step, vertex, *total = (concatenate(column) for column in zip(*parts, strict=True))
    columns = graph.id_columns("source", source) if each else {}
    columns |= graph.id_columns("target", target)
    columns["step"] = Masked(step, step >= 0)
    columns |= graph.id_columns("vertex", vertex, nulls=True)
    if total:
        columns["distance"] = lengths(graph, Masked(total[0], step >= 0))
    return graph.deliver(graph.frame(columns))


def _follow(graph: TraversableGraph, found: Search, ends: Array) -> tuple[Array, Array, Array, Array]:
    """Return search, position of the target, step and vertex of each row.

    A target that is not reached has one row, with step and vertex -1.
    """
    xp, values = graph.engine.xp, graph.values
    assert found.predecessor is not None  # searches for paths ask for them
    # One entry for each search and target; an unreached target still gets a row, of nulls.
    reached = values.picked(xp.atleast_2d(found.distance), ends).reshape(-1) >= 0
    entries = xp.flatnonzero(reached)
    searches, targets = xp.divmod(entries, len(ends))
    lengths = xp.ones(len(reached), dtype=xp.int64)
    walked, visited = values.walk(xp.atleast_2d(found.predecessor), searches, ends[targets])
    lengths[reached] = walked
    last = xp.cumsum(lengths)
    row = xp.arange(int(last[-1]))
    entry = xp.searchsorted(last, row, side="right")
    step = (row - (last - lengths)[entry]).astype(xp.int32)
    vertex = xp.full(len(row), -1, dtype=values.dtype)
    on_path = reached[entry]
    vertex[on_path] = visited
    step[~on_path] = -1
    search, target = xp.divmod(entry, len(ends))
    return search, target, step, vertex
