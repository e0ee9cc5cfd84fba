"""Shortest paths by weight from one or several sources.

R. Bellman, "On a routing problem", Quarterly of Applied Mathematics 16, 1958, as the vertex program
`programs.shortest_paths`: a vertex whose distance has fallen offers its neighbours that distance plus the
weight of the edge, until none falls.

Distances are int64 for integer weights and float64 for others (float32 weights are added in float64), so that
each is the sum of the weights along a path, added from the source on in that type, and the least such sum.

Predecessors are read off the distances: over an edge u -> v that is tight, distance[u] + weight ==
distance[v].  Where distance[u] < distance[v] for one of them, such edges make no cycle.  What is left over is
reached over weights that are zero, or too small to show in the sum: among vertices of one distance, a
breadth-first search along tight edges, from those that are settled, gives each a predecessor that is nearer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from rapids_trav.errors import TravError
from rapids_trav.frames import Masked
from rapids_trav.ids import vertex_dtype
from rapids_trav.storage.memory import MemoryView, Structures
from rapids_trav.structures import Array, BfsOptions, GatherView, State

from .pagerank import refuse_negative
from .programs import MOST, shortest_paths
from .question import flag, unique, vertices
from .run import RunQuestion, answer, execute, gather_view

if TYPE_CHECKING:
    from rapids_trav.graph import Graph

BLOCK = 1 << 22  # edges looked at at once for predecessors


def sssp(
    graph: Graph,
    sources: Any,
    *,
    direction: str = "out",
    where: Hashable | None = None,
    predecessors: bool = True,
    reached_only: bool = False,
    **asked: Any,
) -> Any:
    """Frame of the distances that `Graph.sssp` documents."""
    flag("predecessors", predecessors)
    flag("reached_only", reached_only)
    weight = graph.rows.weight
    if weight is None:
        raise TravError(
            "sssp needs weights, and the graph has none: name them with graph(weight=...) or use bfs."
        )
    question = RunQuestion(direction=direction, where=where, weighted=True, **asked)
    roots = unique(graph, vertices(graph, "sources", sources))
    program = shortest_paths("int64" if weight.dtype.kind == "i" else "float64")
    view = gather_view(graph, program, question)
    refuse_negative(graph, view.weights, "shortest paths are for weights from 0 on")
    if program.dtype in MOST:
        _refuse_overflow(graph, view.weights)
    xp, n = graph.engine.xp, graph.n_vertices
    state = State(xp.full(n, program.identity), xp.zeros(n, dtype=bool))
    state.values[roots] = 0
    state.active[roots] = True
    done = execute(graph, view, program, state, question)
    distance = done.values
    reached = distance != program.identity
    predecessor = shortest_tree(graph.engine, view, distance, reached, roots) if predecessors else None
    return answer(graph, _columns(graph, distance, reached, predecessor, reached_only), done, question)


def _refuse_overflow(graph: Graph, weights: Array) -> None:
    """A path has at most n - 1 edges; its sum has to stay below the largest int64."""
    if len(weights) and int(weights.max()) * (graph.n_vertices - 1) >= MOST["int64"]:
        raise TravError(
            f"weight={graph.weight!r} holds {int(weights.max())}, and sums along paths of "
            f"{graph.n_vertices} vertices could pass int64: convert it, for example with astype('float64')."
        )


def _columns(
    graph: Graph, distance: Array, reached: Array, predecessor: Array | None, reached_only: bool
) -> dict[str, Any]:
    """Vertex, distance and predecessor of each row of the answer."""
    xp, n, rank = graph.engine.xp, graph.n_vertices, graph.ids.rank
    row = xp.arange(n, dtype=vertex_dtype(n)) if rank is None else rank
    if reached_only:
        row = row[reached[row]]
    columns = graph.id_columns("vertex", row)
    columns["distance"] = Masked(distance[row], reached[row])
    if predecessor is not None:
        columns |= graph.id_columns("predecessor", predecessor[row], nulls=True)
    return columns


def shortest_tree(engine: Any, view: GatherView, distance: Array, reached: Array, sources: Array) -> Array:
    """A predecessor of each reached vertex; -1 at sources and where unreached.

    Parameters
    ----------
    distance : array, (n,)
    reached : bool array, (n,)
    sources : vertex array
    """
    xp = engine.xp
    if view.pages is None and hasattr(engine, "tight_predecessors"):
        predecessor = engine.tight_predecessors(view.into, view.weights, distance)
    else:
        predecessor = _tight_predecessors(view, distance, xp)
    predecessor[sources] = -1
    predecessor[~reached] = -1
    settled = predecessor >= 0
    settled[sources] = True
    left = reached & ~settled
    if not bool(left.any()):
        return predecessor
    kept = []
    for u, v, weight in _blocks(view, xp):
        tight = (distance[u] + weight == distance[v]) & (distance[u] == distance[v])
        level = xp.flatnonzero(left[v] & tight)
        kept.append((u[level], v[level]))
    return _among_equals(engine, predecessor, kept, xp.flatnonzero(settled))


def _tight_predecessors(view: GatherView, distance: Array, xp: Any) -> Array:
    """The same as the engine's, a block of edges after another."""
    predecessor = xp.full(view.n_vertices, -1, dtype=vertex_dtype(view.n_vertices))
    for u, v, weight in _blocks(view, xp):
        tight = xp.flatnonzero((distance[u] + weight == distance[v]) & (distance[u] < distance[v]))
        predecessor[v[tight]] = u[tight]
    return predecessor


def _among_equals(engine: Any, predecessor: Array, edges: list, settled: Array) -> Array:
    """Fill in the predecessors of what is reached along `edges` from the settled vertices."""
    n = len(predecessor)
    view = MemoryView(Structures(engine, n, lambda: iter(edges), directed=True), "out")
    found = engine.bfs(view, settled.astype(predecessor.dtype), BfsOptions()).predecessor
    return engine.xp.where(predecessor < 0, found, predecessor)


def _blocks(view: GatherView, xp: Any) -> Iterator[tuple[Array, Array, Array]]:
    """The edges u -> v with their weights, a block of rows at a time."""
    into, n, weights = view.into, view.n_vertices, view.weights
    assert weights is not None
    row = 0
    while row < n:
        first = int(into.row_offsets[row])
        end = max(bisect_right(into.row_offsets, first + BLOCK, row, n + 1) - 1, row + 1)
        last = int(into.row_offsets[end])
        if last > first:
            ends = xp.asarray(into.row_offsets[row + 1 : end]) - first  # where the row number goes up
            v = xp.cumsum(xp.bincount(ends, minlength=last - first)[: last - first]) + row
            yield xp.asarray(into.column_indices[first:last]), v, xp.asarray(weights[first:last])
        row = end
