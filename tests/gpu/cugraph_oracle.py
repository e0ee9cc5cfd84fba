"""cuGraph as an oracle: edges of several shapes, and cuGraph's answers by vertex.

Vertices are numbered from 0.  cuGraph receives the numbers; this package receives ids of several kinds, since
`cugraph.bfs` cannot fill the predecessors of strings.  In cuGraph's answer, the distance of an unreached
vertex is the largest number of the dtype.  A vertex without edges is in neither answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from rapids_trav import datasets, generators

UNREACHED = -1
RMAT_SEEDS = (1, 2, 3)
REAL = tuple(datasets.DIRECTED)


def edges_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the edges of a graph, int64."""
    if name.startswith("rmat"):
        frame = generators.rmat(12, seed=int(name.removeprefix("rmat")))
    elif name in REAL:
        frame = datasets.load(name)
    else:
        frame = {
            "grid": lambda: generators.grid(40, 40),
            "path": lambda: generators.path(300),
            "star": lambda: generators.star(3000),
            "disconnected": disconnected,
            "loops": loops,
        }[name]()
    return frame["src"].to_numpy().astype(np.int64), frame["dst"].to_numpy().astype(np.int64)


def disconnected() -> pd.DataFrame:
    """Return a graph of separate components: skewed graphs, a grid, a path, a star and single edges."""
    parts = [
        *(generators.rmat(8, seed=seed) for seed in RMAT_SEEDS),
        generators.grid(9, 11),
        generators.path(50),
        generators.star(70),
        *(generators.path(2) for _ in range(20)),
    ]
    begins = np.cumsum([0, *(1 + int(part.to_numpy().max()) for part in parts)])
    return pd.concat([part + begin for part, begin in zip(parts, begins[:-1], strict=True)])


def loops() -> pd.DataFrame:
    """Return edges with repetitions in both directions and self-loops; some vertices have nothing else."""
    rng = np.random.default_rng(11)
    u, v = rng.integers(0, 400, 900), rng.integers(0, 400, 900)
    own = np.arange(300, 450)
    src = np.concatenate([u, u, v[:300], own, own])
    return pd.DataFrame({"src": src, "dst": np.concatenate([v, v, u[:300], own, own])})


SHAPES = (*(f"rmat{seed}" for seed in RMAT_SEEDS), "grid", "path", "star", "disconnected", "loops")


@dataclass(frozen=True)
class Case:
    """A directed or undirected graph, with the questions that the tests ask cuGraph about it."""

    name: str
    directed: bool

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        return edges_of(self.name)

    @cached_property
    def n(self) -> int:
        """One more than the largest number of a vertex."""
        return 1 + int(max(map(np.max, self.edges)))

    @cached_property
    def vertices(self) -> np.ndarray:
        return np.unique(np.concatenate(self.edges))

    @cached_property
    def followed(self) -> tuple[np.ndarray, np.ndarray]:
        """Sources and targets of the edges, in every direction that can be followed; self-loops once."""
        u, v = self.edges
        if self.directed:
            return u, v
        once = u != v
        return np.concatenate([u, v[once]]), np.concatenate([v, u[once]])

    @cached_property
    def keys(self) -> np.ndarray:
        """Ascending keys, one for each pair (source, target) of an edge."""
        return np.unique(self.followed[0] * self.n + self.followed[1])

    def joined(self, parent: np.ndarray, child: np.ndarray) -> np.ndarray:
        """Return whether an edge leads from each parent to its child."""
        wanted = parent * self.n + child
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return self.keys[place] == wanted

    def frame(self, **columns: Any) -> Any:
        """Return the edges as a cuDF frame, int32, with additional columns."""
        import cudf

        u, v = (end.astype(np.int32) for end in self.edges)
        return cudf.DataFrame({"src": u, "dst": v, **columns})

    def graph(self, frame: Any = None, **options: Any) -> Any:
        """Return the edges as a cugraph.Graph."""
        import cugraph

        graph = cugraph.Graph(directed=self.directed)
        frame = self.frame() if frame is None else frame
        graph.from_cudf_edgelist(frame, source="src", destination="dst", **options)
        return graph

    @cached_property
    def _graph(self) -> Any:
        return self.graph()

    def bfs(self, sources: list[int], depth_limit: int | None = None) -> np.ndarray:
        """Return distances by vertex from cugraph.bfs; several sources must be in different components."""
        import cugraph

        start = sources[0] if len(sources) == 1 else sources
        found = cugraph.bfs(self._graph, start, depth_limit=depth_limit)
        return self.by_vertex(found["vertex"].to_numpy(), found["distance"].to_numpy())

    @cached_property
    def _handle(self) -> Any:
        import pylibcugraph

        return pylibcugraph.ResourceHandle()

    @cached_property
    def _bare_graph(self) -> Any:
        import cupy
        import pylibcugraph

        properties = pylibcugraph.GraphProperties(is_symmetric=not self.directed, is_multigraph=True)
        src, dst = (cupy.asarray(end, np.int32) for end in self.followed)
        return pylibcugraph.SGGraph(
            self._handle, properties, src, dst, weight_array=None, store_transposed=False, renumber=True,
            do_expensive_check=False, input_array_format="COO",
        )  # fmt: skip

    def bare_bfs(self, sources: list[int]) -> np.ndarray:
        """Return distances by vertex from pylibcugraph.bfs, direction-optimising if undirected."""
        import cupy
        import pylibcugraph

        start = cupy.asarray(sources, np.int32)  # a new array, since the call may write into it
        distance, _, vertex = pylibcugraph.bfs(
            self._handle, self._bare_graph, start, not self.directed, -1, True, False
        )
        return self.by_vertex(vertex.get(), distance.get())

    def by_vertex(self, vertex: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """Return distances indexed by vertex, (n,) int64 or float64; UNREACHED where there is none."""
        assert np.array_equal(np.sort(vertex), self.vertices)
        largest = np.iinfo(distance.dtype) if distance.dtype.kind in "iu" else np.finfo(distance.dtype)
        reached = distance != largest.max
        found = np.full(self.n, UNREACHED, np.int64 if distance.dtype.kind in "iu" else np.float64)
        found[vertex[reached]] = distance[reached]
        return found

    def sources(self, count: int) -> list[int]:
        """Return `count` vertices that have out-edges."""
        out = np.unique(self.followed[0])
        return out[np.linspace(0, len(out) - 1, count).astype(int)].tolist()


class Ids:
    """Conversion of vertex numbers to ids of one kind, and back."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def of(self, numbers: np.ndarray) -> Any:
        """Return the ids of vertices, as a column for this package."""
        if self.kind == "string":
            return [f"v{number:07}" for number in numbers.tolist()]
        if self.kind == "int64":
            return numbers * 10_000_000_019 - 5
        return numbers.astype(self.kind)

    def numbers(self, ids: list[Any]) -> np.ndarray:
        """Return the vertex numbers of ids, UNREACHED for None."""
        back = {"string": lambda text: int(text[1:]), "int64": lambda i: (i + 5) // 10_000_000_019}
        number = back.get(self.kind, int)
        return np.array([UNREACHED if i is None else number(i) for i in ids], np.int64)


def column(frame: Any, name: str) -> list[Any]:
    """Return a column of a result as a list, with None for null."""
    return frame[name].to_arrow().to_pylist()


def found_by_us(case: Case, ids: Ids, frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return our distances and predecessors by vertex, (n,); UNREACHED and -1 where there is none."""
    vertex = ids.numbers(column(frame, "vertex"))
    assert np.array_equal(vertex, case.vertices)  # ascending, and each once
    distance, predecessor = np.full((2, case.n), UNREACHED, np.int64)
    distance[vertex] = [UNREACHED if d is None else d for d in column(frame, "distance")]
    predecessor[vertex] = ids.numbers(column(frame, "predecessor"))
    return distance, predecessor


def check_tree(case: Case, sources: list[int], distance: np.ndarray, predecessor: np.ndarray) -> None:
    """Check that predecessors are one level up and joined by an edge; sources and unreached have none."""
    assert sorted(np.flatnonzero(distance == 0).tolist()) == sorted(sources)
    assert np.all(predecessor[distance <= 0] == -1)
    child = np.flatnonzero(distance > 0)
    parent = predecessor[child]
    assert np.all(parent >= 0)
    assert np.array_equal(distance[parent], distance[child] - 1)
    assert np.all(case.joined(parent, child))
