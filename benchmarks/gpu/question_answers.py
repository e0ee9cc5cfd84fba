"""Answers of small questions, derived from the distances that another variant of the search finds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

OTHER_VARIANT = "push"
NONE = -1  # in place of null
RANKS_ERROR = 1e-9  # by which the sum of ranks may differ from 1


class Expected:
    """Expected answers about one root; each method returns whether an answer is right."""

    def __init__(self, lab: Lab, graph: Graph, edges: Any, root: int) -> None:
        self._xp, self._root, self._directed = lab.xp, root, graph.directed
        self._src, self._dst = lab.ends(edges)
        frame = graph.bfs(root, variant=OTHER_VARIANT, predecessors=False)
        self._vertices, self._distance = values(frame, "vertex"), values(frame, "distance")
        self._by_id = np.full(graphs.n_labels(self._src, self._dst), NONE, np.int32)
        self._by_id[self._vertices] = self._distance

    def distances(self, found: Any) -> bool:
        """Check the distances of all vertices."""
        return _same(values(found, "vertex"), self._vertices) and _same(
            values(found, "distance"), self._distance
        )

    def reached(self, found: Any) -> bool:
        """Check the distances of the vertices that are reached, and that there are no others."""
        reached = self._distance != NONE
        return _same(values(found, "vertex"), self._vertices[reached]) and _same(
            values(found, "distance"), self._distance[reached]
        )

    def distances_of(self, found: Any, targets: list[int]) -> bool:
        """Check the distances of the targets."""
        places = np.searchsorted(self._vertices, targets)
        return _same(values(found, "distance")[places], self._by_id[targets])

    def least_predecessors(self, found: Any) -> bool:
        """Check that the predecessor is the least of the neighbours that are one step nearer."""
        least = self._least[self._xp.asarray(self._vertices)]
        return bool((least == self._xp.asarray(values(found, "predecessor"))).all())

    @cached_property
    def _least(self) -> Any:
        """The least predecessor of each id, on the device of the edges."""
        xp, distance = self._xp, self._xp.asarray(self._by_id)
        beyond = np.iinfo(np.int32).max
        least = xp.full(len(distance), beyond, np.int32)
        both = [(self._src, self._dst)] + ([] if self._directed else [(self._dst, self._src)])
        for sources, targets in both:
            nearer = (distance[sources] != NONE) & (distance[targets] == distance[sources] + 1)
            xp.minimum.at(least, targets[nearer], sources[nearer])
        return xp.where(least == beyond, NONE, least)

    def levels(self, found: Any) -> bool:
        """Check the number of vertices at each distance, and of those that are not reached."""
        reached = self._distance != NONE
        counts = np.bincount(self._distance[reached])
        distances, missed = np.arange(len(counts)), np.count_nonzero(~reached)
        if missed:
            distances, counts = np.append(distances, NONE), np.append(counts, missed)
        return _same(values(found, "distance"), distances) and _same(values(found, "vertices"), counts)

    def paths(self, found: Any, targets: list[int]) -> bool:
        """Check that each path has the length of the distance, and that its steps are at theirs."""
        target, step, vertex = (values(found, name) for name in ("target", "step", "vertex"))
        for one in set(targets):
            steps, vertices = step[target == one], vertex[target == one]
            if self._by_id[one] == NONE:
                whole = _same(steps, [NONE])
            else:
                whole = _same(steps, np.arange(self._by_id[one] + 1)) and vertices[-1] == one
                whole = whole and _same(self._by_id[vertices], steps)
            if not whole:
                return False
        return True

    def neighborhood(self, found: Any) -> bool:
        """Check the vertices within one step, and the number of edges between them."""
        near = (self._distance >= 0) & (self._distance <= 1)
        inside = self._xp.zeros(len(self._by_id), bool)
        inside[self._xp.asarray(self._vertices[near])] = True
        n_edges = int((inside[self._src] & inside[self._dst]).sum())
        return _same(values(found.vertices, "vertex"), self._vertices[near]) and len(found.edges) == n_edges

    def component(self, found: Any) -> bool:
        """Check that the component of the root is what the root reaches, where edges have no direction."""
        if self._directed:
            return True
        vertices, component = values(found, "vertex"), values(found, "component")
        own = component[np.searchsorted(vertices, self._root)]
        return _same(vertices[component == own], self._vertices[self._distance != NONE])

    def ranks(self, found: Any) -> bool:
        """Check that there is a positive rank for each vertex and that they sum to 1."""
        ranks = values(found, "pagerank")
        whole = abs(float(ranks.sum()) - 1) <= RANKS_ERROR
        return whole and bool((ranks > 0).all()) and _same(values(found, "vertex"), self._vertices)


def values(frame: Any, column: str) -> np.ndarray:
    """Return a column on the host, with -1 for nulls."""
    return frame[column].fillna(NONE).to_numpy()


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other))
