"""Results derived from a finished search: smallest predecessors, and paths from the root to a vertex."""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.jit.kernels import Threads, kernel
from rapids_trav.programs.definition import Scalar


def smallest_predecessors(into: Adjacency, distance: Array, order: Array | None = None) -> Array:
    """Return the smallest `u` with an edge u -> v and `distance[u] == distance[v] - 1`, else -1.

    Row `v` of `into` has, in ascending order, the vertices that lead to `v`.  Distances are int32, (n,) or
    (k, n).  Vertices are compared by `order`, or by their numbers if it is None.
    """
    predecessor = np.empty(distance.shape, into.column_indices.dtype)
    with Threads() as team:
        for row, out in zip(np.atleast_2d(distance), np.atleast_2d(predecessor), strict=True):
            rows = (into.row_offsets, into.column_indices, row, out)
            if order is None:
                team.run(_smallest, into.n_vertices, *rows, grain=4096)
            else:
                team.run(_first_in_order, into.n_vertices, *rows, order, grain=4096)
    return predecessor


@kernel
def _smallest(row_offsets, column_indices, distance, predecessor, begin, end):
    for v in range(begin, end):
        predecessor[v] = -1
        if distance[v] > 0:
            for e in range(row_offsets[v], row_offsets[v + 1]):
                u = column_indices[e]
                if distance[u] == distance[v] - 1:
                    predecessor[v] = u
                    break


@kernel
def _first_in_order(row_offsets, column_indices, distance, predecessor, order, begin, end):
    for v in range(begin, end):
        predecessor[v] = -1
        if distance[v] > 0:
            for e in range(row_offsets[v], row_offsets[v + 1]):
                u = column_indices[e]
                better = predecessor[v] < 0 or order[u] < order[predecessor[v]]
                if better and distance[u] == distance[v] - 1:
                    predecessor[v] = u


def tight_predecessors(into: Adjacency, weights: Array, distance: Array, unreached: Scalar) -> Array:
    """Return for each `v` the smallest nearer `u` with an edge u -> v that explains `distance[v]` by weight.

    It is -1 where unreached, and where no `u` has `distance[u] < distance[v]` and
    `distance[u] + weight == distance[v]`.
    """
    predecessor = np.empty(distance.shape, into.column_indices.dtype)
    with Threads() as team:
        team.run(
            _tight, into.n_vertices, into.row_offsets, into.column_indices, weights, distance, unreached,
            predecessor, grain=4096,
        )  # fmt: skip
    return predecessor


@kernel
def _tight(row_offsets, column_indices, weights, distance, unreached, predecessor, begin, end):
    for v in range(begin, end):
        predecessor[v] = -1
        own = distance[v]
        if own == unreached:
            continue
        for e in range(row_offsets[v], row_offsets[v + 1]):
            u = np.uintp(column_indices[e])
            if distance[u] + weights[e] == own and distance[u] < own:  # the rarer first
                predecessor[v] = u
                break


def walk(predecessor: Array, targets: Array) -> tuple[Array, Array]:
    """Return the numbers of vertices of the paths from the root to each target, and the paths, concatenated.

    A predecessor of -1 ends a path: that of an unreached vertex is therefore the vertex alone.  A negative
    target (one that the caller knows to be unreached) gives an empty path.
    """
    targets = np.require(targets, np.int64, ["C", "W"])
    lengths = np.empty(len(targets), np.int64)
    with Threads() as team:
        team.run(_measure, len(targets), predecessor, targets, lengths, grain=1024)
        ends = np.cumsum(lengths)
        vertices = np.empty(int(ends[-1]) if len(ends) else 0, predecessor.dtype)
        team.run(_write, len(targets), predecessor, targets, ends, vertices, grain=1024)
    return lengths, vertices


@kernel
def _measure(predecessor, targets, lengths, begin, end):
    for i in range(begin, end):
        length = 0
        v = targets[i]
        while v >= 0:
            length += 1
            v = np.int64(predecessor[v])
        lengths[i] = length


@kernel
def _write(predecessor, targets, ends, vertices, begin, end):
    for i in range(begin, end):
        v = targets[i]
        position = ends[i]
        while v >= 0:
            position -= 1
            vertices[position] = v
            v = np.int64(predecessor[v])
