"""Checks of every edge of a saved graph, for properties that correct answers require.

Every row must be in ascending order, and an undirected graph must have each edge both ways, with one weight.
A comparison of the rows with their transpose would take as long as a build.  Instead, edges with u < v add a
hash of (u, v, weight) to a sum modulo 2^64, and edges with u > v subtract the hash of (v, u, weight).  For a
symmetric graph the sum is 0.  For any other graph, whose author does not know the random key of the hash, it
is 0 with a probability of about 2^-64.

The edges of a path layout are compared with the rows by two such sums, over u -> v as it is directed.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.cpu.path_decomposition import count_up_to_two
from rapids_trav.jit.kernels import Threads, kernel

ROWS = 1 << 12  # smallest number of rows for one thread


class Findings(NamedTuple):
    """Properties found in the edges.

    Attributes
    ----------
    ascending : bool
        Whether every row is in ascending order.
    n_loops : int
        Number of self-loops.
    symmetric : bool
        Whether each edge is present both ways, with one weight.
    """

    ascending: bool
    n_loops: int
    symmetric: bool


def look_through(edges: Adjacency) -> Findings:
    """Read all edges once and return the properties found; the columns must be valid vertices."""
    arrays = (edges.row_offsets, edges.column_indices, _bits(edges.weights), _key())
    with Threads() as team:
        found = team.run(_look_through, edges.n_vertices, *arrays, grain=ROWS)
    descents, loops, left = (sum(int(part[i]) for part in found) for i in range(3))
    return Findings(descents == 0, loops, left % 2**64 == 0)


def path_fault(layout: PathLayout, edges: Adjacency) -> str | None:
    """Return what is wrong with a path layout of these edges, as a predicate; None if nothing is."""
    led_to, key = np.zeros(edges.n_vertices, np.uint8), _key()
    if not layout.relaxed:
        count_up_to_two(edges.column_indices, led_to)
    rows = (edges.row_offsets, edges.column_indices, _bits(edges.weights), key)
    paths = (layout.starts, layout.vertices, _bits(layout.weights), key, led_to, layout.relaxed)
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


def _bits(weights: Array | None) -> Array | None:
    return None if weights is None else weights.view(f"u{weights.dtype.itemsize}")


def _key() -> np.uint64:
    return np.uint64(secrets.randbits(64))


@kernel
def _mixed(x):
    """Mix the bits of a word by the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def _hashed(u, v, weights, e, key):
    """Return the hash of an edge from u to v with the weight of index `e`."""
    hashed = _mixed(_mixed(np.uint64(u) + key) + np.uint64(v))
    return hashed if weights is None else _mixed(hashed + np.uint64(weights[e]))


@kernel
def _look_through(row_offsets, column_indices, weights, key, begin, end):
    """Return the descents within the rows `begin` to `end` - 1, the self-loops, and the sum of hashes."""
    descents, loops, left = 0, 0, np.uint64(0)
    for u in range(begin, end):
        before = np.int64(-1)
        for e in range(row_offsets[u], row_offsets[u + 1]):
            v = np.int64(column_indices[e])
            if v < before:
                descents += 1
            before = v
            if u == v:
                loops += 1
                continue
            low, high = (u, v) if u < v else (v, u)
            hashed = _hashed(low, high, weights, e, key)
            left = left + hashed if u < v else left - hashed
    return descents, loops, left


@kernel
def _sum_of_rows(row_offsets, column_indices, weights, key, begin, end):
    """Return the sum of the hashes of the edges of the rows `begin` to `end` - 1."""
    total = np.uint64(0)
    for u in range(begin, end):
        for e in range(row_offsets[u], row_offsets[u + 1]):
            total += _hashed(u, column_indices[e], weights, e, key)
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
            total += _hashed(vertices[i], vertices[i + 1], weights, i - p, key)
            if i > first and led_to[vertices[i]] > 1:
                wrong = True
        if relaxed > 0 and last - first > relaxed:
            wrong = True
    return total, wrong
