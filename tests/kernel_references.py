"""The results of the kernels that have no plain kernel beside them, by expressions of NumPy.

The functions are named in the headings of `kernels/*.cu`.  Tests compare the CPU engine with them, and on a
GPU the kernels themselves.
"""

from __future__ import annotations

import numpy as np


def build(rows, columns, n_vertices, symmetric=False):
    """Return offsets and columns of the compressed rows, which ascend (`build.cu`)."""
    if symmetric:
        other = rows != columns
        rows, columns = np.r_[rows, columns[other]], np.r_[columns, rows[other]]
    order = np.lexsort((columns, rows))
    return np.append(0, np.bincount(rows, minlength=n_vertices).cumsum()), columns[order]


def first_neighbors(offsets, columns):
    """Return the first entry of each row: -1 if it is empty, -2 - u if u is its only entry (`build.cu`)."""
    degrees = np.diff(offsets)
    first = np.full(len(degrees), -1, np.int64)
    first[degrees > 0] = columns[offsets[:-1][degrees > 0]]
    first[degrees == 1] = -2 - first[degrees == 1]
    return first


def smallest_predecessors(offsets, columns, distance, order=None):
    """Return, by `order`, the smallest in-neighbour of each vertex that is one level nearer (`tree.cu`)."""
    keys = np.arange(len(distance)) if order is None else order
    predecessor = np.full(len(distance), -1)
    for v in np.flatnonzero(distance > 0):
        row = columns[offsets[v] : offsets[v + 1]]
        nearer = row[distance[row] == distance[v] - 1]
        predecessor[v] = nearer[np.argmin(keys[nearer])]
    return predecessor


def walk(predecessor, targets):
    """Return the vertices from the root down to each target, -1 being an empty path (`tree.cu`)."""
    paths = []
    for target in targets:
        path = []
        while target >= 0:
            path.append(int(target))
            target = predecessor[target]
        paths.append(path[::-1])
    return paths


def answer(distance, predecessor, rank, names):
    """Return rows of vertex, distance and predecessor, None where there is none (`answer.cu`).

    Row i is vertex `rank[i]`; `names` has the caller's id of each vertex.
    """
    rows = []
    for v in rank:
        level = None if distance[v] < 0 else distance[v]
        rows.append((names[v], level, None if predecessor[v] < 0 else names[predecessor[v]]))
    return rows


def active_queue(active, degrees, heavy_degree):
    """Return the active vertices with short rows and those with long rows, each in order (`gas_state.cu`)."""
    vertices = np.flatnonzero(active)
    light = degrees[vertices] < heavy_degree
    return vertices[light], vertices[~light]


def count_pages(offsets, firsts, marks):
    """Return the marked rows of each page, and their edges, (n_pages, 2) (`pages.cu`)."""
    each = np.stack([marks, marks * np.diff(offsets)], axis=1).astype(np.int64)
    sums = np.concatenate([np.zeros((1, 2), np.int64), each.cumsum(axis=0)])
    return np.diff(sums[firsts], axis=0)
