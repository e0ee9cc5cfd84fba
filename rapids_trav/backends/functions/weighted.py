"""Shortest paths by weight: the Dijkstra family of `networkx.algorithms.shortest_paths.weighted`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import networkx as nx
import numpy as np

from rapids_trav.backends.discovery import bound_refusal
from rapids_trav.backends.dispatch import BY_WEIGHT, EVERY_SOURCE, dispatched
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.kernels.dijkstra import dijkstra
from rapids_trav.backends.networkx_types import Arguments, Graph, Value
from rapids_trav.backends.structure import Node, Structure
from rapids_trav.csr.adjacency import Array

Lengths = dict[Node, Value]
Paths = dict[Node, list[Node]]
_bound = bound_refusal("cutoff")


def _refuse(arguments: Arguments) -> str | None:
    if callable(arguments["weight"]):
        return "the weight is a function"
    return _bound(arguments) if "cutoff" in arguments else None


def weights_of(structure: Structure, weight: Value) -> Array:
    """Return the weight of each column; 1 if no attribute is given."""
    weights = structure.weights(weight)
    return np.ones(len(structure.rows.columns), np.int64) if weights is None else weights


@dataclass(frozen=True)
class Settled:
    """Vertices in the order in which they were settled, with their distances and predecessors."""

    structure: Structure
    n_sources: int
    order: Array
    distance: Array
    predecessor: Array

    def lengths(self) -> Lengths:
        values: list = self.distance.tolist()
        values[: self.n_sources] = [0] * self.n_sources
        return dict(zip(self.structure.named(self.order), values, strict=True))

    def paths(self) -> Paths:
        names = self.structure.named(self.order)
        place = np.empty(self.structure.n, np.int64)
        place[self.order] = np.arange(len(self.order))
        parents = self.predecessor[self.order].tolist()
        where = place.tolist() if len(names) > self.structure.n // 8 else place
        paths: list[list[Node]] = []
        for name, parent in zip(names, parents, strict=True):
            paths.append([name] if parent < 0 else [*paths[where[parent]], name])
        return dict(zip(names, paths, strict=True))

    def path_to(self, v: int) -> list[Node]:
        path = [v]
        while (v := int(self.predecessor[v])) >= 0:
            path.append(v)
        return self.structure.named(np.array(path[::-1]))


def _settle(
    structure: Structure, sources: Iterable[int], weights: Array, cutoff: Value = None, target: int = -1
) -> Settled:
    starts = np.array(list(sources), np.int64)
    bound = math.inf if cutoff is None else cutoff
    done = dijkstra(*structure.rows, weights, starts, target, bound, cutoff is not None)
    if not len(done[0]):
        raise ValueError("Contradictory paths found:", "negative weights?")
    return Settled(structure, len(starts), *done)


def _started(G: Graph, sources: Value) -> tuple[Structure, list[int]]:
    if not sources:
        raise ValueError("sources must not be empty")
    structure = structure_of(G)
    starts = dict.fromkeys(_found(structure, source) for source in sources)
    return structure, list(starts)


def _found(structure: Structure, node: object) -> int:
    if (found := structure.find(node)) is None:
        raise nx.NodeNotFound(f"Node {node} not found in graph")
    return found


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def multi_source_dijkstra(
    G: Graph, sources: Value, target: Value = None, cutoff: Value = None, weight: Value = "weight"
) -> tuple[Value, Value]:
    structure, starts = _started(G, sources)
    if target in sources:
        return 0, [target]
    end = -1 if target is None else structure.find(target)
    weights = weights_of(structure, weight)
    settled = _settle(structure, starts, weights, cutoff, -1 if end is None else end)
    if target is None:
        return settled.lengths(), settled.paths()
    if end is None or settled.order[-1] != end:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return settled.distance[-1].item(), settled.path_to(end)


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def multi_source_dijkstra_path(
    G: Graph, sources: Value, cutoff: Value = None, weight: Value = "weight"
) -> Paths:
    structure, starts = _started(G, sources)
    return _settle(structure, starts, weights_of(structure, weight), cutoff).paths()


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def multi_source_dijkstra_path_length(
    G: Graph, sources: Value, cutoff: Value = None, weight: Value = "weight"
) -> Lengths:
    structure, starts = _started(G, sources)
    return _settle(structure, starts, weights_of(structure, weight), cutoff).lengths()


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def single_source_dijkstra(
    G: Graph, source: Value, target: Value = None, cutoff: Value = None, weight: Value = "weight"
) -> tuple[Value, Value]:
    return multi_source_dijkstra.body(G, {source}, target, cutoff, weight)


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def single_source_dijkstra_path(
    G: Graph, source: Value, cutoff: Value = None, weight: Value = "weight"
) -> Paths:
    return multi_source_dijkstra_path.body(G, {source}, cutoff, weight)


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def single_source_dijkstra_path_length(
    G: Graph, source: Value, cutoff: Value = None, weight: Value = "weight"
) -> Lengths:
    return multi_source_dijkstra_path_length.body(G, {source}, cutoff, weight)


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def dijkstra_path(G: Graph, source: Value, target: Value, weight: Value = "weight") -> list[Node]:
    return multi_source_dijkstra.body(G, {source}, target, None, weight)[1]


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def dijkstra_path_length(G: Graph, source: Value, target: Value, weight: Value = "weight") -> Value:
    structure, starts = _started(G, {source})
    if source == target:
        return 0
    end = structure.find(target)
    settled = _settle(structure, starts, weights_of(structure, weight), None, -1 if end is None else end)
    if end is None or settled.order[-1] != end:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return settled.distance[-1].item()


def _from_each(
    G: Graph, cutoff: Value, weight: Value, answer: Callable[[Settled], Value]
) -> Iterator[tuple[Node, Value]]:
    """Return an iterator over each node and `answer` for the search from it.

    Weights are read before the first search.
    """
    structure = structure_of(G)
    weights = weights_of(structure, weight)
    return (
        (node, answer(_settle(structure, [start], weights, cutoff)))
        for start, node in enumerate(structure.nodes)
    )


@dispatched(least=EVERY_SOURCE, refuse=_refuse)
def all_pairs_dijkstra(
    G: Graph, cutoff: Value = None, weight: Value = "weight"
) -> Iterator[tuple[Node, tuple[Lengths, Paths]]]:
    return _from_each(G, cutoff, weight, lambda settled: (settled.lengths(), settled.paths()))


@dispatched(least=EVERY_SOURCE, refuse=_refuse)
def all_pairs_dijkstra_path(
    G: Graph, cutoff: Value = None, weight: Value = "weight"
) -> Iterator[tuple[Node, Paths]]:
    return _from_each(G, cutoff, weight, Settled.paths)


@dispatched(least=EVERY_SOURCE, refuse=_refuse)
def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: Value = None, weight: Value = "weight"
) -> Iterator[tuple[Node, Lengths]]:
    return _from_each(G, cutoff, weight, Settled.lengths)
