"""Distances of single pairs, searched from both ends.

I. Pohl, "Bi-directional search", Machine Intelligence 6, 1971.

A ball of whole levels grows around each of the two vertices.  Each step advances the frontier with fewer
edges by one level.  As long as the balls do not meet, the distance exceeds the sum of their depths.  The
first vertex that a step finds in the other ball therefore settles it: the distance is the sum of the depths
after the step.  Threads take whole pairs and mark vertices with the number of the pair, so that the marks
need not be cleared between pairs.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.runtime.intrinsics import Watch, search_all
from rapids_trav.engines.searches import PairDistances, View
from rapids_trav.jit.kernels import kernel

PAIR = 1 << 12  # edges that a search from both ends reads, about


def pair_distances(view: View, starts: Array, ends: Array) -> PairDistances:
    """Return the distance from each of `starts` to the vertex at the same position in `ends`."""
    n, out, into = view.n_vertices, view.out, view.into
    distance, edges = np.empty(len(starts), np.int32), np.empty(len(starts), np.int64)

    watch = Watch(len(starts), "pairs")

    def search_some(begin: int, end: int) -> None:
        marks = np.full((2, n), -1, np.int64)
        queues = np.empty((2, n), out.column_indices.dtype)
        for pair in range(begin, end):
            distance[pair], edges[pair] = _one_pair(
                out.row_offsets, out.column_indices, into.row_offsets, into.column_indices,
                starts[pair], ends[pair], pair, marks, queues,
            )  # fmt: skip
            watch.done(1)
            if watch.stopped:
                break

    search_all(search_some, len(starts), watch, len(starts) * PAIR)
    return PairDistances(distance, int(edges.sum()))


@kernel
def _one_pair(out_offsets, out_columns, in_offsets, in_columns, start, end, pair, marks, queues):
    if start == end:
        return 0, 0
    marks[0, start] = marks[1, end] = pair
    queues[0, 0], queues[1, 0] = start, end
    first, last = np.zeros(2, np.int64), np.ones(2, np.int64)  # positions of the frontier in each queue
    edges = np.array(
        [out_offsets[start + 1] - out_offsets[start], in_offsets[end + 1] - in_offsets[end]], np.int64
    )
    depth = 0
    examined = 0
    while first[0] < last[0] and first[1] < last[1]:
        side = 0 if edges[0] <= edges[1] else 1
        offsets = out_offsets if side == 0 else in_offsets
        columns = out_columns if side == 0 else in_columns
        queue, own, other = queues[side], marks[side], marks[1 - side]
        depth += 1
        n_queue = last[side]
        edges[side] = 0
        for i in range(first[side], last[side]):
            u = queue[i]
            examined += offsets[u + 1] - offsets[u]
            for e in range(offsets[u], offsets[u + 1]):
                v = columns[e]
                if own[v] != pair:
                    if other[v] == pair:
                        return depth, examined
                    own[v] = pair
                    queue[n_queue] = v
                    n_queue += 1
                    edges[side] += offsets[v + 1] - offsets[v]
        first[side], last[side] = last[side], n_queue
    return -1, examined
