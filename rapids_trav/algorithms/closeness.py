"""Closeness, harmonic centrality and eccentricity, computed from sums and maxima over distances.

L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1, 1979;
M. Marchiori, V. Latora, "Harmony in the small-world", Physica A 285, 2000.

To measure all vertices, every vertex is a source of a search against the direction, and each reached vertex
adds up its distances.  To measure some vertices, these are the sources, and each adds up the distances of the
vertices that it reaches.  No distance is kept.
"""

from __future__ import annotations

from types import ModuleType

from rapids_trav.algorithms.eccentricity import eccentricities
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import CentralityOptions, Direction
from rapids_trav.algorithms.request import on_engine, resolve
from rapids_trav.algorithms.request import vertices as internal_of
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import DistanceSums
from rapids_trav.frames.columns import Frame
from rapids_trav.ids.maps import Column
from rapids_trav.storage.block_sizes import adding_up

BACKWARDS: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


def closeness(graph: TraversableGraph, vertices: object, improved: bool, options: CentralityOptions) -> Frame:
    """Return the frame that `Graph.closeness` documents."""
    columns, sums = _sums(graph, vertices, options)
    value = closeness_of(sums, graph.n_vertices, improved, graph.engine.xp)
    return graph.deliver(graph.frame(columns | {"closeness": value}))


def closeness_of(sums: DistanceSums, n: int, improved: bool, xp: ModuleType) -> Array:
    """Return the closeness of vertices from the sums over their distances, in a graph of `n` vertices."""
    value: Array = sums.reached / xp.maximum(sums.total, 1)
    return value * (sums.reached / max(n - 1, 1)) if improved else value


def harmonic(graph: TraversableGraph, vertices: object, options: CentralityOptions) -> Frame:
    """Return the frame that `Graph.harmonic` documents."""
    columns, sums = _sums(graph, vertices, options)
    return graph.deliver(graph.frame(columns | {"harmonic": sums.inverse}))


def eccentricity(graph: TraversableGraph, vertices: object, options: CentralityOptions) -> Frame:
    """Return the frame that `Graph.eccentricity` documents."""
    if vertices is None and (options.direction == "both" or not graph.directed):
        largest, reached = eccentricities(graph, resolve(graph, options.where))
        columns = graph.id_columns("vertex")
    else:
        columns, sums = _sums(graph, vertices, options)
        largest, reached = sums.largest, sums.reached
    return graph.deliver(graph.frame(columns | {"eccentricity": largest, "reached": reached}))


def diameter(graph: TraversableGraph, options: CentralityOptions) -> int:
    """Return the diameter that `Graph.diameter` documents."""
    if options.direction == "both" or not graph.directed:
        largest, _ = eccentricities(graph, resolve(graph, options.where), only_largest=True)
    else:
        largest = _sums(graph, None, options)[1].largest
    return int(largest.max()) if len(largest) else 0


def _sums(
    graph: TraversableGraph, vertices: object, options: CentralityOptions
) -> tuple[dict[str, Column], DistanceSums]:
    """Return the vertices as columns, and the sums over the distances between each of them and all others."""
    where = resolve(graph, options.where)
    xp = graph.engine.xp
    if vertices is None:
        view = graph.storage.view(BACKWARDS[options.direction], where)
        sources = xp.flatnonzero(view.degrees()).astype(graph.values.dtype)  # others reach no vertex
        with adding_up(view, len(sources), "vertices") as together:
            sums = graph.engine.distance_sums(view, sources, "vertices", together)
            return graph.id_columns("vertex"), sums.mapped(graph.values.in_order)
    view = graph.storage.view(options.direction, where)
    internal = on_engine(graph, internal_of(graph, "of=", vertices))
    sources, place = xp.unique(internal, return_inverse=True) if len(internal) else (internal, internal)
    with adding_up(view, len(sources), "sources") as together:
        sums = graph.engine.distance_sums(view, sources, "sources", together)
        return graph.id_columns("vertex", internal), sums.mapped(lambda of: of[place])
