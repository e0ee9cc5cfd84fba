"""Connected components: `networkx.algorithms.components`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import networkx as nx
import numpy as np

from rapids_trav.backends.discovery import discover
from rapids_trav.backends.dispatch import NEVER, ONE_SEARCH, Function, dispatched
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.structure import Graph, Node, Structure, Value
from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.components import components
from rapids_trav.engines.runs import LinkView, RunOptions


def _labels(structure: Structure) -> Array:
    """Return for each vertex the first vertex of its component."""
    rows = Adjacency(*structure.rows)
    return components(LinkView(rows, None if structure.directed else rows), None, RunOptions()).values


def _components(G: Graph) -> Iterator[set[Node]]:
    structure = structure_of(G)
    labels = _labels(structure)
    members = np.argsort(labels, kind="stable")
    names, begins = structure.named(members), np.flatnonzero(np.diff(labels[members], prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(names)]):
        yield set(names[begin:end])


def _number(G: Graph) -> int:
    labels = _labels(structure_of(G))
    return int(np.count_nonzero(labels == np.arange(len(labels))))


def _is_connected(G: Graph) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((_labels(structure_of(G)) == 0).all())


def _both(name: str, body: Callable) -> Iterator[Function]:
    """Return NetworkX's function of undirected graphs and that of directed ones, which have one body."""
    return (Function(body, ONE_SEARCH, name=name.format(weakly)) for weakly in ("", "weakly_"))


connected_components, weakly_connected_components = _both("{}connected_components", _components)
number_connected_components, number_weakly_connected_components = _both(
    "number_{}connected_components", _number
)
is_connected, is_weakly_connected = _both("is_{}connected", _is_connected)


@dispatched(least=NEVER)
def node_connected_component(G: Graph, n: Value) -> set[Node]:
    structure = structure_of(G)
    start = structure.find(n)
    if start is None:
        raise KeyError(n)
    return set(structure.named(discover(structure, [start]).order))
