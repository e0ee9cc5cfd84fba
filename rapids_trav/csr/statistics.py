"""Statistics of a graph, computed from its adjacency: self-loops, duplicate edges, sums of weights."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import BLOCK, Adjacency, Array, edge_blocks


def self_loops(adjacency: Adjacency, xp: ModuleType, block: int = BLOCK) -> int:
    """Count self-loops, each of which is stored once, in a symmetric adjacency as well."""
    blocks = edge_blocks(adjacency, xp, block=block)
    return sum(int((edges.src == edges.dst).sum()) for edges in blocks)


def duplicate_edges(adjacency: Adjacency, xp: ModuleType, directed: bool, block: int = BLOCK) -> int:
    """Count edges that repeat another edge; an undirected edge counts once.

    Rows of an adjacency are sorted, so an edge and its repetitions are adjacent.
    """
    found = 0
    for edges in edge_blocks(adjacency, xp, overlap=1, block=block):
        repeated = (edges.src[1:] == edges.src[:-1]) & (edges.dst[1:] == edges.dst[:-1])
        if not directed:
            repeated &= edges.src[1:] <= edges.dst[1:]
        found += int(repeated.sum())
    return found


def strengths(columns: Array, weights: Array, n_vertices: int, xp: ModuleType, block: int = BLOCK) -> Array:
    """Return the sum of the weights of the edges that leave each vertex, float64 (n,).

    `columns`, (m,), has the source of each edge.  A block bounds memory, since `bincount` makes wider copies
    of the columns.
    """
    total = xp.zeros(n_vertices, dtype=np.float64)
    for first in range(0, len(columns), block):
        ends = xp.asarray(columns[first : first + block])
        own = xp.asarray(weights[first : first + block])
        total += xp.bincount(ends, weights=own, minlength=n_vertices)
    return total
