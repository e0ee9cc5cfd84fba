"""Shortest paths by the number of edges: `networkx.algorithms.shortest_paths.unweighted`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import networkx as nx
import numpy as np

from rapids_trav.backends.discovery import Discovery, bound_refusal, discover, levels_within
from rapids_trav.backends.dispatch import EVERY_SOURCE, NEVER, ONE_SEARCH, Function, dispatched
from rapids_trav.backends.graphs import structure_of
from rapids_trav.backends.structure import Graph, Node, Structure, Value
from rapids_trav.jit.kernels import kernel

NONE, ROOT = -1, -2  # as a predecessor


def located(structure: Structure, node: object, what: str, verb: str = "is not") -> int:
    """Return the number of a node, or raise NetworkX's error if the graph does not have it."""
    found = structure.find(node)
    if found is None:
        raise nx.NodeNotFound(f"{what} {node} {verb} in G")
    return found


def lengths_of(structure: Structure, found: Discovery) -> dict[Node, int]:
    """Return distances by node, in the order of the search."""
    return dict(zip(structure.named(found.order), found.distance.tolist(), strict=True))


def paths_of(structure: Structure, found: Discovery) -> dict[Node, list[Node]]:
    """Return the path in the search tree to each node, in the order of the search."""
    names = structure.named(found.order)
    paths: list[list[Node]] = []
    for name, parent in zip(names, found.parent.tolist(), strict=True):
        paths.append([name] if parent < 0 else [*paths[parent], name])
    return dict(zip(names, paths, strict=True))


def _family(
    what: str, verb: str, answer: Callable[[Structure, Discovery], dict[Node, Value]]
) -> Iterator[Function]:
    """Return NetworkX's functions that give this answer from one node and from each."""

    def single_source(G: Graph, source: Value, cutoff: Value = None) -> dict[Node, Value]:
        structure = structure_of(G)
        start = located(structure, source, "Source", verb)
        return answer(structure, discover(structure, [start], levels_within(cutoff, structure.n)))

    def all_pairs(G: Graph, cutoff: Value = None) -> Iterator[tuple[Node, dict[Node, Value]]]:
        structure = structure_of(G)
        limit = levels_within(cutoff, structure.n)
        for start, node in enumerate(structure.nodes):
            yield node, answer(structure, discover(structure, [start], limit))

    for body, least in ((single_source, ONE_SEARCH), (all_pairs, EVERY_SOURCE)):
        yield Function(body, least, bound_refusal("cutoff"), name=f"{body.__name__}_{what}")


single_source_shortest_path, all_pairs_shortest_path = _family("shortest_path", "not", paths_of)
single_source_shortest_path_length, all_pairs_shortest_path_length = _family(
    "shortest_path_length", "is not", lengths_of
)


@dispatched(least=NEVER)
def bidirectional_shortest_path(G: Graph, source: Value, target: Value) -> list[Node]:
    structure = structure_of(G)
    ends = located(structure, source, "Source"), located(structure, target, "Target")
    path = path_between(structure, *ends)
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return structure.named(np.array(path))


@kernel
def _advance(offsets, columns, fringe, head, end, seen, others):
    """Extend a fringe by a level; return a vertex that the other side knows or NONE, and the new end."""
    tail = end
    for i in range(head, end):
        v = fringe[i]
        for e in range(offsets[v], offsets[v + 1]):
            w = columns[e]
            if seen[w] == NONE:
                seen[w] = v
                fringe[tail] = w
                tail += 1
            if others[w] != NONE:
                return w, tail
    return NONE, tail


@kernel
def _meet(offsets, columns, in_offsets, in_columns, source, target, pred, succ, forward, reverse):
    """Return the vertex where the searches from both ends meet, NONE if there is none.

    I. Pohl, "Bi-directional search", Machine Intelligence 6, 1971, with the choices of NetworkX: the smaller
    fringe advances, one level at a time, and the searches meet at the first vertex that both sides know.

    `pred` and `succ` are filled with NONE at entry and lead from that vertex to the ends.  `forward` and
    `reverse` are buffers for the vertices of each side.
    """
    pred[source] = ROOT
    succ[target] = ROOT
    forward[0] = source
    reverse[0] = target
    head, tail, r_head, r_tail = 0, 1, 0, 1
    met = source if source == target else NONE
    while met == NONE and head < tail and r_head < r_tail:
        if tail - head <= r_tail - r_head:
            begin, head = head, tail
            met, tail = _advance(offsets, columns, forward, begin, tail, pred, succ)
        else:
            begin, r_head = r_head, r_tail
            met, r_tail = _advance(in_offsets, in_columns, reverse, begin, r_tail, succ, pred)
    return met


def path_between(structure: Structure, source: int, target: int) -> list[int] | None:
    """Return the vertices of the path that NetworkX finds, or None if there is none."""
    rows, into = structure.read(reverse=False)
    pred, succ = (np.full(structure.n, NONE, rows.columns.dtype) for _ in range(2))
    forward, reverse = (np.empty(structure.n, rows.columns.dtype) for _ in range(2))
    middle = int(_meet(*rows, *into, source, target, pred, succ, forward, reverse))
    if middle == NONE:
        return None
    path = []
    v = middle
    while v >= 0:
        path.append(v)
        v = int(pred[v])
    path.reverse()
    v = int(succ[middle])
    while v >= 0:
        path.append(v)
        v = int(succ[v])
    return path
