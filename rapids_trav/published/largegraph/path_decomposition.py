"""Decomposition of edges into paths, on all threads.

Y. Zhang et al., "LargeGraph", ACM TACO 18(4), 2021 (docs/systems.md, L1): each thread takes a range of
vertices with about as many edges as the other ranges, and walks from each vertex, depth first, along edges
that are in no path yet.

1. Count, up to two, the edges that lead to each vertex of the whole graph.
2. From a vertex take its next edge, then the next edge of the vertex it leads to, and so on.  A path ends at
   a vertex to which several edges lead, at one outside the range, or where no edge is left.  The next path
   begins where the last ended, if edges are left there, else at the top of a stack of the vertices at which
   paths began.
3. Move the paths of the ranges together.

A vertex is thus inside at most one path, and a value that reaches a path's first vertex reaches the others in
one pass.  Most paths of most graphs are then a single edge, because two edges lead to each vertex of an
undirected path.  Relaxed paths go on through such vertices up to a given number of edges, and do not turn
straight back if there is another way.  A vertex may then be inside several paths, and the copies of its value
have to be reduced.

The edges of all paths are those of the adjacency, each once; which paths they form depends on the ranges.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, search_offsets
from rapids_trav.csr.array import moved_together
from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.cpu.runtime.intrinsics import Watch, load, search_all
from rapids_trav.jit.kernels import Threads, kernel
from rapids_trav.saved.check import ROWS, edge_hash, random_key, weight_bits

GRAIN = 1 << 12  # least edges for which another thread pays
ALONE, ON_NO_STACK = -1, -2


def decompose(adjacency: Adjacency, relaxed: int = 0, n_ranges: int | None = None) -> PathLayout:
    """Return the edges of an adjacency, in NumPy arrays by source, as paths.

    A path that goes on through vertices to which several edges lead has at most `relaxed` edges; 0: it ends
    there.  By default there is a range of vertices for each thread, if there are enough edges.
    """
    offsets, columns, weights = adjacency.row_offsets, adjacency.column_indices, adjacency.weights
    n, n_edges = adjacency.n_vertices, adjacency.n_edges
    length = np.dtype(np.int32 if 2 * n_edges < 2**31 else np.int64)
    bits = None if weights is None else weights.view(f"u{weights.dtype.itemsize}")
    path_weights = None if bits is None else np.empty_like(bits)
    vertices, lengths = np.empty(2 * n_edges, columns.dtype), np.empty(n_edges + 1, length)
    firsts = _cut(offsets, n_ranges or max(1, min(Threads().size, n_edges // GRAIN)))
    counts = np.zeros((len(firsts) - 1, 2), np.int64)
    led_to = passed = None
    if relaxed:
        passed = np.full(n, ALONE, np.int64)
    else:
        led_to = np.zeros(n, np.uint8)
        count_up_to_two(columns, led_to)
    state = led_to, relaxed, offsets[:-1].copy(), passed, np.full(n, ON_NO_STACK, columns.dtype)
    written = vertices, lengths, path_weights, counts
    watch = Watch(len(counts), "ranges")

    def walk(begin: int, end: int) -> None:
        _walk(firsts, offsets, columns, bits, *state, *written, watch.stop, begin, end)
        watch.done(end - begin)

    search_all(walk, len(counts), watch, n + n_edges, n_parts=len(counts))
    begins = offsets[firsts[:-1]].astype(np.int64)
    n_entries = moved_together(vertices, 2 * begins, counts[:, 0], 0)
    n_paths = moved_together(lengths, begins, counts[:, 1], 1)
    vertices.resize(n_entries, refcheck=False)  # the rest has never been written
    lengths.resize(n_paths + 1, refcheck=False)
    lengths[0] = 0
    np.cumsum(lengths, dtype=length, out=lengths)
    path_weights = None if weights is None else path_weights.view(weights.dtype)
    return PathLayout(vertices, lengths, path_weights, n, relaxed)


def _cut(offsets: np.ndarray, n_ranges: int) -> np.ndarray:
    """Return the first vertices of ranges with about as many edges each, and the number of vertices."""
    n = len(offsets) - 1
    inner = search_offsets(offsets, int(offsets[-1]) * np.arange(1, n_ranges) // n_ranges)
    return np.concatenate([[0], np.minimum(inner, n), [n]]).astype(np.int64)


@kernel
def count_up_to_two(columns, led_to):
    """Count for each vertex the edges that lead to it, up to two."""
    for e in range(len(columns)):
        v = columns[e]
        if led_to[v] < 2:
            led_to[v] += 1


@kernel
def _has_left(v, offsets, free, passed):
    """Return whether a vertex has edges that are in no path."""
    if passed is not None and passed[v] != ALONE:
        return True
    return free[v] < offsets[v + 1]


@kernel
def _walk(
    firsts, offsets, columns, weights, led_to, most, free, passed, below,
    vertices, lengths, path_weights, counts, stop, begin, end
):  # fmt: skip
    """Decompose the ranges `begin` to `end` - 1.

    For each vertex, `free` is its next edge, and `below` the vertex below it on the stack.  For relaxed
    paths, `passed` is the edge before `free` that was passed over because it led straight back.
    """
    for part in range(begin, end):
        first, last = firsts[part], firsts[part + 1]
        at, edge, path = 2 * offsets[first], offsets[first], offsets[first]
        for root in range(first, last):
            top = np.int64(ALONE)
            u, left = root, _has_left(root, offsets, free, passed)
            while (left or top != ALONE) and load(stop, 0) == 0:
                if not left:  # no edge is left where the last path ended
                    u = top
                    left = _has_left(u, offsets, free, passed)
                    if not left:
                        top = np.int64(below[u])
                        continue
                if below[u] == ON_NO_STACK:
                    below[u] = top
                    top = u
                start, before = at, np.int64(-1)
                vertices[at] = u
                at += 1
                while True:
                    e = free[u]
                    if passed is None:
                        free[u] = e + 1
                    else:
                        kept = passed[u]
                        if kept == ALONE and columns[e] == before and e + 1 < offsets[u + 1]:
                            passed[u] = e
                            e += 1
                            free[u] = e + 1
                        elif kept == ALONE or (columns[kept] == before and e < offsets[u + 1]):
                            free[u] = e + 1
                        else:
                            e = kept
                            passed[u] = ALONE
                    before = u
                    u = np.int64(columns[e])
                    vertices[at] = u
                    at += 1
                    if weights is not None:
                        path_weights[edge] = weights[e]
                    edge += 1
                    if u < first or u >= last:
                        left = False
                        break
                    left = _has_left(u, offsets, free, passed)
                    if not left:
                        break
                    if led_to is None:
                        if at - start > most:
                            break
                    elif led_to[u] > 1:
                        break
                path += 1
                lengths[path] = at - start
        counts[part, 0] = at - 2 * offsets[first]
        counts[part, 1] = path - offsets[first]


def path_fault(layout: PathLayout, edges: Adjacency) -> str | None:
    """Return what is wrong with a path layout of these edges, as a predicate; None if nothing is.

    Their edges are compared with the rows by two sums of hashes with a random key, over u -> v as it is
    directed; see `saved.check`.
    """
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
