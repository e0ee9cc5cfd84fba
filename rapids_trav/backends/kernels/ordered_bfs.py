"""Breadth-first search in the order in which a textbook search with a queue visits the vertices.

E. F. Moore, "The shortest path through a maze", 1959; D. Eppstein's PADS, from which NetworkX's `bfs_edges`
is taken.

The order of discovery follows from the order of the queue and of each row, so one thread searches.  A level
is a slice of the queue, and the children of a vertex are adjacent in it, in the order of its row.

A level that would examine most of the edges is pulled instead, as in Beamer, Asanovic and Patterson,
"Direction-Optimizing Breadth-First Search", SC 2012, and put in order afterwards:

1. Each unvisited vertex searches its whole row of incoming edges for the vertex of the frontier that is
   earliest in the queue.  That vertex is its parent in the queue's order, too.
2. The vertices of the frontier that became a parent go through their rows once more, in the order of the
   queue, and append their children; one with a single child appends it without reading its row.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.intrinsics import load
from rapids_trav.jit.kernels import kernel

# A level is pulled when its frontier has more edges than 1 / PULL_ABOVE of what pulling examines: all
# vertices, and the incoming edges of those not yet visited.
PULL_ABOVE = 3


@kernel
def ordered_bfs(
    offsets, columns, in_offsets, in_columns, sources, limit, place, queue, parent, ends, may_pull, stop
):  # fmt: skip
    """Search up to `limit` levels; return the number of vertices found, of levels, and of pulled levels.

    The `sources` are distinct.  `queue` gets the vertices in order, `parent` for each of them the place of
    its parent in the queue, and `ends` the end of each level.  `place` is filled with -1 at entry and gets
    the place of each vertex in the queue.
    """
    n = len(offsets) - 1
    tail = 0
    pulled = 0
    edges_left = np.int64(len(in_columns))
    for i in range(len(sources)):
        v = sources[i]
        queue[tail] = v
        parent[tail] = -1
        place[v] = tail
        tail += 1
        edges_left -= in_offsets[v + 1] - in_offsets[v]
    head = 0
    level = 0
    ends[0] = tail
    while head < tail and level < limit and tail < n and load(stop, 0) == 0:
        end = tail
        if may_pull:
            edges = 0
            for i in range(head, end):
                u = queue[i]
                edges += offsets[u + 1] - offsets[u]
            pulls = PULL_ABOVE * edges > edges_left + n
        else:
            pulls = False
        if pulls:
            pulled += 1
            tail = _pull(offsets, columns, in_offsets, in_columns, place, queue, parent, head, end)
        else:
            for i in range(head, end):
                u = queue[i]
                for e in range(offsets[u], offsets[u + 1]):
                    v = columns[e]
                    if place[v] < 0:
                        place[v] = tail
                        queue[tail] = v
                        parent[tail] = i
                        tail += 1
                if tail == n:
                    break
        if tail == end:
            break
        if may_pull:
            for i in range(end, tail):
                v = queue[i]
                edges_left -= in_offsets[v + 1] - in_offsets[v]
        head = end
        level += 1
        ends[level] = tail
    return tail, level + 1, pulled


@kernel
def _pull(offsets, columns, in_offsets, in_columns, place, queue, parent, head, end):
    """Find the next level bottom-up and append it in order; return the new end of the queue.

    Until a found vertex has its place, `place` has -2 minus the place of its parent.
    """
    n = len(in_offsets) - 1
    children = np.zeros(end - head, np.int32)
    only = np.empty(end - head, queue.dtype)
    for v in range(n):
        if place[v] >= 0:
            continue
        earliest = end
        for e in range(in_offsets[v], in_offsets[v + 1]):
            at = place[in_columns[e]]
            if head <= at < earliest:
                earliest = at
                if at == head:
                    break
        if earliest < end:
            place[v] = -2 - earliest
            children[earliest - head] += 1
            only[earliest - head] = v
    tail = end
    for i in range(head, end):
        left = children[i - head]
        if left == 1:
            v = only[i - head]
            place[v] = tail
            queue[tail] = v
            parent[tail] = i
            tail += 1
        elif left > 1:
            u = queue[i]
            for e in range(offsets[u], offsets[u + 1]):
                v = columns[e]
                if place[v] == -2 - i:
                    place[v] = tail
                    queue[tail] = v
                    parent[tail] = i
                    tail += 1
                    left -= 1
                    if left == 0:
                        break
    return tail
