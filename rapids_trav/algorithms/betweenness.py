"""Betweenness centrality: the share of shortest paths that pass through a vertex or an edge.

L. C. Freeman, "A set of measures of centrality based on betweenness", Sociometry 40(1), 1977; U. Brandes,
"A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25(2), 2001; sampled
sources: U. Brandes, C. Pich, "Centrality estimation in large networks", Int. J. Bifurcation and Chaos 17(7),
2007.  The scale is that of NetworkX 3.6.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import BetweennessOptions
from rapids_trav.algorithms.request import resolve, unique
from rapids_trav.algorithms.request import vertices as internal_of
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import View
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.search import SHARED
from rapids_trav.storage.block_sizes import query_bytes


def betweenness(graph: TraversableGraph, options: BetweennessOptions) -> Frame:
    """Return the frame that `Graph.betweenness` documents."""
    where = resolve(graph, options.where)
    n, xp = graph.n_vertices, graph.engine.xp
    view = graph.storage.view(options.direction, where)
    sources = _sources(graph, options)
    edges = options.of == "edges"
    directed = graph.directed and options.direction != "both"
    table = query_bytes(graph.engine.place, n)
    together = table.n_threads if table.host else SHARED
    needed = table.betweenness(view.stored.n_edges, edges, together)
    if not table.host and needed > (graph.budget.free if graph.budget else graph.engine.free_bytes()):
        together = 1
        needed = table.betweenness(view.stored.n_edges, edges, together)
    with holding(graph.budget, needed, "the betweenness"):
        shares = graph.engine.shortest_path_shares(view, sources, edges, together)
        score = shares.vertices if shares.edges is None else shares.edges
        if not bool(xp.isfinite(score).all()):
            raise TravError(
                "betweenness counts more than 1e308 shortest paths between two vertices, which float64 does "
                "not hold: leave out edges with where=, or ask about a smaller graph."
            )
        if edges:
            scale, _ = scales(n, len(sources), options.normalized, directed, ends=True)
            return _of_edges(graph, view, score * scale, directed, options.direction == "in")
        if options.endpoints:
            score = score + shares.reached
        others, own = scales(n, len(sources), options.normalized, directed, options.endpoints)
        scale = xp.full(n, others)
        scale[sources] = own
        score = graph.values.in_order(score * scale)
        return graph.deliver(graph.frame(graph.id_columns("vertex") | {"betweenness": score}))


def _sources(graph: TraversableGraph, options: BetweennessOptions) -> Array:
    """Return the vertices to search from, in internal ids."""
    n = graph.n_vertices
    if options.sources is not None:
        chosen = unique(graph, internal_of(graph, "sources", options.sources))
        if not len(chosen):
            raise TravError("sources is empty: give at least one vertex to search from.")
        return chosen
    if options.k is None:
        return graph.engine.xp.arange(n, dtype=graph.values.dtype)
    if options.k > n:
        raise TravError(f"k={options.k} is more than the {n} vertices of the graph: give at most as many.")
    places = np.random.default_rng(options.seed).choice(n, options.k, replace=False)
    return graph.values.at(graph.engine.xp.asarray(np.sort(places)))


def scales(n: int, k: int, normalized: bool, directed: bool, ends: bool) -> tuple[float, float]:
    """Return the factors of the scores of vertices that are not sources, and of vertices that are.

    A path that passes through a vertex does not start there.  So if the vertex is one of the k sources, only
    k - 1 sources count for it, unless ends count as well or every vertex is a source.
    """
    others = n if ends else n - 1
    if others < 2:
        return 1.0, 1.0
    per_pair = 1.0 / (others - 1) if normalized else others / (1.0 if directed else 2.0)
    if k == n:
        return per_pair / others, per_pair / others
    return per_pair / k, per_pair / k if ends else (per_pair / (k - 1) if k > 1 else float("nan"))


def _of_edges(graph: TraversableGraph, view: View, score: Array, directed: bool, against: bool) -> Frame:
    """Return a row for each distinct edge, in the caller's order of its ends.

    The view leads `against` the edges where the search does.
    """
    xp, n, place = graph.engine.xp, graph.n_vertices, graph.values.places(np.int64)
    u, v = place[view.coo.src], place[view.coo.dst]
    if against:
        u, v = v, u
    if not directed:
        u, v = xp.minimum(u, v), xp.maximum(u, v)
    key, edge = xp.unique(u * n + v, return_inverse=True)
    total = xp.bincount(edge, weights=score, minlength=len(key))
    src, dst = (graph.values.at(part) for part in (key // max(n, 1), key % max(n, 1)))
    columns = graph.id_columns("src", src) | graph.id_columns("dst", dst)
    return graph.deliver(graph.frame(columns | {"betweenness": total}))
