"""Weakly connected components by linking trees, on one thread.

M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling"
(Afforest), IPDPS 2018.

1. Every vertex is linked with its first neighbours; the larger root goes below the smaller, so that a root is
   the first vertex of its tree.
2. A sample of vertices tells the tree that is largest by now.
3. Of vertices outside of it the remaining neighbours are linked.  An undirected edge that leads into the
   large tree is seen from its other end; of a directed graph all rows are gone through.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.compile import kernel

FIRST = 2  # neighbours of each vertex that are linked before the sample
SAMPLE = 1024


@kernel
def label_components(offsets, columns, symmetric):
    """Return for each vertex the smallest of its component."""
    n = len(offsets) - 1
    root = np.arange(n).astype(columns.dtype)
    for v in range(n):
        for e in range(offsets[v], min(offsets[v] + FIRST, offsets[v + 1])):
            _link(root, v, columns[e])
    large = _frequent(root, n) if symmetric and n > 0 else -1
    for v in range(n):
        if offsets[v + 1] - offsets[v] > FIRST and _find(root, v) != large:
            for e in range(offsets[v] + FIRST, offsets[v + 1]):
                _link(root, v, columns[e])
    for v in range(n):
        root[v] = root[root[v]]  # the root of a smaller vertex is final
    return root


@kernel
def _find(root, v):
    while root[v] != root[root[v]]:
        root[v] = root[root[v]]
        v = root[v]
    return root[v]


@kernel
def _link(root, u, v):
    u, v = _find(root, u), _find(root, v)
    if u < v:
        root[v] = u
    elif v < u:
        root[u] = v


@kernel
def _frequent(root, n):
    """Return the most frequent root of evenly spaced vertices."""
    k = min(SAMPLE, n)
    sample = np.empty(k, np.int64)
    for i in range(k):
        sample[i] = _find(root, i * n // k)
    sample.sort()
    best, longest, first = sample[0], 0, 0
    for i in range(k):
        if sample[i] != sample[first]:
            first = i
        if i - first + 1 > longest:
            best, longest = sample[i], i - first + 1
    return best


@kernel
def group_members(label):
    """Return the vertices sorted by component, ascending in each, and where each component begins.

    `label` has the smallest vertex of each component; components come in the order of these.
    """
    n = len(label)
    number = np.empty(n, label.dtype)
    starts = np.zeros(n + 1, np.int64)
    k = 0
    for v in range(n):
        if label[v] == v:
            number[v] = k
            k += 1
        starts[number[label[v]] + 1] += 1
    for i in range(k):
        starts[i + 1] += starts[i]
    members = np.empty(n, label.dtype)
    cursor = starts[: k + 1].copy()
    for v in range(n):
        i = number[label[v]]
        members[cursor[i]] = v
        cursor[i] += 1
    return members, starts[: k + 1]
