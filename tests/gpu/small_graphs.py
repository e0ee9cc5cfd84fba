"""Small graphs, their views on an engine, and an oracle that uses NumPy and SciPy only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

# The textbook's graph of nine vertices and fifteen edges.
NINE_OFFSETS = np.array([0, 2, 4, 7, 9, 11, 12, 13, 15, 15])
NINE_COLUMNS = np.array([1, 2, 3, 4, 5, 6, 7, 4, 8, 5, 8, 6, 8, 0, 6])
NINE_FROM_0 = [0, 1, 1, 2, 2, 2, 2, 2, 3]
NINE_FROM_2 = [2, 3, 0, 4, 4, 1, 1, 1, 2]


@dataclass(frozen=True)
class Graph:
    """A graph with edges u -> v over the vertices 0 to n-1, in both directions if symmetric."""

    n: int
    u: np.ndarray
    v: np.ndarray
    symmetric: bool = False

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges to follow: mirrored if symmetric, with each self-loop once."""
        if not self.symmetric:
            return self.u, self.v
        once = self.u != self.v
        return np.concatenate([self.u, self.v[once]]), np.concatenate([self.v, self.u[once]])

    def distance(self, sources) -> np.ndarray:
        """Return SciPy's distances from the nearest source; -1 where unreached."""
        u, v = self.edges
        matrix = coo_matrix((np.ones(len(u)), (u, v)), (self.n, self.n)).tocsr()
        exact = dijkstra(matrix, unweighted=True, indices=list(sources), min_only=True)
        return np.where(np.isinf(exact), -1, exact).astype(np.int32)

    def rows(self, transpose: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return row_offsets and column_indices, with ascending columns in each row."""
        u, v = self.edges
        rows, columns = (v, u) if transpose else (u, v)
        order = np.lexsort((columns, rows))
        return np.searchsorted(rows[order], np.arange(self.n + 1)), columns[order]


class GraphView:
    """The graph as an engine sees it; each form is built at its first use."""

    def __init__(self, graph: Graph, engine, n_chunks: int = 1) -> None:
        self.n_vertices = graph.n
        self._graph, self._engine, self._n_chunks = graph, engine, n_chunks

    def chunks(self):
        parts = np.array_split(np.arange(len(self._graph.u)), self._n_chunks)
        asarray = self._engine.xp.asarray
        return ((asarray(self._graph.u[part]), asarray(self._graph.v[part])) for part in parts)

    @cached_property
    def out(self):
        return self._engine.build_adjacency(self.chunks, self.n_vertices, symmetric=self._graph.symmetric)

    @cached_property
    def into(self):
        if self._graph.symmetric:
            return self.out
        return self._engine.build_adjacency(self.chunks, self.n_vertices, transpose=True)

    @cached_property
    def coo(self):
        return self._engine.expand_rows(self.out)


def nine() -> Graph:
    return Graph(9, np.repeat(np.arange(9), np.diff(NINE_OFFSETS)), NINE_COLUMNS)


def star(leaves: int) -> Graph:
    """Return a star: the hub 0 and its leaves."""
    return Graph(leaves + 1, np.zeros(leaves, np.int64), np.arange(1, leaves + 1), symmetric=True)


def path(n: int) -> Graph:
    return Graph(n, np.arange(n - 1), np.arange(1, n), symmetric=True)


def grid(side: int) -> Graph:
    vertex = np.arange(side * side).reshape(side, side)
    u = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    v = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    return Graph(side * side, u, v, symmetric=True)


def random(n: int, n_edges: int, symmetric: bool, seed: int = 0) -> Graph:
    """Return a random graph with self-loops and multi-edges.

    Both degree distributions are skewed, but differently, so that CSR and CSC differ.
    """
    generator = np.random.default_rng(seed)
    u = (n * generator.random(n_edges) ** 2).astype(np.int64)
    v = (n * generator.random(n_edges) ** 3).astype(np.int64)
    return Graph(n, u, v, symmetric)


GRAPHS = {
    "nine": nine(),
    "star": star(3000),
    "path": path(40),
    "grid": grid(23),
    "directed": random(700, 2000, symmetric=False),
    "undirected": random(700, 2000, symmetric=True),
    "dense": random(300, 20000, symmetric=False),
    "loops": Graph(4, np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), symmetric=True),
    "multi": Graph(4, np.array([0, 0, 0, 1, 1]), np.array([1, 1, 1, 2, 2]), symmetric=False),
    "one": Graph(1, np.empty(0, np.int64), np.empty(0, np.int64)),
    "no edges": Graph(5, np.empty(0, np.int64), np.empty(0, np.int64)),
}


def by_degree(graph: Graph) -> Graph:
    """Return a symmetric graph with its vertices renumbered in descending order of degree."""
    degree = np.diff(graph.rows()[0])
    rank = np.empty(graph.n, np.int64)
    rank[np.argsort(-degree, kind="stable")] = np.arange(graph.n)
    return Graph(graph.n, rank[graph.u], rank[graph.v], graph.symmetric)


def serial_checks(graph: Graph, distance: np.ndarray, level: int) -> tuple[int, int]:
    """Count the in-edges of the vertices that are unreached before `level`.

    The first count stops in each row at the first edge from the level before; the second counts all edges.
    """
    offsets, columns = graph.rows(transpose=True)
    hit = np.append(np.flatnonzero(distance[columns] == level - 1), len(columns))
    first_hit = hit[np.searchsorted(hit, offsets[:-1])]
    unreached = (distance < 0) | (distance >= level)
    checks = np.minimum(first_hit + 1, offsets[1:]) - offsets[:-1]
    return int(checks[unreached].sum()), int(np.diff(offsets)[unreached].sum())


def check_tree(graph: Graph, sources, distance: np.ndarray, predecessor: np.ndarray) -> None:
    """Check that parents are one level up and joined by an edge; sources and unreached vertices have none."""
    rootless = distance <= 0
    assert np.all(predecessor[rootless] == -1)
    assert set(np.flatnonzero(distance == 0)) == set(sources)
    child = np.flatnonzero(~rootless)
    parent = predecessor[child].astype(np.int64)
    assert np.all(parent >= 0)
    assert np.all(distance[parent] == distance[child] - 1)
    u, v = graph.edges
    assert np.all(np.isin(parent * graph.n + child, u * graph.n + v))
