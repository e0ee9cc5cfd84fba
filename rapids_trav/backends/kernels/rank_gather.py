"""One step of the power iteration of PageRank.

S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.  Each vertex sums
the values that are passed on by the vertices leading to it; each thread computes a range of vertices.
"""

from __future__ import annotations

from rapids_trav.jit.kernels import kernel


@kernel
def gather(offsets, columns, passed, gathered, begin, end):
    for v in range(begin, end):
        total = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            total += passed[columns[e]]
        gathered[v] = total


@kernel
def gather_weighted(offsets, columns, weights, passed, gathered, begin, end):
    for v in range(begin, end):
        total = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            total += weights[e] * passed[columns[e]]
        gathered[v] = total


@kernel
def row_sums(offsets, weights, sums, begin, end):
    for v in range(begin, end):
        total = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            total += weights[e]
        sums[v] = total
