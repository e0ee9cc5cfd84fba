"""Weakly connected components of compressed rows, and the members of each."""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.components import components
from rapids_trav.engines.runs import LinkView, RunOptions
from rapids_trav.jit.kernels import kernel


def label_components(offsets: Array, columns: Array, symmetric: bool) -> Array:
    """Return for each vertex the smallest vertex of its component."""
    rows = Adjacency(offsets, columns)
    return components(LinkView(rows, rows if symmetric else None), None, RunOptions()).values


@kernel
def group_members(label):
    """Return the vertices sorted by component, ascending in each, and where each component begins.

    `label` has the smallest vertex of each vertex's component; components are ordered by that vertex.
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
