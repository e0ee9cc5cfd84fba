"""Checks of every edge of a saved graph, for properties that correct answers require.

Every row must be in ascending order, and an undirected graph must have each edge both ways, with one weight.
A comparison of the rows with their transpose would take as long as a build.  Instead, edges with u < v add a
hash of (u, v, weight) to a sum modulo 2^64, and edges with u > v subtract the hash of (v, u, weight).  For a
symmetric graph the sum is 0.  For any other graph, whose author does not know the random key of the hash, it
is 0 with a probability of about 2^-64.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.jit.kernels import Threads, kernel

ROWS = 1 << 12  # smallest number of rows for one thread


class Findings(NamedTuple):
    """Properties found in the edges."""

    ascending: bool  # every row is in ascending order
    n_loops: int
    symmetric: bool  # each edge is present both ways, with one weight


def look_through(edges: Adjacency) -> Findings:
    """Read all edges once and return the properties found; the columns must be valid vertices."""
    arrays = (edges.row_offsets, edges.column_indices, weight_bits(edges.weights), random_key())
    with Threads() as team:
        found = team.run(_look_through, edges.n_vertices, *arrays, grain=ROWS)
    descents, loops, left = (sum(int(part[i]) for part in found) for i in range(3))
    return Findings(descents == 0, loops, left % 2**64 == 0)


def weight_bits(weights: Array | None) -> Array | None:
    return None if weights is None else weights.view(f"u{weights.dtype.itemsize}")


def random_key() -> np.uint64:
    return np.uint64(secrets.randbits(64))


@kernel
def _mixed(x):
    """Mix the bits of a word by the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def edge_hash(u, v, weights, e, key):
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
            hashed = edge_hash(low, high, weights, e, key)
            left = left + hashed if u < v else left - hashed
    return descents, loops, left
