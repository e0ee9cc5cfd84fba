"""The few types that storage, engines and algorithms hand to each other.

Arrays are NumPy arrays on the CPU engine and CuPy arrays on the CUDA engine.  Vertices are dense internal
ids, 0 to n-1 in ascending order of the caller's ids; -1 stands for "none".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

Array = Any


@dataclass(frozen=True)
class Adjacency:
    """Compressed sparse rows: the neighbours of `v` are `column_indices[row_offsets[v]:row_offsets[v + 1]]`.

    Each row is in ascending order.  The same type holds CSR (rows are sources) and CSC (rows are
    destinations).  The CUDA engine keeps the first neighbour of each row apart
    as well: -1 if the row is empty, -2 - u if u is alone in it.
    """

    row_offsets: Array
    column_indices: Array
    first_neighbors: Array | None = None

    @property
    def n_vertices(self) -> int:
        return len(self.row_offsets) - 1

    @property
    def n_edges(self) -> int:
        return len(self.column_indices)

    @property
    def nbytes(self) -> int:
        apart = 0 if self.first_neighbors is None else self.first_neighbors.nbytes
        return self.row_offsets.nbytes + self.column_indices.nbytes + apart


@dataclass(frozen=True)
class EdgeList:
    """Coordinate form: edge `i` goes from `src[i]` to `dst[i]`."""

    src: Array
    dst: Array

    @property
    def nbytes(self) -> int:
        return self.src.nbytes + self.dst.nbytes


class View(Protocol):
    """One way of reading a graph (a direction, perhaps filtered); each form is built when first asked for."""

    @property
    def n_vertices(self) -> int:
        """Vertices, of which some may have no edge here."""

    @property
    def out(self) -> Adjacency:
        """Edges to follow: row `u` holds the vertices that `u` leads to."""

    @property
    def into(self) -> Adjacency:
        """The transpose: row `v` holds the vertices that lead to `v`; the same object if symmetric."""

    @property
    def coo(self) -> EdgeList:
        """The edges to follow, one by one."""


@dataclass(frozen=True)
class BfsOptions:
    """What an engine needs to know of a question, in internal ids."""

    variant: str = "auto"
    policy: str = "gap"
    depth_limit: int | None = None
    targets: Array | None = None
    predecessors: bool = True
    trace: bool = False


@dataclass(frozen=True)
class LevelTrace:
    """What one level of a search did.

    Attributes
    ----------
    level : int
        Distance that the level gave out; the sources are level 0.
    direction : str
        "push" (top-down) or "pull" (bottom-up).
    frontier : int
        Vertices in the frontier that the level expanded.
    edges : int
        Edges examined; -1 where the variant does not count them.
    bytes : int
        Estimated bytes of graph and state that those edges moved.
    milliseconds : float
        Time, with the host's overhead for the level.
    """

    level: int
    direction: str
    frontier: int
    edges: int
    bytes: int
    milliseconds: float


@dataclass(frozen=True)
class Search:
    """Distances and predecessors by internal id.

    Attributes
    ----------
    distance : int32 array, (n,) or (k, n)
        -1 where unreached.
    predecessor : vertex array of the same shape, or None
        -1 at sources and where unreached.
    trace : list of LevelTrace
        Empty unless asked for.
    """

    distance: Array
    predecessor: Array | None = None
    trace: list[LevelTrace] = field(default_factory=list)
