"""Edges as paths, and which paths depend on which.

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: An Efficient Dependency-Aware
GPU-Accelerated Large-Scale Graph Processing", ACM TACO 18(4), 2021 (SYSTEMS L2, L3).  A path hands a value on
over all of its edges in one pass, where a row hands it on over one.  In place of a row offset for each vertex
and a column for each edge there are E + P vertices for P paths of E edges, and where each path begins: less
than compressed rows if paths are long, and nearly twice that if each is one edge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rapids_trav.csr.adjacency import EdgeList
from rapids_trav.utilities.sizes import readable

OFFSET_BYTES = 8  # of a row of the adjacency


@dataclass(frozen=True)
class PathLayout:
    """The edges of an adjacency, each in one path; `engines.cpu.path_decomposition` makes it.

    Attributes
    ----------
    vertices : vertex array, (n_edges + n_paths,)
        The vertices of all paths, one path after another (the paper's `EIdx`).  Two that follow each other in
        a path are an edge; the last of a path and the first of the next are none.
    starts : int32 array, (n_paths + 1,)
        Where each path begins in `vertices`, and their number (`PathTable`); int64 from 2^31 of them on.
    weights : array, (n_edges,), or None
        The weight of each edge, in the order of the paths (`Eval`): that of the edge which `vertices[i]`
        begins, in path `p`, is `weights[i - p]`.
    n_vertices : int
        Of the graph: the length of its values by vertex (`Vval`).
    relaxed : int
        Edges up to which a path goes on through vertices to which several edges lead; 0: it ends at the
        first of them.
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
        """Edges of a path, on average; 0 without paths."""
        return self.n_edges / self.n_paths if self.n_paths else 0.0

    @cached_property
    def single(self) -> float:
        """Share of the paths that are one edge; 0 without paths."""
        return float(np.mean(np.diff(self.starts) == 2)) if self.n_paths else 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(part.nbytes for part in (self.vertices, self.starts, self.weights) if part is not None)

    @property
    def rows_nbytes(self) -> int:
        """Bytes of the same edges in compressed rows: an offset for each row, a column for each edge."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return OFFSET_BYTES * (self.n_vertices + 1) + self.vertices.itemsize * self.n_edges + weights

    @property
    def ratio(self) -> float:
        """Its bytes over those of compressed rows, weights aside: below one it is the smaller."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return (self.nbytes - weights) / (self.rows_nbytes - weights)

    def __str__(self) -> str:
        kind = f"Paths of up to {self.relaxed:,} edges" if self.relaxed else "Strict paths"
        return (
            f"{kind}: {self.n_paths:,} for {self.n_edges:,} edges, {self.mean_length:.2f} edges long on "
            f"average, {self.single:.1%} of them single; {readable(self.nbytes)}, {self.ratio:.2f} times the "
            f"bytes of compressed rows."
        )

    def edges(self) -> EdgeList:
        """Return the edges one by one, in the order of the paths."""
        return EdgeList(self.vertices[self._leading], np.delete(self.vertices, self.starts[:-1]))

    def state_of(self, values: np.ndarray) -> np.ndarray:
        """Return a copy of its vertex's value for each entry of `vertices` (`Sval`)."""
        return values[self.vertices]

    def merge(self, state: np.ndarray, values: np.ndarray, reduce: Callable) -> None:
        """Bring copies back into the values by vertex, those of a vertex reduced (SYSTEMS L11).

        Parameters
        ----------
        state : array, (n_edges + n_paths,)
        values : array, (n_vertices,)
            Changed in place.
        reduce : NumPy ufunc of two arguments
            For which the order does not matter, such as `numpy.minimum`.
        """
        reduce.at(values, self.vertices, state)  # type: ignore[attr-defined]

    def active_paths(self, active: np.ndarray) -> np.ndarray:
        """Return which paths may have work, now or later, if these vertices are active (SYSTEMS L3).

        Those that hold an active vertex, and those that depend on one of them, directly or not.  Of strict
        paths q depends on p if q begins at a vertex of p.  Relaxed ones meet inside: q depends on p if it
        holds a vertex of p before its last.

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
            held = self.vertices[_concatenated(self.starts[new], self.starts[new + 1])]
            held = np.unique(held[~reached[held]])
            reached[held] = True
            new = np.unique(readers[_concatenated(of_vertex[held], of_vertex[held + 1])])
            new = new[~found[new]]
        return found

    @cached_property
    def _path_of(self) -> np.ndarray:
        """The path of each entry of `vertices`."""
        return np.repeat(np.arange(self.n_paths), np.diff(self.starts))

    @cached_property
    def _leading(self) -> np.ndarray:
        """Entries of `vertices` at which an edge begins: all but the last of each path."""
        return np.delete(np.arange(len(self.vertices)), self.starts[1:] - 1)

    @cached_property
    def _readers(self) -> tuple[np.ndarray, np.ndarray]:
        """Paths that depend on a change of each vertex, and where those of a vertex begin among them."""
        entries = self._leading if self.relaxed else self.starts[:-1]
        vertices = self.vertices[entries]
        counts = np.bincount(vertices, minlength=self.n_vertices)
        return self._path_of[entries[np.argsort(vertices, kind="stable")]], np.cumsum(np.r_[0, counts])


def _concatenated(begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The integers of several ranges, one range after another."""
    lengths = ends.astype(np.int64) - begins
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(begins - before, lengths)
