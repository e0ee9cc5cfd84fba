"""Sums over the distances of many searches, without the distances themselves.

M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014, whose
application is closeness.

As in `multi_source`, up to 64 searches share a word for each vertex.  When a level ends, the bits that it set
are counted; neither distances nor predecessors are stored:

- of "vertices": the bits in the word of a vertex are the sources that reach it on this level (one population
  count for each vertex).
- of "sources": bit i of all words together gives the vertices that source i reaches on this level.  Words are
  added bit by bit, in bit-sliced counters: bit i of `PLANES` words is the counter of source i.

Each thread runs groups of 64 sources one after another, and adds into arrays of its own.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.bfs.multi_source import GROUP, PULL_ABOVE, push
from rapids_trav.engines.cpu.runtime.intrinsics import Watch, load, population_count, search_all
from rapids_trav.engines.searches import DistanceSums, SumsOf, View
from rapids_trav.jit.kernels import kernel

PLANES = 6  # bits of a bit-sliced counter, which counts up to 63 words


def distance_sums(view: View, sources: Array, of: SumsOf, together: int) -> DistanceSums:
    """Search from each of the distinct `sources`, and sum the distances at each vertex or for each source."""
    out, into = view.out, view.into
    sources = np.ascontiguousarray(sources, np.int64)

    watch = Watch(len(sources), "sources")

    def search_groups(begin: int, end: int) -> DistanceSums:
        ours = sources[begin * GROUP : end * GROUP]
        sums = DistanceSums.none(view.n_vertices if of == "vertices" else len(ours), np)
        seen, frontiers = np.empty(view.n_vertices, np.int64), np.zeros((2, view.n_vertices), np.int64)
        queues = np.empty((2, view.n_vertices), out.column_indices.dtype)  # the vertices of each frontier
        for first in range(0, len(ours), GROUP):
            group = ours[first : first + GROUP]
            _search_group(
                out.row_offsets, out.column_indices, into.row_offsets, into.column_indices, into.n_linked,
                group, seen, frontiers, queues, *sums.arrays, of == "vertices", first, watch.stop,
            )  # fmt: skip
            if watch.stopped:
                break
            watch.done(len(group))
        return sums

    n_groups = -(-len(sources) // GROUP)
    work = n_groups * (out.n_edges + view.n_vertices)
    parts = search_all(search_groups, n_groups, watch, work, at_once=-(-together // GROUP))
    return parts[0].joined(parts[1:], np) if of == "sources" else parts[0].added(parts[1:], np)


@kernel
def _search_group(
    out_offsets, out_columns, in_offsets, in_columns, n_linked, sources, seen, frontiers, queues,
    reached, total, inverse, largest, of_vertices, first, stop,
):  # fmt: skip
    """Search from up to 64 sources; the frontiers are zero before and, unless stopped, after the call."""
    seen[:] = 0
    n_frontier = len(sources)
    everyone = np.int64(-1) if n_frontier == 64 else (np.int64(1) << n_frontier) - 1
    edges = 0
    for i in range(n_frontier):
        v = sources[i]
        seen[v] = frontiers[0, v] = np.int64(1) << i
        queues[0, i] = v
        edges += out_offsets[v + 1] - out_offsets[v]
    edges_left = in_offsets[len(seen)]
    level = 0
    while n_frontier > 0:
        frontier, queue = frontiers[level & 1], queues[level & 1]
        found, found_queue = frontiers[~level & 1], queues[~level & 1]
        level += 1
        if PULL_ABOVE * edges > edges_left:
            n_found, edges, edges_left = _pull(
                in_offsets, in_columns, n_linked, out_offsets, everyone, seen, frontier, found, found_queue,
                stop,
            )  # fmt: skip
            for i in range(n_frontier):
                frontier[queue[i]] = 0
        else:
            n_found, edges, completed, _, _ = push(
                out_offsets, out_columns, in_offsets, seen, frontier, queue, n_frontier, found, found_queue,
                None, None, False, level, everyone, stop,
            )  # fmt: skip
            edges_left -= completed
        if load(stop, 0) != 0:
            return
        if of_vertices:
            _add_at_vertices(found, found_queue, n_found, level, reached, total, inverse, largest)
        else:
            _add_for_sources(found, found_queue, n_found, level, first, reached, total, inverse, largest)
        n_frontier = n_found


@kernel
def _pull(
    row_offsets, column_indices, n_linked, out_offsets, everyone, seen, frontier, found, found_queue, stop
):
    n_found = 0
    edges = 0
    edges_left = 0
    for v in range(n_linked):
        missing = everyone & ~seen[v]
        if missing == 0:
            continue
        if load(stop, 0) != 0:
            break
        new = np.int64(0)
        for e in range(row_offsets[v], row_offsets[v + 1]):
            new |= frontier[column_indices[e]]
            if missing & ~new == 0:
                break
        new &= missing
        if new != missing:
            edges_left += row_offsets[v + 1] - row_offsets[v]
        if new != 0:
            seen[v] |= new
            found[v] = new
            found_queue[n_found] = v
            n_found += 1
            edges += out_offsets[v + 1] - out_offsets[v]
    return n_found, edges, edges_left


@kernel
def _add_at_vertices(found, queue, n_found, level, reached, total, inverse, largest):
    for i in range(n_found):
        v = queue[i]
        count = population_count(found[v])
        reached[v] += count
        total[v] += count * level
        inverse[v] += count / level
        largest[v] = max(largest[v], level)


@kernel
def _add_for_sources(found, queue, n_found, level, first, reached, total, inverse, largest):
    """Count each bit over the words of the vertices found on this level."""
    planes = np.zeros(PLANES, np.int64)
    counts = np.zeros(64, np.int64)
    most = (1 << PLANES) - 1
    for begin in range(0, n_found, most):
        for i in range(begin, min(begin + most, n_found)):
            carry = found[queue[i]]
            for k in range(PLANES):
                planes[k], carry = planes[k] ^ carry, planes[k] & carry
                if carry == 0:
                    break
        for k in range(PLANES):
            for bit in range(64):
                counts[bit] += ((planes[k] >> bit) & 1) << k
            planes[k] = 0
    for bit in range(min(64, len(reached) - first)):
        if counts[bit] > 0:
            reached[first + bit] += counts[bit]
            total[first + bit] += counts[bit] * level
            inverse[first + bit] += counts[bit] / level
            largest[first + bit] = level
