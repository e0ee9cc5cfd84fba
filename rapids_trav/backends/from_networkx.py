"""Rows of a NetworkX graph, read from its dicts in their order."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rapids_trav.backends.networkx_types import Value
from rapids_trav.backends.structure import Dicts, Node, Reduce, Rows, Structure, Weights, index_dtype, numbers

CHANGED = (
    "An edge of the graph leads to a node that it does not have, or the graph has changed since it was "
    "converted: convert it again."
)


@dataclass
class NetworkxSource:
    """Dicts of a NetworkX graph, which are read on demand and never changed."""

    held: Dicts
    multigraph: bool

    def incoming(self, structure: Structure) -> Rows:
        assert self.held.pred is not None
        rows = read_rows(self.held.pred, structure.nodes, structure.index)
        if len(rows.columns) != len(structure.rows.columns) or len(rows.offsets) != structure.n + 1:
            raise RuntimeError(CHANGED)
        return rows

    def weights(self, structure: Structure, attribute: Hashable, default: object, reduce: Reduce) -> Weights:
        parallel = list(chain.from_iterable(nbrs.values() for nbrs in self.held.adj.values()))
        if len(parallel) != len(structure.rows.columns):
            raise RuntimeError(CHANGED)
        if not self.multigraph:
            return numbers((data.get(attribute, default) for data in parallel), reduce)
        every = (data.get(attribute, default) for keys in parallel for data in keys.values())
        values, whole = numbers(every, reduce)
        counts = np.fromiter(map(len, parallel), np.int64, len(parallel))
        if len(values) == len(parallel):
            return Weights(values, whole)
        starts = np.cumsum(counts) - counts
        combined = (np.add if reduce == "sum" else np.minimum).reduceat(values, starts)
        if whole is None:
            return Weights(combined)
        group = np.repeat(np.arange(len(parallel)), counts)
        least = np.flatnonzero(values == combined[group])  # of equal ones Python takes the first
        return Weights(combined, whole[least[np.unique(group[least], return_index=True)[1]]])

    def dicts(self, structure: Structure) -> Dicts:
        return copied(self.held, self.multigraph)


def structure_of_dicts(held: Dicts, multigraph: bool) -> Structure:
    """Return the structure of a graph with these dicts."""
    nodes = list(held.adj)
    if set(map(type, nodes)) == {int} and (compact := _compact(nodes)) is not None:
        nodes = compact
    index = dict(zip(nodes, range(len(nodes)), strict=True))
    source = NetworkxSource(held, multigraph)
    rows = read_rows(held.adj, nodes, index)
    structure = Structure(nodes, rows, held.pred is not None, multigraph, source)
    structure.__dict__["index"] = index
    return structure


def _compact(nodes: list) -> list | None:
    """Return equal integers that are adjacent in memory, which makes dicts of them faster.

    Return None if one of them does not fit 64 bits.
    """
    try:
        return np.fromiter(nodes, np.int64, len(nodes)).tolist()
    except OverflowError:
        return None


def read_rows(adj: Mapping[Node, Mapping], nodes: Value, index: Mapping[Node, int]) -> Rows:
    """Return the compressed rows of a dict of dicts, in the order of the dicts."""
    n = len(nodes)
    offsets = np.zeros(n + 1, np.int64)
    rows: Collection[Collection[Node]] = adj.values()
    if set(map(type, rows)) != {dict}:
        rows = [list(nbrs) for nbrs in rows]  # the length of NetworkX's views may count edges that they hide
    np.cumsum(np.fromiter(map(len, rows), np.int64, n), out=offsets[1:])
    every: Iterable[Node] = chain.from_iterable(rows)
    m = int(offsets[-1])
    kinds = set(map(type, nodes))
    if kinds == {int} and min(nodes) >= 0 and max(nodes) < 4 * (n + 64):
        # Equal nodes are equal integers, so a table works, and it is faster than hashing each of them.
        taken = np.fromiter(every, np.int64, m)
        if m and not 0 <= int(taken.min()) <= int(taken.max()) <= max(nodes):
            raise RuntimeError(CHANGED)
        ids = np.fromiter(nodes, np.int64, n)
        if np.array_equal(ids, np.arange(n)):
            return Rows(offsets, taken.astype(index_dtype(n)))
        table = np.full(int(ids.max()) + 1, -1, index_dtype(n))
        table[ids] = np.arange(n)
        columns = table[taken]
        if m and int(columns.min()) < 0:
            raise RuntimeError(CHANGED)
        return Rows(offsets, columns)
    try:
        return Rows(offsets, np.fromiter(map(index.__getitem__, every), index_dtype(n), m))
    except KeyError as error:
        raise RuntimeError(CHANGED) from error


def copied(held: Dicts, multigraph: bool) -> Dicts:
    """Return a copy of the dicts down to the attributes; both ends of an edge share one dict."""
    node = {name: dict(data) for name, data in held.node.items()}
    adj: dict[Node, dict] = {name: {} for name in held.adj}

    def edge(data: Mapping) -> dict:
        return {key: dict(inner) for key, inner in data.items()} if multigraph else dict(data)

    if held.pred is None:
        for u, nbrs in held.adj.items():
            adj[u].update((v, adj[v][u] if u in adj[v] else edge(data)) for v, data in nbrs.items())
        return Dicts(node, adj, None)
    for u, nbrs in held.adj.items():
        adj[u].update((v, edge(data)) for v, data in nbrs.items())
    pred = {v: {u: adj[u][v] for u in nbrs} for v, nbrs in held.pred.items()}
    return Dicts(node, adj, pred)
