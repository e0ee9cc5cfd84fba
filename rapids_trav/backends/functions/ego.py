"""The neighbourhood of a node as a graph: `networkx.generators.ego`."""

from __future__ import annotations

import networkx as nx

from rapids_trav.backends.dispatch import NEVER, dispatched
from rapids_trav.backends.networkx_types import Arguments, Graph, Value


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
    if distance is not None:
        near, _ = nx.single_source_dijkstra(G, n, cutoff=radius, weight=distance)
    else:
        near = nx.single_source_shortest_path_length(G, n, cutoff=radius)
    ego = G.subgraph(near).copy()
    if not center:
        ego.remove_node(n)
    return ego
