"""Levels of the direction-optimising search: pushed ones and pulled ones.

Pushed levels, narrow on one thread and wide on several: the queue holds every pushed vertex once, in order of
distance; a frontier is a slice of it.

Pulled levels: sets of vertices are bitmaps, 64 vertices a word.  A thread owns whole words and the distances
of their vertices, and only reads the frontier, so nothing here needs an atomic operation.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.intrinsics import (
    compare_and_swap,
    fetch_and_add,
    prefetch,
    trailing_zeros,
)
from rapids_trav.jit.kernels import kernel

WIDE = 1 << 15  # frontier edges above which several threads beat one: about 0.1 ms of work
WIDE_VERTICES = WIDE // 8  # a second criterion: after a pull, a policy may count just 1 edge
BUFFER = 1024  # claimed vertices that a thread collects before it appends them to the queue
AHEAD = 16  # edges between prefetching a distance and reading it
DONE, PULL_NEXT, WIDE_NEXT, CHAINED = range(4)
# Frontiers up to this size are chains: one cache miss waits for another.  Chosen, not tuned.
CHAIN = 4
ONE, SIX, SIXTY_THREE = np.uintp(1), np.uintp(6), np.uintp(63)


@kernel
def push_levels(
    row_offsets, column_indices, distance, predecessor, keep, visited, queue, head, tail, edges, edges_left,
    level, limit, targets, has_targets, beamer, alpha, least, must_push, may_share, chained, marks,
):  # fmt: skip
    """Push on one thread until the search ends (DONE) or the next level should be pulled or shared.

    Also return when more levels were chains than `n_vertices / 64` (CHAINED; `chained` counts them): then
    `marks`, which `every_64th` makes, are worth the time that they take.

    `edges` leave the frontier; `edges_left` counts them and the edges of vertices not yet reached.  `visited`
    has a bit for each vertex: it stays in the cache next to the core, whereas distances do not.
    """
    found_targets = 0
    status = DONE
    examined = 0
    n_vertices = len(distance)
    while head < tail and level < limit:
        if not must_push and edges >= least and _should_pull(beamer, alpha, edges, edges_left):
            status = PULL_NEXT
            break
        if may_share and (edges > WIDE or tail - head > WIDE_VERTICES):
            status = WIDE_NEXT
            break
        chain = tail - head <= CHAIN
        if chain and len(marks) == 0 and chained > n_vertices >> 6:
            status = CHAINED
            break
        chained += chain
        must_push = False
        edges_left -= edges
        level += 1
        end = tail
        guess = chain and len(marks) > 0
        for i in range(head, end):
            u = np.uintp(queue[np.uintp(i)])
            e = np.uintp(row_offsets[u])
            stop = np.uintp(row_offsets[u + ONE])
            examined += np.int64(stop - e)
            while e < stop:
                v = np.uintp(column_indices[e])
                e += ONE
                word = visited[v >> SIX]
                bit = np.uint64(1) << (v & SIXTY_THREE)
                if word & bit == 0:
                    if guess:
                        prefetch(column_indices, likely_row(marks, v))
                    visited[v >> SIX] = word | bit
                    distance[v] = level
                    if keep:
                        predecessor[v] = u
                    queue[np.uintp(tail)] = v
                    tail += 1
        head = end
        edges = _edges_of(row_offsets, queue, head, tail)
        if has_targets:
            while found_targets < len(targets) and distance[targets[found_targets]] >= 0:
                found_targets += 1
            if found_targets == len(targets):
                break
    return status, examined, level, head, tail, edges, edges_left, chained


@kernel
def _edges_of(row_offsets, queue, begin, end):
    """Count the edges of `queue[begin:end]`, apart from the claims, whose branches would delay the loads."""
    edges = 0
    for i in range(begin, end):
        v = np.uintp(queue[np.uintp(i)])
        edges += row_offsets[v + ONE] - row_offsets[v]
    return edges


def every_64th(row_offsets):
    """Return the offsets of rows 0, 64, 128 and so on, and the last offset, int64."""
    n_vertices = len(row_offsets) - 1
    rows = np.minimum(np.arange((n_vertices >> 6) + 2) << 6, n_vertices)
    return row_offsets[rows].astype(np.int64)


@kernel
def likely_row(marks, v):
    """Estimate where the row of `v` begins, as if the rows around it were equally long.

    In a chain of vertices, each step waits for an offset and then for the row.  If the estimate is near, both
    are fetched from memory at once.
    """
    before = marks[v >> SIX]
    return before + (((marks[(v >> SIX) + ONE] - before) * np.int64(v & SIXTY_THREE)) >> 6)


@kernel
def _should_pull(beamer, alpha, edges, edges_left):
    if beamer:
        return alpha * edges > edges_left - edges
    return alpha * edges > max(edges_left, 0)  # for integers equivalent to edges > edges_left // alpha


@kernel
def push(
    row_offsets, column_indices, distance, predecessor, keep, level, frontier, queue, tail, begin, end
):  # fmt: skip
    """Push `frontier[begin:end]`; return the edges examined and the edges of the vertices found."""
    children = np.empty(BUFFER, queue.dtype)
    parents = np.empty(BUFFER, queue.dtype)
    n_found = 0
    examined = 0
    edges = 0
    for i in range(begin, end):
        u = frontier[i]
        examined += row_offsets[u + 1] - row_offsets[u]
        for e in range(row_offsets[u], row_offsets[u + 1]):
            prefetch(distance, column_indices[min(e + AHEAD, len(column_indices) - 1)])
            v = column_indices[e]
            # a stale distance costs a failed swap, never a second claim
            if distance[v] < 0 and compare_and_swap(distance, v, -1, level) < 0:
                children[n_found] = v
                parents[n_found] = u
                n_found += 1
                if n_found == BUFFER:
                    edges += _hand_in(row_offsets, predecessor, keep, queue, tail, children, parents, n_found)
                    n_found = 0
    edges += _hand_in(row_offsets, predecessor, keep, queue, tail, children, parents, n_found)
    return examined, edges


@kernel
def _hand_in(row_offsets, predecessor, keep, queue, tail, children, parents, n_found):
    """Append claimed vertices to the queue, apart from the swaps, which wait for every store before them."""
    place = fetch_and_add(tail, 0, n_found)
    edges = 0
    for i in range(n_found):
        v = children[i]
        queue[place + i] = v
        if keep:
            predecessor[v] = parents[i]
        edges += row_offsets[v + 1] - row_offsets[v]
    return edges


BATCH = 192  # vertices whose rows are prefetched before the first is read
ROUNDS = 4  # neighbours of a vertex that are checked without branches


@kernel
def mark(bitmap, queue, begin, end):
    """Set the bits of `queue[begin:end]`."""
    for i in range(begin, end):
        v = np.uintp(queue[i])
        bitmap[v >> np.uintp(6)] |= np.uint64(1) << (v & np.uintp(63))


@kernel
def pull(
    row_offsets, column_indices, distance, predecessor, keep, level, frontier, found, unvisited, begin, end
):  # fmt: skip
    """Collect unvisited vertices and prefetch their rows; read those rows one batch later.

    Every unvisited vertex has a non-empty row, as `SearchState.unvisited` guarantees.
    """
    n_found = 0
    checked = 0
    looked = 0
    vertices = np.empty(BATCH, np.int64)
    starts = np.empty(BATCH, np.int64)
    stops = np.empty(BATCH, np.int64)
    n_batch = 0
    for word in range(begin, end):
        found[word] = 0
        left = unvisited[word]
        while left != 0:
            v = (word << 6) + trailing_zeros(left)
            left &= left - 1
            vertices[n_batch] = v
            starts[n_batch] = row_offsets[v]
            stops[n_batch] = row_offsets[v + 1]
            prefetch(column_indices, row_offsets[v])
            n_batch += 1
            looked += 1
        if n_batch > BATCH - 64 or word == end - 1:
            counts = _look_up(
                column_indices, distance, predecessor, keep, level, frontier, found,
                vertices, starts, stops, n_batch,
            )  # fmt: skip
            n_found += counts[0]
            checked += counts[1]
            n_batch = 0
    for word in range(begin, end):
        unvisited[word] &= ~found[word]
    return n_found, checked, looked


@kernel
def _look_up(
    column_indices, distance, predecessor, keep, level, frontier, found, vertices, starts, stops, n_batch
):  # fmt: skip
    """Look for a neighbour in the frontier for each vertex of a batch.

    Most vertices find one within a few neighbours, but the branch predictor cannot foresee at which.  The
    first neighbours are therefore checked without branches, one of each vertex in a round.
    """
    n_found = 0
    checked = 0
    for _ in range(ROUNDS):
        checked += n_batch
        n_left = 0
        for i in range(n_batch):
            v = vertices[i]
            e = starts[i]
            u = column_indices[e]
            hit = (frontier[u >> 6] >> (u & 63)) & 1
            n_found += hit
            found[v >> 6] |= hit << (v & 63)
            distance[v] = level if hit else -1
            if keep:
                predecessor[v] = u if hit else -1
            vertices[n_left] = v
            starts[n_left] = e + 1
            stops[n_left] = stops[i]
            n_left += (1 - hit) & np.int64(e + 1 < stops[i])
        n_batch = n_left
    for i in range(n_batch):
        v = vertices[i]
        for e in range(starts[i], stops[i]):
            u = column_indices[e]
            checked += 1
            if (frontier[u >> 6] >> (u & 63)) & 1:
                n_found += 1
                found[v >> 6] |= 1 << (v & 63)
                distance[v] = level
                if keep:
                    predecessor[v] = u
                break
    return n_found, checked


@kernel
def count_edges(row_offsets, frontier, begin, end):
    edges = 0
    for word in range(begin, end):
        left = frontier[word]
        while left != 0:
            v = (word << 6) + trailing_zeros(left)
            edges += row_offsets[v + 1] - row_offsets[v]
            left &= left - 1
    return edges


@kernel
def enqueue(frontier, queue, tail):
    for word in range(len(frontier)):
        left = frontier[word]
        while left != 0:
            queue[tail] = (word << 6) + trailing_zeros(left)
            tail += 1
            left &= left - 1
