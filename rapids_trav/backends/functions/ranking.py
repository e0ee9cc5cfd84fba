"""PageRank: `networkx.algorithms.link_analysis.pagerank_alg`.

This is the power iteration of NetworkX, with the same start, tolerance and error, on rows of incoming edges:
S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
import numpy as np

from rapids_trav.backends.dispatch import ANY, dispatched
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.structure import Arguments, Graph, Node, Structure, Value
from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import Threads, kernel

GRAIN = 1 << 12  # number of vertices that is worth a thread


@kernel
def _gather(offsets, columns, weights, passed, gathered, begin, end):
    """Sum what each vertex is passed; `weights` are empty if all are 1."""
    for v in range(begin, end):
        total = 0.0
        if len(weights) == 0:
            for e in range(offsets[v], offsets[v + 1]):
                total += passed[columns[e]]
        else:
            for e in range(offsets[v], offsets[v + 1]):
                total += weights[e] * passed[columns[e]]
        gathered[v] = total


def _refuse(arguments: Arguments) -> str | None:
    if callable(arguments["weight"]):
        return "the weight is a function"
    graph = arguments["G"]
    while (beneath := getattr(graph, "_graph", None)) is not None:
        if beneath.is_directed() and not graph.is_directed():
            return "an edge of an undirected view of a directed graph may have two weights"
        graph = beneath
    return None


def _vector(structure: Structure, given: Mapping[Node, Value]) -> Array:
    """Return the values that a dict has for nodes as a vector, with 0 for the others."""
    vector = np.zeros(structure.n)
    for node, value in given.items():
        if (v := structure.find(node)) is not None:
            vector[v] = value
    return vector


@dispatched(least=ANY, refuse=_refuse)
def pagerank(
    G: Graph,
    alpha: Value = 0.85,
    personalization: Value = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Value = None,
    weight: Value = "weight",
    dangling: Value = None,
) -> dict[Node, float]:
    structure = structure_of(G)
    n = structure.n
    if n == 0:
        return {}
    combined = structure.weights(weight, 1, "sum")
    rows = structure.rows
    with Threads() as team:
        weights = None if combined is None else combined.values.astype(np.float64, copy=False)
        sums: Array = np.diff(rows.offsets).astype(np.float64)
        if weights is not None:
            sums = np.bincount(np.repeat(np.arange(n), np.diff(rows.offsets)), weights, n)
        with np.errstate(over="ignore"):
            share = np.divide(1.0, sums, out=np.zeros(n), where=sums != 0)
        if not (np.isfinite(sums).all() and np.isfinite(share).all()):
            raise NotImplementedError("a sum of weights, or its inverse, is infinite")
        uniform: Array = np.repeat(1.0 / n, n)
        x: Array = uniform
        if nstart is not None:
            x = _vector(structure, nstart)
            x /= x.sum()
        p: Array = uniform
        if personalization is not None:
            p = _vector(structure, personalization)
            if p.sum() == 0:
                raise ZeroDivisionError
            p /= p.sum()
        hanging = p
        if dangling is not None:
            hanging = _vector(structure, dangling)
            hanging /= hanging.sum()
        ends = np.flatnonzero(sums == 0)
        into, edges = structure.transpose
        along = np.empty(0) if weights is None else weights if edges is None else weights[edges]
        gathered = np.empty(n)
        for _ in range(max_iter):
            passed = x * share
            team.run(_gather, n, *into, along, passed, gathered, grain=GRAIN)
            last, x = x, alpha * (gathered + x[ends].sum() * hanging) + (1 - alpha) * p
            if np.abs(x - last).sum() < n * tol:
                return dict(zip(structure.nodes, x.tolist(), strict=True))
    raise nx.PowerIterationFailedConvergence(max_iter)
