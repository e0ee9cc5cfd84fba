"""Shortest paths of every kind: `networkx.algorithms.shortest_paths.generic`.

NetworkX composes these functions of others, and so does the backend: on a graph of the backend, NetworkX's
code calls the backend's functions.  Only searches from all nodes to a target are done here, because NetworkX
would reverse a directed graph for them.
"""

from __future__ import annotations

from rapids_trav.backends.discovery import discover
from rapids_trav.backends.dispatch import NEVER, dispatched, original
from rapids_trav.backends.functions.unweighted import lengths_of, located, path_between, paths_of
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.networkx_types import Arguments, Graph, Value


def _refuse(arguments: Arguments) -> str | None:
    weight, source, target = (arguments[name] for name in ("weight", "source", "target"))
    if callable(weight):
        return "the weight is a function"
    if weight is not None and arguments["method"] != "dijkstra":
        return f"method {arguments['method']!r} is not among those of the backend"
    if weight is not None and source is None and target is not None and arguments["G"].is_directed():
        return "weighted paths to a target of a directed graph are not among those of the backend"
    return None


def _leads_to_target(source: Value, target: Value, weight: Value, method: str) -> bool:
    """Return whether a call asks for unweighted paths from all nodes to a target."""
    known = method in ("dijkstra", "bellman-ford")  # for other methods NetworkX raises an error
    return known and weight is None and source is None and target is not None


@dispatched(least=NEVER, refuse=_refuse)
def shortest_path(
    G: Graph, source: Value = None, target: Value = None, weight: Value = None, method: str = "dijkstra"
) -> Value:
    if not _leads_to_target(source, target, weight, method):
        return original("shortest_path")(G, source, target, weight, method)
    structure = structure_of(G)
    start = located(structure, target, "Source", "not")
    paths = paths_of(structure, discover(structure, [start], reverse=structure.directed))
    return {node: path[::-1] for node, path in paths.items()}


@dispatched(least=NEVER, refuse=_refuse)
def shortest_path_length(
    G: Graph, source: Value = None, target: Value = None, weight: Value = None, method: str = "dijkstra"
) -> Value:
    if not _leads_to_target(source, target, weight, method):
        return original("shortest_path_length")(G, source, target, weight, method)
    structure = structure_of(G)
    start = located(structure, target, "Source")
    return lengths_of(structure, discover(structure, [start], reverse=structure.directed))


@dispatched(least=NEVER)
def has_path(G: Graph, source: Value, target: Value) -> bool:
    structure = structure_of(G)
    ends = located(structure, source, "Source"), located(structure, target, "Target")
    return path_between(structure, *ends) is not None
