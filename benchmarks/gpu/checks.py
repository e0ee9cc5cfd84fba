"""Validation of timed searches, by Graph500's five rules and by pylibcugraph's distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.harness import Row, verdict
from rapids_trav.graph import Graph
from rapids_trav.graph500 import validate

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Contender, Lab


class Checker:
    """Checks searches of one graph, and counts the edges that they traversed.

    Attributes
    ----------
    edges : dict
        By root, the input tuples inside its component: duplicates and self-loops count, each once.  In a
        directed graph, the tuples whose source was reached.
    levels : dict
        By root, the greatest distance.
    faults : list of str
        Faults found, with their roots.
    """

    def __init__(self, lab: Lab, graph: Graph, edges: Any) -> None:
        self._lab = lab
        self._directed = graph.directed
        self._src, self._dst = lab.ends(edges)
        self._n_labels = graphs.n_labels(self._src, self._dst)
        every = lab.xp.arange(graph.n_vertices)
        self._labels = lab.xp.asarray(graph.ids.decode(every)[0])
        self._n_labels = max(self._n_labels, int(self._labels.max()) + 1)
        self.edges: dict[int, int] = {}
        self.levels: dict[int, int] = {}
        self.checked = 0
        self.faults: list[str] = []

    def __call__(self, root: int, found: Any) -> None:
        """Check a `Search`; the rules do not apply to a directed graph, whose searches are only counted."""
        device, n = self._lab.device, self._n_labels
        parent = device.to_labels(self._labels, found.predecessor, root, n)
        self.edges[root] = sum(device.component_edges(parent, src) for src in graphs.parts(self._src))
        self.levels[root] = int(found.distance.max())
        if self._directed:
            return
        level = self._lab.xp.full(n, -1, np.int32)
        level[self._labels] = found.distance
        verdict = validate(parent, root, self._src, self._dst, level)
        self.checked += 1
        if not verdict.valid:
            self.faults.append(f"root {root}: {verdict}")

    def restart(self) -> None:
        """Discard the faults, for another contender on the same graph."""
        self.checked, self.faults = 0, []

    def traversed(self, roots: Sequence[int]) -> list[int]:
        return [self.edges[root] for root in roots]

    def verdict(self) -> Row:
        return verdict(self.checked, self.faults)


class Agreement:
    """Compares pylibcugraph's distances with this package's from the same root."""

    def __init__(self, ours: Contender, xp: Any) -> None:
        self._ours = ours
        self._xp = xp
        self.checked = 0
        self.faults: list[str] = []

    def __call__(self, root: int, result: tuple[Any, Any, Any]) -> None:
        distance = self._ours.run(self._ours.prepare(root)).distance
        self.checked += 1
        if not same_distances(self._xp, distance, result):
            self.faults.append(f"root {root}: other distances than rapids_trav")

    def verdict(self) -> Row:
        return verdict(self.checked, self.faults)


def same_distances(xp: Any, ours: Any, theirs: tuple[Any, Any, Any]) -> bool:
    """Return whether pylibcugraph's (distances, predecessors, vertices) agree with our distances."""
    distance, _, vertices = theirs
    return len(ours) == len(distance) and bool((ours[vertices] == reached(xp, distance)).all())


def same_answers(ours: Any, theirs: Any) -> bool:
    """Return whether the frame of `graph.bfs` and that of `cugraph.bfs` hold the same distances."""
    theirs = theirs.sort_values("vertex")
    if len(ours) != len(theirs):
        return False
    distance = theirs["distance"]
    distance = distance.where(distance != np.iinfo(distance.dtype).max, -1).to_numpy()
    same_vertices = bool((ours["vertex"].to_numpy() == theirs["vertex"].to_numpy()).all())
    return same_vertices and bool((ours["distance"].fillna(-1).to_numpy() == distance).all())


def reached(xp: Any, distance: Any) -> Any:
    """Return pylibcugraph's distances with -1 for unreached vertices, its mark being the largest integer."""
    return xp.where(distance == np.iinfo(distance.dtype).max, -1, distance)
