"""Shares of vertices and edges in shortest paths, the sums behind betweenness.

U. Brandes, "A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25(2), 2001.

Searches run from 32 sources at a time (`path_shares_batch`) or, if memory is short, from one after another;
see `kernels/path_shares.cu`.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.path_shares_batch import WARP, Batch
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import ShareArguments
from rapids_trav.engines.searches import PathShares, View
from rapids_trav.utilities.progress import report


def shortest_path_shares(view: View, sources: Array, edges: bool, together: int) -> PathShares:
    """Sum the shares of vertices, and of edges if asked, in the shortest paths from `sources`."""
    of_edges = cupy.zeros(view.out.n_edges) if edges else None
    shares = PathShares(cupy.zeros(view.n_vertices), of_edges, cupy.zeros(view.n_vertices, np.int64))
    sources = cupy.ascontiguousarray(sources, view.out.column_indices.dtype)
    batch = _batch(view, shares) if together >= WARP else None
    if batch is None:
        _one_by_one(view, sources, shares)
        return shares
    for begin in range(0, len(sources), WARP):
        batch.add(sources[begin : begin + WARP])
        report(min(begin + WARP, len(sources)), len(sources), "sources")
    return shares


def _batch(view: View, shares: PathShares) -> Batch | None:
    """Return the memory of a batch, or None if a pool holds more than was known when it was chosen."""
    try:
        return Batch(view, shares)
    except MemoryError:
        return None


def _one_by_one(view: View, sources: Array, shares: PathShares) -> None:
    out, n = view.out, view.n_vertices
    kernels = loader.load_for("path_shares.cu", out)
    order = cupy.empty(n, out.column_indices.dtype)
    weight, paths = cupy.empty(n), cupy.empty(n)
    distance, n_found = cupy.empty(n, np.int32), cupy.empty(1, np.uint64)
    for done, source in enumerate(cupy.asnumpy(sources).tolist()):
        report(done, len(sources), "sources")
        distance.fill(-1)
        paths.fill(0)
        n_found.fill(1)
        order[0], distance[source], paths[source] = source, 0, 1
        firsts = [0, 1]  # first position of each level in `order`
        while firsts[-1] > firsts[-2]:
            first, size = firsts[-2], firsts[-1] - firsts[-2]
            kernels.launch(
                "count_paths", 32 * size, out.row_offsets, out.column_indices, first, size,
                np.int32(len(firsts) - 1), order, distance, paths, n_found,
            )  # fmt: skip
            firsts.append(int(n_found[0]))
        for level in range(len(firsts) - 3, -1, -1):
            first, size = firsts[level], firsts[level + 1] - firsts[level]
            arguments = ShareArguments(
                row_offsets=out.row_offsets,
                column_indices=out.column_indices,
                first=first,
                n_level=size,
                level=level,
                order=order,
                distance=distance,
                paths=paths,
                weight=weight,
                of_vertices=shares.vertices,
                of_edges=shares.edges,
                reached=shares.reached,
            )
            kernels.launch("add_shares", 32 * size, arguments)
        shares.reached[source] += firsts[-1] - 1
