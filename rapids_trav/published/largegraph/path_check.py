"""Checks of every edge of a saved path layout, against the rows that it was made from.

The edges of both are compared by two sums of hashes with a random key, as `saved.check` describes, over u ->
v as it is directed.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.paths import PathLayout
from rapids_trav.jit.kernels import Threads, kernel
from rapids_trav.published.largegraph.path_decomposition import count_up_to_two
from rapids_trav.saved.check import ROWS, edge_hash, random_key, weight_bits


def path_fault(layout: PathLayout, edges: Adjacency) -> str | None:
    """Return what is wrong with a path layout of these edges, as a predicate; None if nothing is."""
    led_to, key = np.zeros(edges.n_vertices, np.uint8), random_key()
    if not layout.relaxed:
        count_up_to_two(edges.column_indices, led_to)
    rows = (edges.row_offsets, edges.column_indices, weight_bits(edges.weights), key)
    paths = (layout.starts, layout.vertices, weight_bits(layout.weights), key, led_to, layout.relaxed)
    with Threads() as team:
        of_rows = team.run(_sum_of_rows, edges.n_vertices, *rows, grain=ROWS)
        of_paths = team.run(_sum_of_paths, layout.n_paths, *paths, grain=ROWS)
    if (sum(map(int, of_rows)) - sum(int(part) for part, _ in of_paths)) % 2**64:
        return "holds paths of other edges than those of the graph"
    if not any(wrong for _, wrong in of_paths):
        return None
    if layout.relaxed:
        return f"holds a path of more than {layout.relaxed:,} edges"
    return "holds a strict path that goes on at a vertex to which several edges lead"


@kernel
def _sum_of_rows(row_offsets, column_indices, weights, key, begin, end):
    """Return the sum of the hashes of the edges of the rows `begin` to `end` - 1."""
    total = np.uint64(0)
    for u in range(begin, end):
        for e in range(row_offsets[u], row_offsets[u + 1]):
            total += edge_hash(u, column_indices[e], weights, e, key)
    return total


@kernel
def _sum_of_paths(starts, vertices, weights, key, led_to, relaxed, begin, end):
    """Return the sum of the hashes of the edges of some paths, and whether one goes on where it should end.

    `led_to` has up to two of the edges that lead to each vertex, or 0 for relaxed paths.
    """
    total, wrong = np.uint64(0), False
    for p in range(begin, end):
        first, last = starts[p], starts[p + 1] - 1
        for i in range(first, last):
            total += edge_hash(vertices[i], vertices[i + 1], weights, i - p, key)
            if i > first and led_to[vertices[i]] > 1:
                wrong = True
        if relaxed > 0 and last - first > relaxed:
            wrong = True
    return total, wrong
