"""Breadth-first search in NetworkX's order: its modules `breadth_first_search` and `dag`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice, pairwise

import networkx as nx
import numpy as np

from rapids_trav.backends.discovery import Discovery, bound_refusal, discover, levels_within
from rapids_trav.backends.dispatch import EDGES, NEVER, SETS, dispatched, networkx_version
from rapids_trav.backends.from_frame import ArraySource
from rapids_trav.backends.graphs import graph_over, structure_of
from rapids_trav.backends.structure import Arguments, Graph, Node, Rows, Structure, Value
from rapids_trav.csr.adjacency import Array

Edge = tuple[Node, Node]
PREDECESSORS_DEPRECATED = (3, 7)  # version of NetworkX
AT_ONCE = 1 << 12  # vertices whose edges are labelled at once
LABELS = ("tree", "forward", "level", "reverse")


def _refuse(arguments: Arguments) -> str | None:
    if arguments["sort_neighbors"] is not None:
        return "sort_neighbors is a function"
    return bound_refusal("depth_limit")(arguments)


def _search(
    G: Graph, source: Value, depth_limit: Value, reverse: bool = False
) -> tuple[Structure, Discovery]:
    structure = structure_of(G)
    start = structure.find(source)
    if start is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'di' if G.is_directed() else ''}graph.")
    limit = levels_within(depth_limit, structure.n)
    return structure, discover(structure, [start], limit, reverse and structure.directed)


def _edges(structure: Structure, found: Discovery) -> Iterator[Edge]:
    """Return pairs of parent and child in the order of the search."""
    names = structure.named(found.order)
    parents = structure.named(found.order[found.parent[1:]])
    return zip(parents, islice(names, 1, None), strict=True)


@dispatched(least=EDGES, refuse=_refuse)
def bfs_edges(
    G: Graph, source: Value, reverse: bool = False, depth_limit: Value = None, sort_neighbors: Value = None
) -> Iterator[Edge]:
    yield from _edges(*_search(G, source, depth_limit, reverse))


@dispatched(least=EDGES, refuse=_refuse)
def bfs_tree(
    G: Graph, source: Value, reverse: bool = False, depth_limit: Value = None, sort_neighbors: Value = None
) -> Value:
    structure, found = _search(G, source, depth_limit, reverse)
    k = len(found.order)
    offsets = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount(found.parent[1:], minlength=k), out=offsets[1:])
    children = np.arange(1, k, dtype=found.order.dtype)  # the children of a vertex are adjacent in the queue
    tree = Structure(structure.named(found.order), Rows(offsets, children), True, False, ArraySource())
    return graph_over(tree)


@dispatched(least=EDGES, refuse=_refuse)
def bfs_predecessors(
    G: Graph, source: Value, depth_limit: Value = None, sort_neighbors: Value = None
) -> Iterator[Edge]:
    if networkx_version() >= PREDECESSORS_DEPRECATED:
        warnings.warn(
            "bfs_predecessors is deprecated since NetworkX 3.7 and goes in NetworkX 3.9: use bfs_edges.",
            DeprecationWarning,
            stacklevel=2,
        )
    for parent, child in _edges(*_search(G, source, depth_limit)):
        yield child, parent


@dispatched(least=EDGES, refuse=_refuse)
def bfs_successors(
    G: Graph, source: Value, depth_limit: Value = None, sort_neighbors: Value = None
) -> Iterator[tuple[Node, list[Node]]]:
    structure, found = _search(G, source, depth_limit)
    names = structure.named(found.order)
    if len(names) == 1:
        yield source, []
        return
    begins = np.flatnonzero(np.diff(found.parent, prepend=-2)[1:]) + 1  # where a vertex's children begin
    ends = np.append(begins[1:], len(names))
    for parent, begin, end in zip(found.parent[begins].tolist(), begins.tolist(), ends.tolist(), strict=True):
        name = names[parent]
        if name == name:
            yield name, names[begin:end]
        else:  # NaN, for each edge of which NetworkX begins anew
            yield from ((name, [child]) for child in names[begin:end])


@dispatched(least=EDGES)
def bfs_layers(G: Graph, sources: Value) -> Iterator[list[Node]]:
    structure, starts = _starts(G, sources)
    found = discover(structure, starts)
    names, ends = structure.named(found.order), found.ends.tolist()
    for begin, end in zip([0, *ends], ends, strict=False):
        if end > begin:
            yield names[begin:end]


def _starts(G: Graph, sources: Value) -> tuple[Structure, list[int]]:
    """Return the vertices of one or several sources, in the order of NetworkX's set of them."""
    structure = structure_of(G)
    listed = [sources] if structure.find(sources) is not None else list(set(sources))
    starts = []
    for source in listed:
        if (start := structure.find(source)) is None:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
        starts.append(start)
    return structure, starts


@dispatched(least=EDGES)
def bfs_labeled_edges(G: Graph, sources: Value) -> Iterator[tuple[Node, Node, str]]:
    structure = structure_of(G)
    listed = [sources] if structure.find(sources) is not None else list(dict.fromkeys(sources))
    starts = [structure.find(source) for source in listed]
    if None in starts:
        raise KeyError(listed[starts.index(None)])
    found = discover(structure, starts)  # type: ignore[arg-type]
    level = np.full(structure.n, -1, np.int64)
    level[found.order] = found.distance
    for begin, end in pairwise([*range(0, len(found.order), AT_ONCE), len(found.order)]):
        yield from _labelled(structure, found, level, begin, end)


def _labelled(
    structure: Structure, found: Discovery, level: Array, begin: int, end: int
) -> Iterator[tuple[Node, Node, str]]:
    """Return the labelled edges of the vertices from `begin` to `end` in the order of the search."""
    offsets, columns = structure.rows
    u = found.order[begin:end]
    lengths = offsets[u + 1] - offsets[u]
    ends = np.cumsum(lengths)
    edges = np.arange(ends[-1]) + np.repeat(offsets[u] - (ends - lengths), lengths)
    u, v = np.repeat(u, lengths), columns[edges]
    step = level[v] - level[u]
    at, place = found.place[u], found.place[v]
    label = np.where(step > 0, 1, np.where(step == 0, 2, 3))
    label[(step > 0) & (found.parent[place] == at)] = 0
    if not structure.directed:  # an edge is reported from the end that is searched first
        kept = (label < 2) | ((label == 2) & (place >= at))
        u, v, label = u[kept], v[kept], label[kept]
    return zip(structure.named(u), structure.named(v), map(LABELS.__getitem__, label.tolist()), strict=True)


@dispatched(least=NEVER, refuse=bound_refusal("distance"))
def descendants_at_distance(G: Graph, source: Value, distance: Value) -> set[Node]:
    structure = structure_of(G)
    start = structure.find(source)
    if start is None:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if distance is None or not 0 <= distance < structure.n or distance != int(distance):
        return set()
    found = discover(structure, [start], int(distance))
    if len(found.ends) <= distance:
        return set()
    begin = found.ends[int(distance) - 1] if distance >= 1 else 0
    return set(structure.named(found.order[begin:]))


@dispatched(least=SETS)
def descendants(G: Graph, source: Value) -> set[Node]:
    structure, found = _search(G, source, None)
    return set(structure.named(found.order[1:]))


@dispatched(least=SETS)
def ancestors(G: Graph, source: Value) -> set[Node]:
    structure, found = _search(G, source, None, reverse=True)
    return set(structure.named(found.order[1:]))
