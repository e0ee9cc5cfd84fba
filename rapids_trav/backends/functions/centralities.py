"""Centralities and distance measures: `networkx.algorithms.centrality` and `distance_measures`.

NetworkX searches from one node after another.  Here 64 searches share each access to an edge, and their
distances are added up as they are found; see `engines.cpu.bfs.distance_sums`.  Large graphs are searched on a
GPU, if there is one; see `backends.engines`.
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx
import numpy as np

from rapids_trav.algorithms.betweenness import scales
from rapids_trav.algorithms.closeness import closeness_of
from rapids_trav.backends.dispatch import EVERY_SOURCE, dispatched, equals_itself, networkx_version
from rapids_trav.backends.engines import RowsView
from rapids_trav.backends.functions.unweighted import located
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.structure import Arguments, Graph, Node, Structure, Value
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.searches import DistanceSums

SCALED_FROM = (3, 6)  # version of NetworkX from which on it scales samples as this module does


def unweighted(*others: str) -> Value:
    """Return a refusal of weights, and of other arguments that are neither None nor False."""

    def refuse(arguments: Arguments) -> str | None:
        given = [name for name in others if arguments[name] is not None and arguments[name] is not False]
        return f"{', '.join(given)} is given" if given else None

    return refuse


def _refuse_eccentricity(arguments: Arguments) -> str | None:
    if arguments["v"] is not None:  # False may be a node
        return "v is given"
    return unweighted("sp", "weight")(arguments)


def _sums_to_all(structure: Structure, *, backwards: bool = False) -> DistanceSums:
    """Add up, at each node, the distances from all nodes, or with `backwards` to all nodes."""
    view = RowsView.of(structure, structure.n, backwards=backwards)
    return view.distance_sums(np.arange(structure.n), "vertices")


def _sums_from(structure: Structure, nodes: Iterable[int], *, backwards: bool = False) -> DistanceSums:
    """Add up the distances from each of these nodes, or with `backwards` to each of them."""
    sources = np.fromiter(nodes, np.int64)
    return RowsView.of(structure, len(sources), backwards=backwards).distance_sums(sources, "sources")


def _by_node(structure: Structure, values: Array) -> dict[Node, Value]:
    return dict(zip(structure.nodes, values.tolist(), strict=True))


@dispatched(least=EVERY_SOURCE, refuse=unweighted("distance"))
def closeness_centrality(
    G: Graph, u: Value = None, distance: Value = None, wf_improved: bool = True
) -> dict[Node, float] | float:
    structure = structure_of(G)
    if u is None:
        return _by_node(structure, closeness_of(_sums_to_all(structure), structure.n, wf_improved, np))
    sums = _sums_from(structure, [located(structure, u, "Source")], backwards=True)
    return float(closeness_of(sums, structure.n, wf_improved, np)[0])


@dispatched(least=EVERY_SOURCE, refuse=unweighted("nbunch", "distance", "sources"))
def harmonic_centrality(
    G: Graph, nbunch: Value = None, distance: Value = None, sources: Value = None
) -> dict[Node, float]:
    structure = structure_of(G)
    found = _by_node(structure, _sums_to_all(structure).inverse)
    return {node: found[node] or 0 for node in set(structure.nodes)}  # NetworkX's order, and its integer 0


def _eccentricities(structure: Structure) -> Array:
    """Return the eccentricity of every node; raise NetworkX's error if one does not reach all others."""
    if structure.n == 0:
        raise NotImplementedError("the graph has no nodes, which versions of NetworkX treat differently")
    sums = _sums_to_all(structure, backwards=True)
    if bool((sums.reached < structure.n - 1).any()):
        if structure.directed:
            raise nx.NetworkXError("Found infinite path length because the digraph is not strongly connected")
        raise nx.NetworkXError("Found infinite path length because the graph is not connected")
    return sums.largest


@dispatched(least=EVERY_SOURCE, refuse=_refuse_eccentricity)
def eccentricity(G: Graph, v: Value = None, sp: Value = None, weight: Value = None) -> dict[Node, int]:
    structure = structure_of(G)
    return _by_node(structure, _eccentricities(structure))


@dispatched(least=EVERY_SOURCE, refuse=unweighted("e", "usebounds", "weight"))
def diameter(G: Graph, e: Value = None, usebounds: bool = False, weight: Value = None) -> int:
    structure = structure_of(G)
    return max(_eccentricities(structure).tolist())


@dispatched(least=EVERY_SOURCE, refuse=unweighted("weight", "method"))
def average_shortest_path_length(G: Graph, weight: Value = None, method: Value = None) -> float:
    structure = structure_of(G)
    n = structure.n
    if n == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    sums = _sums_to_all(structure)
    if bool((sums.reached < n - 1).any()):
        kind = "strongly connected" if structure.directed else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return int(sums.total.sum()) / (n * (n - 1))


def _refuse_betweenness(arguments: Arguments) -> str | None:
    if arguments["weight"] is not None:
        return "weight is given"
    if arguments["k"] is not None and networkx_version() < SCALED_FROM:
        return f"NetworkX {nx.__version__} scales samples in another way"
    return None


@dispatched(least=EVERY_SOURCE, refuse=_refuse_betweenness)
def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Value = None,
    endpoints: bool = False,
    seed: Value = None,
) -> dict[Node, float]:
    structure = structure_of(G)
    n = structure.n
    if not all(map(equals_itself, structure.nodes)):
        raise NotImplementedError("a node does not equal itself")
    if k is None or k == n:
        sources = np.arange(n)
    else:
        chosen = nx.utils.create_py_random_state(seed).sample(list(structure.nodes), k)
        sources = np.array([structure.find(node) for node in chosen], np.int64)
    if n == 0:
        return {}
    shares = RowsView.of(structure, len(sources)).path_shares(sources)
    if not bool(np.isfinite(shares.vertices).all()):
        raise NotImplementedError("there are more shortest paths than a float holds")
    score = shares.vertices + shares.reached if endpoints else shares.vertices
    others, own = scales(n, len(sources), normalized, structure.directed, endpoints)
    scale = np.full(n, others)
    scale[sources] = own
    return _by_node(structure, score * scale)
