"""The libraries that run in this process: SciPy, igraph and NetworKit.

A rival has a method for each query that it can answer, which yields contestants for a graph.  The graph
in the library's own form, including multi-edges and self-loops, is made beforehand and not timed.
Queries: `bfs`, `sssp`, `each`, `components`, `pagerank`.  Timed is the call with its own return value:
SciPy's order and predecessors, igraph's lists, NetworKit's `run()` without fetching the distances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol

import numpy as np

from benchmarks.cpu.answers import ALPHA, MAX_ITER, TOL, same_counts, same_parts, same_ranks, unreached
from benchmarks.cpu.contest import Contestant
from benchmarks.cpu.inputs import Data

MOST_LISTS = 8  # for igraph, which makes a Python list of distances for each source


class Rival(Protocol):
    """A library, or a program, that answers some of the queries."""

    @property
    def name(self) -> str:
        """Name of the rival in messages."""

    @property
    def versions(self) -> dict[str, str]:
        """Versions that the packages of this environment do not list, once it is available."""

    def absent(self) -> str | None:
        """Return the reason why it has no rows here, or None."""


def ask(rivals: Sequence[Rival], question: str, data: Data, **how: Any) -> Iterator[Contestant]:
    """Yield the contestants of all rivals that answer a query."""
    for rival in rivals:
        if offer := getattr(rival, question, None):
            yield from offer(data, **how)


class _Library:
    name: str
    versions: ClassVar[dict[str, str]] = {}

    def absent(self) -> str | None:
        return None if find_spec(self.name) else "not installed"


class SciPy(_Library):
    name = "scipy"

    def matrix(self, data: Data) -> Any:
        """Return our adjacency as a SciPy matrix, in the types that its searches take without copying."""
        from scipy.sparse import csr_array

        def make() -> Any:
            offsets, columns, weights = data.matrix
            offsets = offsets.astype(np.int32) if len(columns) < 2**31 else offsets
            values = np.ones(len(columns)) if weights is None else weights.astype(np.float64)
            return csr_array((values, columns, offsets), shape=(data.n, data.n))

        return data.converted("scipy", make)

    def bfs(self, data: Data) -> Iterator[Contestant]:
        from scipy.sparse import csgraph

        matrix = self.matrix(data)
        yield Contestant(
            "scipy breadth_first_order", lambda root: csgraph.breadth_first_order(matrix, root), depths
        )

    def each(self, data: Data, number: int) -> Iterator[Contestant]:
        from scipy.sparse import csgraph

        matrix = self.matrix(data)
        yield Contestant(
            "scipy, one after another",
            lambda roots: [csgraph.breadth_first_order(matrix, root) for root in roots],
            lambda found: np.stack([depths(one) for one in found]),
        )

    def sssp(self, data: Data, root: int) -> Iterator[Contestant]:
        from scipy.sparse import csgraph

        matrix = self.matrix(data)
        yield Contestant(
            "scipy dijkstra",
            lambda root: csgraph.dijkstra(matrix, indices=root, return_predecessors=True),
            lambda found: found[0],
            predecessors=True,
        )
        yield Contestant(
            "scipy dijkstra, distances", lambda root: csgraph.dijkstra(matrix, indices=root), np.asarray
        )

    def components(self, data: Data) -> Iterator[Contestant]:
        from scipy.sparse import csgraph

        matrix = self.matrix(data)
        yield Contestant(
            "scipy connected_components",
            lambda _: csgraph.connected_components(matrix, directed=False),
            lambda found: found[1],
            same=same_parts,
        )

    def pagerank(self, data: Data) -> Iterator[Contestant]:
        matrix = self.matrix(data)
        degrees = np.diff(matrix.indptr)

        def iterate(_: Any) -> np.ndarray:
            """Run a power iteration, as NetworkX does with SciPy; the adjacency is symmetric."""
            share = np.divide(ALPHA, degrees, out=np.zeros(data.n), where=degrees > 0)
            dangling, rank = degrees == 0, np.full(data.n, 1 / data.n)
            for _ in range(MAX_ITER):
                lost = ALPHA * rank[dangling].sum() + 1 - ALPHA
                new = matrix @ (rank * share) + lost / data.n
                change, rank = np.abs(new - rank).sum(), new
                if change < TOL:
                    break
            return rank

        yield Contestant("scipy, power iteration", iterate, lambda found: found, same=same_ranks)


def depths(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the distances that SciPy's order and predecessors imply, level by level."""
    order, predecessor = found
    distance = np.full(len(predecessor), -1, np.int32)
    distance[order[0]] = 0
    place = np.empty(len(predecessor), np.int64)
    place[order] = np.arange(len(order))
    above = place[predecessor[order[1:]]]  # ascending, since a queue is first in, first out
    first, end, level = 0, 1, 0
    while end < len(order):
        first, end = end, 1 + int(np.searchsorted(above, end))
        level += 1
        distance[order[first:end]] = level
    return distance


class Igraph(_Library):
    name = "igraph"

    def graph(self, data: Data) -> Any:
        import igraph

        def make() -> Any:
            edges = np.stack([data.src, data.dst], 1).astype(np.int64)
            graph = igraph.Graph(n=data.n, edges=edges, directed=data.directed)
            if data.weight is not None:
                graph.es["weight"] = data.weight.tolist()
            return graph

        return data.converted("igraph", make)

    def bfs(self, data: Data) -> Iterator[Contestant]:
        graph = self.graph(data)
        yield Contestant(
            "igraph distances", lambda root: graph.distances(root), lambda found: unreached(found[0])
        )
        yield Contestant("igraph bfs", graph.bfs, lambda found: np.diff(found[1]), same=same_counts)

    def each(self, data: Data, number: int) -> Iterator[Contestant]:
        if number > MOST_LISTS:
            return
        graph = self.graph(data)
        yield Contestant(
            "igraph distances", graph.distances, lambda found: np.stack([unreached(one) for one in found])
        )

    def sssp(self, data: Data, root: int) -> Iterator[Contestant]:
        graph = self.graph(data)
        yield Contestant(
            "igraph distances", lambda root: graph.distances(root, weights="weight"), lambda found: found[0]
        )

    def components(self, data: Data) -> Iterator[Contestant]:
        graph = self.graph(data)
        yield Contestant(
            "igraph connected_components",
            lambda _: graph.connected_components(mode="weak"),
            lambda found: np.array(found.membership),
            same=same_parts,
        )

    def pagerank(self, data: Data) -> Iterator[Contestant]:
        graph = self.graph(data)
        yield Contestant(
            "igraph pagerank", lambda _: graph.pagerank(damping=ALPHA), np.array, same=same_ranks
        )


class Networkit(_Library):
    name = "networkit"

    def graph(self, data: Data) -> Any:
        import networkit

        def make() -> Any:
            ends = data.src.astype(np.uint64), data.dst.astype(np.uint64)
            weighted = data.weight is not None
            edges = (data.weight.astype(np.float64), ends) if data.weight is not None else ends
            return networkit.GraphFromCoo(edges, n=data.n, weighted=weighted, directed=data.directed)

        return data.converted("networkit", make)

    def bfs(self, data: Data) -> Iterator[Contestant]:
        import networkit

        graph = self.graph(data)
        for paths in (True, False):
            yield Contestant(
                f"networkit BFS, {'with' if paths else 'without'} paths",
                lambda root, paths=paths: networkit.distance.BFS(graph, root, paths).run(),
                lambda found: unreached(found.getDistances()),
            )

    def each(self, data: Data, number: int) -> Iterator[Contestant]:
        import networkit

        graph = self.graph(data)
        yield Contestant(
            "networkit SPSP",
            lambda roots: networkit.distance.SPSP(graph, list(roots)).run(),
            lambda found: np.stack([unreached(one) for one in found.getDistances()]),
        )

    def sssp(self, data: Data, root: int) -> Iterator[Contestant]:
        import networkit

        graph = self.graph(data)
        for paths in (True, False):
            yield Contestant(
                f"networkit Dijkstra, {'with' if paths else 'without'} paths",
                lambda root, paths=paths: networkit.distance.Dijkstra(graph, root, paths).run(),
                lambda found: _infinite(found.getDistances()),
                predecessors=paths,
            )

    def components(self, data: Data) -> Iterator[Contestant]:
        import networkit

        graph = self.graph(data)
        for name in ("ConnectedComponents", "ParallelConnectedComponents"):
            make = getattr(networkit.components, name)
            yield Contestant(
                f"networkit {name}",
                lambda _, make=make: make(graph).run(),
                lambda found: np.array([found.componentOfNode(v) for v in range(data.n)]),
                same=same_parts,
            )

    def pagerank(self, data: Data) -> Iterator[Contestant]:
        import networkit

        graph, centrality = self.graph(data), networkit.centrality

        def run(_: Any) -> Any:
            algorithm = centrality.PageRank(graph, damp=ALPHA, tol=TOL)
            algorithm.norm = centrality.Norm.L1_NORM
            return algorithm.run()

        yield Contestant("networkit PageRank", run, lambda found: np.array(found.scores()), same=same_ranks)


def _infinite(distances: list[float]) -> np.ndarray:
    """Replace the largest number, with which NetworKit marks unreached vertices, by infinity."""
    found = np.array(distances)
    return np.where(found == np.finfo(np.float64).max, np.inf, found)
