"""Ego graphs, the neighbourhood of a node as a graph: `networkx.generators.ego`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import networkx as nx

from rapids_trav.backends.dispatch import NEVER, dispatched
from rapids_trav.backends.from_frame import ArraySource, NetworkxSource
from rapids_trav.backends.graphs import LAZY, reading_through
from rapids_trav.backends.structure import Arguments, Graph, Node, Structure, Value


def _refuse(arguments: Arguments) -> str | None:
    if callable(arguments["distance"]):
        return "the distance is a function"
    if arguments["undirected"]:
        return "NetworkX searches an undirected copy, whose order the nodes then have"
    return None


@dispatched(least=NEVER, refuse=_refuse)
def ego_graph(
    G: Graph,
    n: Value,
    radius: Value = 1,
    center: bool = True,
    undirected: bool = False,
    distance: Value = None,
) -> Value:
    if distance is not None:
        near, _ = nx.single_source_dijkstra(G, n, cutoff=radius, weight=distance)
    else:
        near = nx.single_source_shortest_path_length(G, n, cutoff=radius)
    ego = subgraph(G, near)
    if not center:
        ego.remove_node(n)
    return ego


def subgraph(graph: Graph, near: Mapping[Node, object]) -> Graph:
    """Return what `graph.subgraph(near).copy()` returns, without making the dicts of the whole graph."""
    structure = graph.__dict__.get(LAZY)
    if structure is None:
        return graph.subgraph(near).copy()
    if isinstance(structure.source, NetworkxSource):
        return reading_through(graph, structure.source.held).subgraph(near).copy()
    kept = set(near)
    part = type(graph)()
    part.graph.update(graph.graph)
    nodes = _filtered(structure.nodes, kept)
    part.add_nodes_from(nodes)
    part.add_edges_from(edge for node in nodes for edge in _edges(structure, node, kept))
    return part


def _edges(structure: Structure, node: Node, kept: set[Node]) -> Iterator[tuple[Node, Node, dict]]:
    """Yield the edges from a node to kept nodes, in the order of NetworkX's filtered views."""
    u = structure.index[node]
    begin, end = structure.rows.offsets[u : u + 2].tolist()
    places = dict(zip(structure.named(structure.rows.columns[begin:end]), range(begin, end), strict=True))
    assert isinstance(structure.source, ArraySource)
    values = structure.source.values
    for other in _filtered(places, kept):
        at = slice(places[other], places[other] + 1)
        yield node, other, {name: values[name][at].tolist()[0] for name in values}


def _filtered(names: Collection[Node], kept: set[Node]) -> list[Node]:
    """Return the names that are kept, in the order of NetworkX's filtered views.

    That is the order of `kept` if it is less than half as long as `names`, else the order of `names`.
    """
    if 2 * len(kept) < len(names):
        there = names if isinstance(names, dict) else kept
        return [name for name in kept if name in there]
    return [name for name in names if name in kept]
