"""Shortest paths by weight: the Dijkstra family of `networkx.algorithms.shortest_paths.weighted`.

E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1, 1959.

The queue is a heap of (distance, number of the push, vertex): of equal distances the one pushed first is
settled first, as in NetworkX, and a vertex keeps the predecessor that first gave it its distance.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import networkx as nx
import numpy as np

from rapids_trav.backends.discovery import bound_refusal
from rapids_trav.backends.dispatch import BY_WEIGHT, EVERY_SOURCE, Function, dispatched
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.structure import Arguments, Graph, Node, Structure, Value, Weights
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.runtime.intrinsics import load
from rapids_trav.jit.kernels import aside, kernel

Lengths = dict[Node, Value]
Paths = dict[Node, list[Node]]
_bound = bound_refusal("cutoff")
BY_HEAP = 8  # times as long as a search by a queue, about


def _refuse(arguments: Arguments) -> str | None:
    if callable(arguments["weight"]):
        return "the weight is a function"
    return _bound(arguments) if "cutoff" in arguments else None


def weights_of(structure: Structure, weight: Value) -> Weights:
    """Return the weight of each column; 1 if no attribute is given."""
    return structure.weights(weight) or Weights(np.ones(len(structure.rows.columns), np.int64))


@dataclass(frozen=True)
class Settled:
    """Vertices in the order in which they were settled, with their distances and predecessors.

    `whole` says which columns of the structure's rows have a weight that is an integer, if only some have.
    """

    structure: Structure
    n_sources: int
    order: Array
    distance: Array
    predecessor: Array
    whole: Array | None

    def lengths(self) -> Lengths:
        values: list = self.distance.tolist()
        values[: self.n_sources] = [0] * self.n_sources
        for place in self._integers():
            values[place] = int(values[place])
        return dict(zip(self.structure.named(self.order), values, strict=True))

    def last_length(self) -> Value:
        """Return the distance of the vertex settled last, which is not a source."""
        value = self.distance[-1].item()
        return int(value) if len(self.order) - 1 in self._integers() else value

    def _integers(self) -> list[int]:
        """Return the positions in `order` whose distance is a sum of integers among other weights."""
        if self.whole is None:
            return []
        offsets, columns = self.structure.rows
        rows = np.repeat(np.arange(self.structure.n), np.diff(offsets))
        in_tree = self.predecessor[columns] == rows
        by_integer = np.zeros(self.structure.n, bool)
        by_integer[columns[in_tree]] = self.whole[in_tree]
        for v, parent in zip(self.order.tolist(), self.predecessor[self.order].tolist(), strict=True):
            by_integer[v] = parent < 0 or (by_integer[v] and by_integer[parent])
        return np.flatnonzero(by_integer[self.order]).tolist()

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


@kernel
def _dijkstra(offsets, columns, weights, sources, target, cutoff, has_cutoff, stop):
    """Return the vertices in the order of settling, the distance of each and the predecessor of every vertex.

    The search ends when `target` (if not -1) is settled.  No vertices are returned if an edge gives a settled
    vertex a shorter distance, since a weight is then negative.
    """
    n = len(offsets) - 1
    settled = np.zeros(n, np.uint8)
    seen = np.zeros(n, np.uint8)
    best = np.zeros(n, weights.dtype)
    pred = np.full(n, -1, columns.dtype)
    order = np.empty(n, columns.dtype)
    distance = np.empty(n, weights.dtype)
    queue = [(best[v], i, v) for i, v in enumerate(sources)]  # equal keys in order of numbers form a heap
    for v in sources:
        seen[v] = 1
    pushed, found = len(sources), 0
    while len(queue) > 0 and load(stop, 0) == 0:  # type: ignore[call-arg]  # an intrinsic of Numba
        d, _, v = heapq.heappop(queue)
        if settled[v]:
            continue
        settled[v] = 1
        order[found], distance[found] = v, d
        found += 1
        if v == target:
            break
        for e in range(offsets[v], offsets[v + 1]):
            u = columns[e]
            along = d + weights[e]
            if has_cutoff and along > cutoff:
                continue
            if settled[u]:
                if along < best[u]:
                    return order[:0], distance[:0], pred
            elif not seen[u] or along < best[u]:
                seen[u] = 1
                best[u] = along
                pred[u] = v
                heapq.heappush(queue, (along, pushed, np.int64(u)))
                pushed += 1
    return order[:found], distance[:found], pred


def _settle(
    structure: Structure, sources: Iterable[int], weights: Weights, cutoff: Value = None, target: int = -1
) -> Settled:
    starts = np.array(list(sources), np.int64)
    bound = math.inf if cutoff is None else cutoff
    work = structure.n + len(weights.values)
    order, distance, predecessor = aside(
        BY_HEAP * work, _dijkstra, *structure.rows, weights.values, starts, target, bound, cutoff is not None
    )
    if not len(order):
        raise ValueError("Contradictory paths found:", "negative weights?")
    if distance[: len(starts)].any():
        raise NotImplementedError("a negative weight leads to a vertex before all sources are settled")
    return Settled(structure, len(starts), order, distance, predecessor, weights.whole)


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
    return settled.last_length(), settled.path_to(end)


@dispatched(least=BY_WEIGHT, refuse=_refuse)
def single_source_dijkstra(
    G: Graph, source: Value, target: Value = None, cutoff: Value = None, weight: Value = "weight"
) -> tuple[Value, Value]:
    return multi_source_dijkstra.body(G, {source}, target, cutoff, weight)


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
    return settled.last_length()


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


def _family(what: str, answer: Callable[[Settled], Value]) -> Iterator[Function]:
    """Return NetworkX's functions that give this answer from several sources, from one and from each node."""

    def multi_source(G: Graph, sources: Value, cutoff: Value = None, weight: Value = "weight") -> Value:
        structure, starts = _started(G, sources)
        return answer(_settle(structure, starts, weights_of(structure, weight), cutoff))

    def single_source(G: Graph, source: Value, cutoff: Value = None, weight: Value = "weight") -> Value:
        return multi_source(G, {source}, cutoff, weight)

    def all_pairs(G: Graph, cutoff: Value = None, weight: Value = "weight") -> Value:
        return _from_each(G, cutoff, weight, answer)

    for body, least in ((multi_source, BY_WEIGHT), (single_source, BY_WEIGHT), (all_pairs, EVERY_SOURCE)):
        yield Function(body, least, _refuse, name=f"{body.__name__}_dijkstra_{what}")


multi_source_dijkstra_path, single_source_dijkstra_path, all_pairs_dijkstra_path = _family(
    "path", Settled.paths
)
multi_source_dijkstra_path_length, single_source_dijkstra_path_length, all_pairs_dijkstra_path_length = (
    _family("path_length", Settled.lengths)
)
