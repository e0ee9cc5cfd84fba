"""Graphs from frames, and shortest paths of every kind: NetworkX's `convert_matrix` and `generic`.

NetworkX composes these functions of others, and so does the backend: on a graph of the backend, NetworkX's
code calls the backend's functions.  Only searches from all nodes to a target are done here, because NetworkX
would reverse a directed graph for them.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx

from rapids_trav.backends.discovery import Discovery, discover
from rapids_trav.backends.dispatch import ANY, NEVER, Function, dispatched, original
from rapids_trav.backends.from_frame import structure_of_frame
from rapids_trav.backends.functions.unweighted import lengths_of, located, path_between, paths_of
from rapids_trav.backends.graphs import TravDiGraph, TravGraph, from_networkx, graph_over, structure_of
from rapids_trav.backends.structure import Arguments, Graph, Node, Structure, Value


def _refuse(arguments: Arguments) -> str | None:
    weight, source, target = (arguments[name] for name in ("weight", "source", "target"))
    if callable(weight):
        return "the weight is a function"
    if weight is not None and arguments["method"] != "dijkstra":
        return f"method {arguments['method']!r} is not among those of the backend"
    if weight is not None and source is None and target is not None and arguments["G"].is_directed():
        return "weighted paths to a target of a directed graph are not among those of the backend"
    return None


def _to_target(name: str, verb: str, answer: Callable[[Structure, Discovery], dict[Node, Value]]) -> Function:
    """Return NetworkX's function that gives this answer, done here for unweighted paths from all nodes."""

    def body(
        G: Graph, source: Value = None, target: Value = None, weight: Value = None, method: str = "dijkstra"
    ) -> Value:
        known = method in ("dijkstra", "bellman-ford")  # for other methods NetworkX raises an error
        if not (known and weight is None and source is None and target is not None):
            return original(name)(G, source, target, weight, method)
        structure = structure_of(G)
        start = located(structure, target, "Source", verb)
        return answer(structure, discover(structure, [start], reverse=structure.directed))

    return Function(body, NEVER, _refuse, name=name)


def _reversed_paths(structure: Structure, found: Discovery) -> dict[Node, Value]:
    return {node: path[::-1] for node, path in paths_of(structure, found).items()}


shortest_path = _to_target("shortest_path", "not", _reversed_paths)
shortest_path_length = _to_target("shortest_path_length", "is not", lengths_of)


@dispatched(least=NEVER)
def has_path(G: Graph, source: Value, target: Value) -> bool:
    structure = structure_of(G)
    ends = located(structure, source, "Source"), located(structure, target, "Target")
    return path_between(structure, *ends) is not None


@dispatched(least=ANY, graphs=False)
def from_pandas_edgelist(
    df: Value,
    source: Value = "source",
    target: Value = "target",
    edge_attr: Value = None,
    create_using: Value = None,
    edge_key: Value = None,
) -> Value:
    directed = {None: False, nx.Graph: False, TravGraph: False, nx.DiGraph: True, TravDiGraph: True}
    wanted = _columns(df, source, target, edge_attr)
    if wanted is not None and edge_key is None and create_using in directed:
        structure = structure_of_frame(df, source, target, wanted, directed[create_using])
        if structure is not None:
            return graph_over(structure)
    made = original("from_pandas_edgelist")(df, source, target, edge_attr, create_using, edge_key)
    return from_networkx(made) if isinstance(made, nx.Graph) else made


def _columns(df: Value, source: Value, target: Value, edge_attr: Value) -> list | None:
    """Return the columns of attributes; None if the call is left to NetworkX."""
    if edge_attr is None:
        return []
    if edge_attr is True:
        listed = [name for name in df.columns if name not in (source, target)]
    else:
        listed = list(edge_attr) if isinstance(edge_attr, (list, tuple)) else [edge_attr]
    return listed or None
