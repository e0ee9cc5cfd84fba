"""Ego graphs, the neighbourhood of a node as a graph: `networkx.generators.ego`."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np

from rapids_trav.backends.dispatch import NEVER, dispatched
from rapids_trav.backends.from_arrays import ArraySource
from rapids_trav.backends.from_networkx import NetworkxSource
from rapids_trav.backends.graphs import LAZY, graph_over, reading_through, structure_of
from rapids_trav.backends.networkx_types import Arguments, Graph, Value
from rapids_trav.backends.structure import Dicts, Node, Reduce, Rows, Structure, Weights
from rapids_trav.csr.adjacency import Array


def _refuse(arguments: Arguments) -> str | None:
    if callable(arguments["distance"]):
        return "the distance is a function"
    if arguments["undirected"] and arguments["G"].is_directed():
        return "the edges of a directed graph are followed both ways"
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
    searched = undirected_copy(structure_of(G)) if undirected else G
    if distance is not None:
        near, _ = nx.single_source_dijkstra(searched, n, cutoff=radius, weight=distance)
    else:
        near = nx.single_source_shortest_path_length(searched, n, cutoff=radius)
    ego = subgraph(G, near)
    if not center:
        ego.remove_node(n)
    return ego


def undirected_copy(structure: Structure) -> Graph:
    """Return the topology of `graph.to_undirected()`, by which NetworkX searches, of an undirected graph.

    NetworkX adds the edges row by row: in a row, earlier vertices come first, in ascending order, and the
    others follow in the row's order.  The order in which a search finds nodes shows in that of a set of them.
    """
    offsets, columns = structure.rows
    owners = np.repeat(np.arange(structure.n), np.diff(offsets))
    order = np.lexsort((np.minimum(columns, owners), owners))
    rows, source = Rows(offsets, columns[order]), _InAnotherOrder(structure, order)
    copy = Structure(structure.nodes, rows, False, structure.multigraph, source)
    copy.__dict__["index"] = structure.index
    return graph_over(copy)


@dataclass
class _InAnotherOrder:
    """Source of the weights of another structure, whose columns are taken in the given order."""

    structure: Structure
    order: Array

    def weights(self, structure: Structure, attribute: Hashable, default: object, reduce: Reduce) -> Weights:
        found = self.structure.weights(attribute, default, reduce)
        assert found is not None  # searches by weight name an attribute
        return Weights(found.values[self.order], None if found.whole is None else found.whole[self.order])

    def incoming(self, structure: Structure) -> Rows:
        return structure.rows

    def dicts(self, structure: Structure) -> Dicts:
        raise NotImplementedError("the undirected copy of the graph has no dicts")


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
