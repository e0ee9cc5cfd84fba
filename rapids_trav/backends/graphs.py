"""Graphs of the backend: NetworkX graphs whose dicts are made on demand.

Dispatched functions work on a graph's `Structure`.  All other code, and every change, finds an ordinary
NetworkX graph: `_node`, `_adj` and `_pred` are filled in when first read.  The structure is kept in
`__networkx_cache__`, the cache that NetworkX clears at each change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import networkx as nx

from rapids_trav.backends.from_frame import NetworkxSource, structure_of_dicts
from rapids_trav.backends.structure import Arguments, Dicts, Graph, Node, Structure, Value

BACKEND = "trav"
KEPT = "trav"  # key of the structure in a graph's cache
LAZY = "_trav_unread"  # attribute that holds the structure until the dicts are made


def lazy(name: str, base: Value) -> property:
    """Return a property for NetworkX's attribute `name` that makes the dicts before the first access."""

    def read(self: Graph) -> Value:
        if LAZY in self.__dict__:
            materialise(self)
        return self.__dict__[name]

    def write(self: Graph, value: Value) -> None:
        if LAZY in self.__dict__:
            materialise(self)
        base.__set__(self, value)

    return property(read, write)


def among_others() -> bool:
    """Return whether NetworkX is dispatching a call that takes an ordinary graph as well.

    NetworkX asks each graph for its backend, and refuses a call whose graphs have several, unless it is
    configured to convert them.  Graphs of this backend are NetworkX graphs, so that its own code runs on
    both; but only the caller knows what else was given.
    """
    frame = sys._getframe(2)
    for _ in range(2):  # from a comprehension, before Python 3.12
        if frame is None or frame.f_code.co_name == "_call_if_any_backends_installed":
            break
        frame = frame.f_back  # type: ignore[assignment]
    given = frame.f_locals.get("graphs_resolved") if frame is not None else None
    if not isinstance(given, dict):
        return False
    graphs = (one for value in given.values() for one in (value if isinstance(value, list) else [value]))
    return any(getattr(type(one), "__networkx_backend__", None) == "networkx" for one in graphs)


class BackendName:
    """The name of the backend of a graph; of a class, always this one's."""

    def __get__(self, graph: object, kind: type) -> str:
        return "networkx" if graph is not None and among_others() else BACKEND


class Unread:
    """Operations that do not need the dicts."""

    __networkx_backend__ = BackendName()

    def __init_subclass__(cls) -> None:
        for name in ("_node", "_adj", "_succ", "_pred"):
            if (base := getattr(cls, name, None)) is not None:  # a descriptor of NetworkX's class
                setattr(cls, name, lazy(name, base))

    def __len__(self: Graph) -> int:
        unread = self.__dict__.get(LAZY)
        return len(self._node) if unread is None else unread.n

    def __iter__(self: Graph) -> Iterator[Node]:
        unread = self.__dict__.get(LAZY)
        return iter(self._node if unread is None else unread.nodes)

    def __contains__(self: Graph, node: object) -> bool:
        unread = self.__dict__.get(LAZY)
        if unread is not None:
            return unread.find(node) is not None
        try:
            return node in self._node
        except TypeError:
            return False

    def __getstate__(self: Graph) -> Arguments:
        if LAZY in self.__dict__:
            materialise(self)
        return self.__dict__ | {"__networkx_cache__": {}}

    def number_of_nodes(self) -> int:
        return len(self)

    def order(self) -> int:
        return len(self)


class TravGraph(Unread, nx.Graph):
    """An undirected graph of the backend."""


class TravDiGraph(Unread, nx.DiGraph):
    """A directed graph of the backend."""


class TravMultiGraph(Unread, nx.MultiGraph):
    """An undirected graph of the backend with parallel edges."""


class TravMultiDiGraph(Unread, nx.MultiDiGraph):
    """A directed graph of the backend with parallel edges."""


CLASSES: dict[tuple[bool, bool], tuple[type, type]] = {
    (False, False): (TravGraph, nx.Graph),
    (True, False): (TravDiGraph, nx.DiGraph),
    (False, True): (TravMultiGraph, nx.MultiGraph),
    (True, True): (TravMultiDiGraph, nx.MultiDiGraph),
}


def graph_over(structure: Structure, attributes: dict | None = None) -> Value:
    """Return a graph of the backend over a structure; its dicts are not made yet."""
    kind, _ = CLASSES[structure.directed, structure.multigraph]
    graph: Graph = object.__new__(kind)
    empty = {"_node": None, "_adj": None} | ({"_succ": None, "_pred": None} if structure.directed else {})
    graph.__dict__.update(empty)
    graph.__dict__.update(graph=dict(attributes or {}), __networkx_cache__={KEPT: structure})
    graph.__dict__[LAZY] = structure
    return graph


def reading_through(graph: Graph, dicts: Dicts) -> Graph:
    """Return a graph of the same class over dicts of another graph, which may only be read."""
    other: Graph = object.__new__(type(graph))
    other.__dict__.update(graph=graph.graph, __networkx_cache__={}, _node=dicts.node, _adj=dicts.adj)
    if dicts.pred is not None:
        other.__dict__.update(_succ=dicts.adj, _pred=dicts.pred)
    return other


def materialise(graph: Graph) -> None:
    """Fill in the dicts of a graph.

    Weights that were not read before are read from these dicts from now on.
    """
    structure = graph.__dict__[LAZY]
    dicts = structure.source.dicts(structure)
    structure.source = NetworkxSource(dicts, structure.multigraph)
    graph.__dict__.update(_node=dicts.node, _adj=dicts.adj)
    if structure.directed:
        graph.__dict__.update(_succ=dicts.adj, _pred=dicts.pred)
    del graph.__dict__[LAZY]


def structure_of(graph: Graph) -> Structure:
    """Return the structure of a graph, kept until the graph changes."""
    if (unread := graph.__dict__.get(LAZY)) is not None:
        return unread
    cache = None if hasattr(graph, "_graph") else graph.__networkx_cache__  # not for a view, which may change
    if cache is not None and KEPT in cache:
        return cache[KEPT]
    pred = graph._pred if graph.is_directed() else None
    structure = structure_of_dicts(Dicts(graph._node, graph._adj, pred), graph.is_multigraph())
    if cache is not None:
        cache[KEPT] = structure
    return structure


def from_networkx(graph: Graph) -> Value:
    """Return a graph of the backend with the nodes, edges and attributes of a NetworkX graph."""
    cache = getattr(graph, "__networkx_cache__", None) or {}
    for other in cache.get("backends", {}).get(BACKEND, {}).values():
        if isinstance(other, Unread) and LAZY in other.__dict__:  # converted before, for other weights
            return graph_over(other.__dict__[LAZY], graph.graph)
    pred = graph._pred if graph.is_directed() else None
    structure = structure_of_dicts(Dicts(graph._node, graph._adj, pred), graph.is_multigraph())
    return graph_over(structure, graph.graph)


def to_networkx(graph: Graph) -> Value:
    """Return an ordinary NetworkX graph that shares nothing with a graph of the backend."""
    structure = structure_of(graph)
    dicts = structure.source.dicts(structure)
    _, kind = CLASSES[structure.directed, structure.multigraph]
    plain = kind()
    plain.graph.update(graph.graph)
    plain._node, plain._adj = dicts.node, dicts.adj
    if structure.directed:
        plain._pred = dicts.pred
    return plain
