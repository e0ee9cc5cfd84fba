"""Decomposition of the edges into paths, and the dependencies between paths.

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: An Efficient Dependency-Aware
GPU-Accelerated Large-Scale Graph Processing", ACM TACO 18(4), 2021 (docs/systems.md, L2 and L3).  One pass
over a path propagates a value along all of its edges; one pass over a row propagates it along one edge.
Compressed rows store an offset for each vertex and a column for each edge.  P paths of E edges in all store
E + P vertices and the start of each path.  That is less than compressed rows if paths are long, and nearly
twice as much if every path is a single edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rapids_trav.csr.adjacency import EdgeList
from rapids_trav.csr.array import ranges
from rapids_trav.utilities.sizes import readable

OFFSET_BYTES = 8  # for each row of the adjacency


@dataclass(frozen=True)
class PathLayout:
    """Decomposition of an adjacency into paths, each edge in exactly one path.

    `engines.cpu.path_decomposition` computes it.

    Attributes
    ----------
    vertices : vertex array, (n_edges + n_paths,)
        The vertices of all paths, one path after another (the paper's `EIdx`).  Two consecutive vertices of a
        path are an edge.  The last vertex of a path and the first of the next are not.
    starts : int32 array, (n_paths + 1,)
        Index in `vertices` of the first vertex of each path, then the length of `vertices` (`PathTable`);
        int64 if that length is 2^31 or more.
    weights : array, (n_edges,), or None
        Weights of the edges in path order (`Eval`).  The edge of path `p` that starts at `vertices[i]` has
        the weight `weights[i - p]`.
    n_vertices : int
        Vertices of the graph, which is the length of an array of vertex values (`Vval`).
    relaxed : int
        Largest number of edges of a path that continues through vertices of in-degree above one.  0 stands
        for strict paths, which end at the first such vertex.
    """

    vertices: np.ndarray
    starts: np.ndarray
    weights: np.ndarray | None
    n_vertices: int
    relaxed: int = 0

    @property
    def n_paths(self) -> int:
        return len(self.starts) - 1

    @property
    def n_edges(self) -> int:
        return len(self.vertices) - self.n_paths

    @property
    def mean_length(self) -> float:
        """Mean number of edges of a path; 0 without paths."""
        return self.n_edges / self.n_paths if self.n_paths else 0.0

    @cached_property
    def single(self) -> float:
        """Share of the paths that are a single edge; 0 without paths."""
        return float(np.mean(np.diff(self.starts) == 2)) if self.n_paths else 0.0

    @property
    def parts(self) -> list[np.ndarray]:
        """The arrays."""
        return [part for part in (self.vertices, self.starts, self.weights) if part is not None]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(part.nbytes for part in self.parts)

    @property
    def rows_nbytes(self) -> int:
        """Bytes of the edges as compressed rows: an offset for each row, a column for each edge, weights."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return OFFSET_BYTES * (self.n_vertices + 1) + self.vertices.itemsize * self.n_edges + weights

    @property
    def ratio(self) -> float:
        """Bytes relative to compressed rows, without weights; below one, paths are smaller."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return (self.nbytes - weights) / (self.rows_nbytes - weights)

    def __str__(self) -> str:
        kind = f"Paths of up to {self.relaxed:,} edges" if self.relaxed else "Strict paths"
        return (
            f"{kind}: {self.n_paths:,} for {self.n_edges:,} edges, {self.mean_length:.2f} edges long on "
            f"average, {self.single:.1%} of them single; {readable(self.nbytes)}, {self.ratio:.2f} times the "
            f"bytes of compressed rows."
        )

    def kept(self, keep: Callable[[np.ndarray], np.ndarray]) -> PathLayout:
        """Return the layout over the arrays that `keep` returns for its own, which become read-only."""

        def fixed(array: np.ndarray) -> np.ndarray:
            view = keep(array).view()
            view.flags.writeable = False
            return view

        weights = None if self.weights is None else fixed(self.weights)
        return replace(self, vertices=fixed(self.vertices), starts=fixed(self.starts), weights=weights)

    def edges(self) -> EdgeList:
        """Return the edges in coordinate form, in path order."""
        return EdgeList(self.vertices[self._leading], np.delete(self.vertices, self.starts[:-1]))

    def state_of(self, values: np.ndarray) -> np.ndarray:
        """Return the value of the vertex at each entry of `vertices`, as a copy (`Sval`)."""
        return values[self.vertices]

    def merge(self, state: np.ndarray, values: np.ndarray, reduce: Callable) -> None:
        """Reduce the copies of each vertex's value into the values by vertex (docs/systems.md, L11).

        `state` are the copies, as `state_of` returns them; `values`, (n_vertices,), are changed in place.
        The result of `reduce`, a ufunc of two arguments, must not depend on the order of application.
        """
        reduce.at(values, self.vertices, state)  # type: ignore[attr-defined]

    def active_paths(self, active: np.ndarray) -> np.ndarray:
        """Return a mask of the paths that may have work, now or later, if these vertices are active.

        These are the paths that contain an active vertex, and all that depend on them, directly or not
        (docs/systems.md, L3).  A strict path q depends on p if q starts at a vertex of p.  Relaxed paths may
        also meet in the middle: q depends on p if any vertex of q but its last is a vertex of p.

        Parameters
        ----------
        active : bool array, (n_vertices,)

        Returns
        -------
        bool array, (n_paths,)
        """
        found = np.zeros(self.n_paths, bool)
        reached = np.zeros(self.n_vertices, bool)
        new = np.unique(self._path_of[active[self.vertices]])
        readers, of_vertex = self._readers
        while len(new):
            found[new] = True
            held = self.vertices[ranges(self.starts[new], self.starts[new + 1] - self.starts[new])]
            held = np.unique(held[~reached[held]])
            reached[held] = True
            new = np.unique(readers[ranges(of_vertex[held], of_vertex[held + 1] - of_vertex[held])])
            new = new[~found[new]]
        return found

    @cached_property
    def _path_of(self) -> np.ndarray:
        """Number of the path of each entry of `vertices`."""
        return np.repeat(np.arange(self.n_paths), np.diff(self.starts))

    @cached_property
    def _leading(self) -> np.ndarray:
        """Indices of the entries of `vertices` at which an edge starts: all but the last of each path."""
        return np.delete(np.arange(len(self.vertices)), self.starts[1:] - 1)

    @cached_property
    def _readers(self) -> tuple[np.ndarray, np.ndarray]:
        """Paths that depend on each vertex, grouped by vertex, and the offset of each vertex's group."""
        entries = self._leading if self.relaxed else self.starts[:-1]
        vertices = self.vertices[entries]
        counts = np.bincount(vertices, minlength=self.n_vertices)
        return self._path_of[entries[np.argsort(vertices, kind="stable")]], np.cumsum(np.r_[0, counts])
