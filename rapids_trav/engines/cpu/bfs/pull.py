"""Pulled levels of the direction-optimising search.

Sets of vertices are bitmaps, 64 vertices a word.  A thread owns whole words and the distances of their
vertices, and only reads the frontier, so nothing here needs an atomic operation.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.intrinsics import prefetch, trailing_zeros
from rapids_trav.jit.kernels import kernel

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
