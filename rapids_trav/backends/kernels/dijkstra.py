"""Shortest paths by weight, in the order in which NetworkX settles the vertices.

E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1, 1959.

The queue is a binary heap of (distance, number of the push, vertex): of equal distances the one pushed first
is settled first, as in NetworkX, and a vertex keeps the predecessor that first gave it its distance.  The
order in which items leave such a heap does not depend on how the heap is implemented.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.intrinsics import load
from rapids_trav.jit.kernels import kernel


@kernel
def dijkstra(offsets, columns, weights, sources, target, cutoff, has_cutoff, stop):
    """Return the vertices in the order of settling, the distance of each and the predecessor of every vertex.

    The search ends when `target` (if not -1) is settled.  No vertices are returned if an edge gives a settled
    vertex a shorter distance, since a weight is then negative.
    """
    n = len(offsets) - 1
    settled = np.zeros(n, np.uint8)
    seen = np.zeros(n, np.uint8)
    best = np.zeros(n, weights.dtype)
    pred = np.full(n, -1, columns.dtype)
    order = np.empty(n, columns.dtype)
    distance = np.empty(n, weights.dtype)
    room = max(1024, len(sources))
    keys = np.empty(room, weights.dtype)
    counts = np.empty(room, np.int64)
    nodes = np.empty(room, columns.dtype)
    size, pushed, found = 0, 0, 0
    for i in range(len(sources)):
        seen[sources[i]] = 1
        keys[i], counts[i], nodes[i] = 0, pushed, sources[i]  # equal keys in order of counts form a heap
        size += 1
        pushed += 1
    while size > 0 and load(stop, 0) == 0:
        d, v = keys[0], nodes[0]
        size -= 1
        _sift_down(keys, counts, nodes, size)
        if settled[v]:
            continue
        settled[v] = 1
        order[found], distance[found] = v, d
        found += 1
        if v == target:
            break
        for e in range(offsets[v], offsets[v + 1]):
            u = columns[e]
            along = d + weights[e]
            if has_cutoff and along > cutoff:
                continue
            if settled[u]:
                if along < best[u]:
                    return order[:0], distance[:0], pred
            elif not seen[u] or along < best[u]:
                seen[u] = 1
                best[u] = along
                pred[u] = v
                if size == len(keys):
                    keys, counts, nodes = _longer(keys), _longer(counts), _longer(nodes)
                _sift_up(keys, counts, nodes, size, along, pushed, u)
                size += 1
                pushed += 1
    return order[:found], distance[:found], pred


@kernel
def _longer(values):
    longer = np.empty(2 * len(values), values.dtype)
    longer[: len(values)] = values
    return longer


@kernel
def _sift_up(keys, counts, nodes, at, key, count, node):
    """Insert an item; its count is larger than any other, so it comes last among equal keys."""
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], counts[at], nodes[at] = keys[above], counts[above], nodes[above]
        at = above
    keys[at], counts[at], nodes[at] = key, count, node


@kernel
def _sift_down(keys, counts, nodes, size):
    """Move the last item, at `size`, to the place of the first, and sift it down."""
    key, count, node = keys[size], counts[size], nodes[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            keys[other] < keys[below] or (keys[other] == keys[below] and counts[other] < counts[below])
        ):
            below = other
        if key < keys[below] or (key == keys[below] and count < counts[below]):
            break
        keys[at], counts[at], nodes[at] = keys[below], counts[below], nodes[below]
        at = below
    keys[at], counts[at], nodes[at] = key, count, node
