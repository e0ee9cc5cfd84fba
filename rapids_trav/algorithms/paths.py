"""Shortest paths as a tidy frame: the predecessors of a search, followed from each target to its source.

All targets of a batch of searches are followed together (`VertexValues.walk`).
"""

from __future__ import annotations

from types import ModuleType

from rapids_trav.algorithms.bfs import searches
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.request import ask, on_engine, vertices
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import Frame, Masked
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.memory.model.search import paths_bytes


def paths(graph: TraversableGraph, sources: object, options: SearchOptions) -> Frame:
    """Frame of the paths to the targets that `Graph.paths` documents."""
    question = ask(graph, sources, options)
    ends = _distinct(on_engine(graph, vertices(graph, "targets", options.targets)), graph.engine.xp)
    parts = []
    room = paths_bytes(vertex_dtype(graph.n_vertices).itemsize, question.each)
    for first, found in searches(graph, question, room, options.deterministic):
        search, target, step, vertex = _follow(graph, found, ends)
        parts.append((question.sources[search + first], ends[target], step, vertex))
        del found
    concatenate = graph.engine.xp.concatenate
    source, target, step, vertex = (concatenate(column) for column in zip(*parts, strict=True))
    columns = graph.id_columns("source", source) if question.each else {}
    columns |= graph.id_columns("target", target)
    columns["step"] = Masked(step, step >= 0)
    columns |= graph.id_columns("vertex", vertex, nulls=True)
    return graph.deliver(graph.frame(columns))


def _distinct(ends: Array, xp: ModuleType) -> Array:
    """The targets once each, in the order in which they first come."""
    if len(ends) == 1:
        return ends
    _, first = xp.unique(ends, return_index=True)
    return ends[xp.sort(first)]


def _follow(graph: TraversableGraph, found: Search, ends: Array) -> tuple[Array, Array, Array, Array]:
    """Search, position of the target, step and vertex of each row; step and vertex are -1 where unreached."""
    xp, values = graph.engine.xp, graph.values
    assert found.predecessor is not None  # `ask` asks for them
    # One entry for each search and target; an unreached one still gets a row, of nulls.
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
