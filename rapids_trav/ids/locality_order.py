"""Renumbering of vertices so that neighbours have nearby numbers.

In a graph of long diameter, such as a grid or a road network, numbering the vertices piece by piece makes the
edges of a page lead mostly to rows of the same page or a neighbouring one.  Pieces are grown by bounded
breadth-first searches, as partitioners grow their first parts (Karypis and Kumar, "A fast and high quality
multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput. 1998), each from a vertex that an
earlier search has seen.

Steps: start from the unnumbered vertex that was seen first, or else from the smallest unnumbered one; search
from it, numbering the vertices as they are taken, until their rows hold a page of edges; vertices left in the
queue are seen but not taken.  Repeat.  Vertices without edges come last (docs/systems.md, V5).

Every row is read once and leaves no more vertices in the queue than it has edges: O(V + E), on one thread.
The order depends only on the edges and the ids.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.frames.columns import Array
from rapids_trav.jit.kernels import aside, kernel

# Edges of a piece: 16 KiB of 32-bit columns.  On a grid and a road-like lattice of 1000 x 1000 vertices in
# random order, 0.92 and 0.94 of the edges then lead into their own page of that size, instead of 0.001 and
# 0.002.  With 16 times as many, it is 0.87 and 0.90, and `sssp` on the lattice takes 90 ms instead of 78.
PAGE_EDGES = 1 << 12
SEEN, TAKEN = 1, 2  # bits of a vertex state: it is a seed; it has a number or is in the queue


def grown(row_offsets: Array, column_indices: Array, page_edges: int = PAGE_EDGES) -> Array:
    """Return the vertices in the order of searches bounded by `page_edges`; rows have edges both ways."""
    n = len(row_offsets) - 1
    order = np.empty(n, column_indices.dtype)
    seeds, state = np.empty_like(order), np.zeros(n, np.uint8)
    work = n + len(column_indices)
    aside(work, _grow, row_offsets, column_indices, page_edges, order, seeds, state)
    return order


@kernel
def _grow(row_offsets, column_indices, page_edges, order, seeds, state, stop):
    """Fill `order`; the part behind the numbered vertices serves as the queue of the search."""
    n = len(order)
    numbered, n_seeds, oldest, root = 0, 0, 0, 0
    while stop[0] == 0:
        while oldest < n_seeds and state[seeds[oldest]] & TAKEN:
            oldest += 1
        if oldest < n_seeds:
            first = seeds[oldest]
        else:
            while root < n and (state[root] & TAKEN or row_offsets[root] == row_offsets[root + 1]):
                root += 1
            if root == n:
                break
            first = root
        order[numbered] = first
        state[first] |= TAKEN
        tail, edges = numbered + 1, 0
        while numbered < tail and edges < page_edges:
            u = order[numbered]
            numbered += 1
            edges += row_offsets[u + 1] - row_offsets[u]
            for e in range(row_offsets[u], row_offsets[u + 1]):
                v = column_indices[e]
                if not state[v] & TAKEN:
                    state[v] |= TAKEN
                    order[tail] = v
                    tail += 1
        for i in range(numbered, tail):
            v = order[i]
            if not state[v] & SEEN:
                seeds[n_seeds] = v
                n_seeds += 1
            state[v] = SEEN
    for v in range(n):
        if not state[v] & TAKEN:
            order[numbered] = v
            numbered += 1
