"""Shares of vertices and edges in shortest paths, the sums behind betweenness.

U. Brandes, "A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25(2), 2001;
"On variants of shortest-path betweenness centrality and their generic computation", Social Networks 30, 2008.

For each source: 1. a search counts the shortest paths to every vertex (`paths`); 2. a pass back over its
levels, farthest vertices first, computes the share of each vertex u in the paths to the vertices behind it:

    share[u] = paths[u] * sum over v one level behind u of (1 + share[v]) / paths[v]

Both steps read the rows of out-edges.  A repeated edge counts once.  A thread runs whole searches, one source
after another, and adds into arrays of its own.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.runtime.intrinsics import Watch, load, search_all
from rapids_trav.engines.searches import PathShares, View
from rapids_trav.jit.kernels import kernel

AT_ONCE = 1 << 20  # edges and vertices that one call of a kernel reads, at least those of one source


def shortest_path_shares(view: View, sources: Array, edges: bool) -> PathShares:
    """Sum the shares of vertices, and of edges if asked, in the shortest paths from `sources`."""
    out = view.out
    sources = np.ascontiguousarray(sources, np.int64)

    n = view.n_vertices
    watch = Watch(len(sources), "sources")
    at_once = max(AT_ONCE // (out.n_edges + n + 1), 1)

    def search_some(begin: int, end: int) -> PathShares:
        of_vertices, reached = np.zeros(n), np.zeros(n, np.int64)
        of_edges = np.zeros(out.n_edges if edges else 0)
        state = np.full(n, -1, np.int32), np.zeros(n), np.empty(n), np.empty(n, out.column_indices.dtype)
        for first in range(begin, end, at_once):
            some = sources[first : min(first + at_once, end)]
            _search_some(
                out.row_offsets, out.column_indices, some, *state, of_vertices, of_edges, edges, reached,
                watch.stop,
            )  # fmt: skip
            if watch.stopped:
                break
            watch.done(len(some))
        return PathShares(of_vertices, of_edges if edges else None, reached)

    total, *others = search_all(search_some, len(sources), watch, len(sources) * (out.n_edges + n))
    for shares in others:
        total.vertices[:] += shares.vertices
        total.reached[:] += shares.reached
        if total.edges is not None:
            total.edges[:] += shares.edges
    return total


@kernel
def _search_some(
    row_offsets, column_indices, sources, distance, paths, weight, order, of_vertices, of_edges, edges,
    reached, stop,
):  # fmt: skip
    """Add the shares of some sources; `distance` is -1 and `paths` 0 before and, unless stopped, after it.

    `weight` is (1 + share) / paths.
    """
    for i in range(len(sources)):
        n_reached = _count_paths(row_offsets, column_indices, sources[i], distance, paths, order, stop)
        for k in range(n_reached - 1, -1, -1):
            if load(stop, 0) != 0:
                return
            u = order[k]
            behind = distance[u] + 1
            total = 0.0
            last = -1
            for e in range(row_offsets[u], row_offsets[u + 1]):
                v = column_indices[e]
                if distance[v] == behind and v != last:
                    total += weight[v]
                    if edges:
                        of_edges[e] += paths[u] * weight[v]
                last = v
            share = paths[u] * total
            weight[u] = (1.0 + share) / paths[u]
            if k > 0:
                of_vertices[u] += share
                reached[u] += 1
        reached[sources[i]] += n_reached - 1
        for k in range(n_reached):
            distance[order[k]] = -1
            paths[order[k]] = 0.0


@kernel
def _count_paths(row_offsets, column_indices, source, distance, paths, order, stop):
    """Search from a source; return the number of vertices in `order`, which begins with the source."""
    distance[source] = 0
    paths[source] = 1.0
    order[0] = source
    n_found = 1
    k = 0
    while k < n_found and load(stop, 0) == 0:
        u = order[k]
        k += 1
        behind = distance[u] + 1
        last = -1
        for e in range(row_offsets[u], row_offsets[u + 1]):
            v = column_indices[e]
            if v == last:
                continue
            last = v
            if distance[v] < 0:
                distance[v] = behind
                order[n_found] = v
                n_found += 1
            if distance[v] == behind:
                paths[v] += paths[u]
    return n_found
