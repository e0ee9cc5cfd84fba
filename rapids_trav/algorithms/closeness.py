"""Closeness, harmonic centrality and eccentricity, computed from sums and maxima over distances.

L. C. Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1, 1979;
M. Marchiori, V. Latora, "Harmony in the small-world", Physica A 285, 2000.

To measure all vertices, every vertex is a source of a search against the direction, and each reached vertex
adds up its distances.  To measure some vertices, these are the sources, and each adds up the distances of the
vertices that it reaches.  No distance is kept.

The eccentricities of all vertices of an undirected graph come from bounds: F. W. Takes, W. A. Kosters,
"Computing the eccentricity distribution of large graphs", Algorithms 6(1), 2013.  A search from v, of
eccentricity e, bounds the eccentricity of every reached vertex w, at distance d:

    max(d, e - d) <= eccentricity(w) <= e + d

1. The first upper bound is the number of vertices of the component minus one.
2. One joint search starts from one vertex of each component.  It alternates between the vertex with the
   largest upper bound, which is likely to be peripheral, and the one with the smallest lower bound, which is
   likely to be central.
3. The bounds are tightened until those of every vertex meet.  For the diameter, it suffices that no upper
   bound exceeds the largest lower bound.
4. Where bounds do not help, as on a cycle, the remaining vertices are searched from 64 at a time, once that
   costs less than the searches made so far.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

import numpy as np

from rapids_trav.algorithms.components import labelled
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import CentralityOptions, ComponentsOptions, Direction
from rapids_trav.algorithms.request import on_engine, resolve
from rapids_trav.algorithms.request import vertices as internal_of
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, DistanceSums
from rapids_trav.frames.columns import Frame
from rapids_trav.ids.maps import Column
from rapids_trav.memory.model.search import QueryBytes
from rapids_trav.storage.filters import Where
from rapids_trav.utilities.progress import report

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
        with view.searching(partial(QueryBytes.sums, of_vertices=True), most=len(sources)) as together:
            sums = graph.engine.distance_sums(view, sources, "vertices", together)
            return graph.id_columns("vertex"), sums.mapped(graph.values.in_order)
    view = graph.storage.view(options.direction, where)
    internal = on_engine(graph, internal_of(graph, "of=", vertices))
    sources, place = xp.unique(internal, return_inverse=True) if len(internal) else (internal, internal)
    with view.searching(partial(QueryBytes.sums, of_vertices=False), most=len(sources)) as together:
        sums = graph.engine.distance_sums(view, sources, "sources", together)
        return graph.id_columns("vertex", internal), sums.mapped(lambda of: of[place])


TOGETHER = 64  # sources of a bit-parallel search, which costs about as much as a few single searches


def eccentricities(
    graph: TraversableGraph, where: Where | None, only_largest: bool = False
) -> tuple[Array, Array]:
    """Return the eccentricity, int32, and the number of other vertices reached, int64, of each vertex.

    Both are in the caller's order.  With `only_largest`, the eccentricities are lower bounds of which only
    the largest is exact.
    """
    xp, values = graph.engine.xp, graph.values
    view = graph.storage.view("both", where)
    label, size = _components(graph, where)
    needed = partial(QueryBytes.sums, of_vertices=False, bounds=True)  # one search takes less
    with view.searching(needed, most=graph.n_vertices) as together:
        lower, upper = xp.zeros(graph.n_vertices, np.int32), (size[label] - 1).astype(np.int32)
        degree = view.degrees()
        options, n_searches = BfsOptions(predecessors=False), 0
        while True:
            open_ = upper > (lower.max() if only_largest and len(lower) else lower)
            left = xp.flatnonzero(open_)
            report(graph.n_vertices - len(left), graph.n_vertices, "vertices")
            if not len(left):
                break
            if n_searches * TOGETHER > len(left):
                sums = graph.engine.distance_sums(view, left.astype(values.dtype), "sources", together)
                lower[left] = upper[left] = sums.largest
                report(graph.n_vertices, graph.n_vertices, "vertices")
                break
            keys = upper[left] if n_searches % 2 == 0 else -lower[left]
            chosen = left[_one_of_each(xp, label[left], keys, degree[left], len(size))]
            distance = graph.engine.search(view, chosen.astype(values.dtype), options).distance
            n_searches += 1
            largest = xp.zeros(len(size), np.int32)
            xp.maximum.at(largest, label, distance)
            reached, own = distance >= 0, largest[label]
            lower = xp.where(reached, xp.maximum(lower, xp.maximum(distance, own - distance)), lower)
            upper = xp.where(reached, xp.minimum(upper, own + distance), upper)
            lower[chosen] = upper[chosen] = own[chosen]
        return values.in_order(lower), values.in_order(size[label] - 1)


def _components(graph: TraversableGraph, where: Where | None) -> tuple[Array, Array]:
    """Return the component of each vertex by internal id, numbered from 0, and the component sizes."""
    with labelled(graph, ComponentsOptions(where=where)) as done:
        _, label, size = graph.engine.xp.unique(done.values, return_inverse=True, return_counts=True)
    return label, size.astype(np.int64)


def _one_of_each(xp: ModuleType, label: Array, key: Array, degree: Array, n_labels: int) -> Array:
    """Return the position of one vertex of each label present: the largest key, then the largest degree."""
    best = xp.full(n_labels, -1, np.int64)
    rank = (key.astype(np.int64) - int(key.min())) * (int(degree.max()) + 1) + degree
    xp.maximum.at(best, label, rank)
    places = xp.flatnonzero(best[label] == rank)
    one = xp.full(n_labels, -1, np.int64)
    one[label[places]] = places
    return one[one >= 0]
