"""Interfaces that algorithms use: a graph, operations on the values of its vertices, collectors of rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Protocol, TypeAlias

import numpy.typing as npt

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import DType, Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.ids.maps import Column, IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory

Counted: TypeAlias = tuple[Array, Array, Array]  # for each level: distance, vertices, running total


class VertexValues(Protocol):
    """Operations on the values of all vertices; algorithms access the vertices of a graph only through it.

    Values are in the order of internal ids.  If the graph is distributed over several ranks, an array holds
    the values of one rank, all ranks call the same methods, and places are counted from the first on this
    rank.
    """

    @property
    def spread(self) -> bool:
        """Whether the values are distributed over several ranks."""

    @property
    def n(self) -> int:
        """Number of vertices."""

    @property
    def n_here(self) -> int:
        """Number of vertices whose values, in the caller's order, are on this rank."""

    @property
    def dtype(self) -> DType:
        """Type of internal ids."""

    def filled(self, value: float, dtype: npt.DTypeLike) -> Array:
        """Return an array with this value for each vertex."""

    def flags(self, vertices: Array | None = None) -> Array:
        """Return a flag for each vertex, true for the given vertices, or for all if None."""

    def places(self, dtype: npt.DTypeLike) -> Array:
        """Return the place of each vertex in the caller's order."""

    def in_order(self, values: Array) -> Array:
        """Reorder values, whose last axis is the vertices, from internal ids to the caller's order."""

    def both_in_order(self, values: Array, others: Array | None) -> tuple[Array, Array | None]:
        """Reorder two arrays of one shape as `in_order` does; None stays None."""

    def placed(self, values: Array) -> Array:
        """Reorder values from the caller's order to internal ids."""

    def at(self, places: Array | None = None) -> Array:
        """Return the vertices at these places of the caller's order, or all vertices in that order."""

    def chosen(self, flags: Array) -> Array:
        """Return the vertices whose flag is true, in the caller's order."""

    def reached(self, distance: Array) -> tuple[Array, Array]:
        """Return the places, ascending, of the vertices with distance 0 or more, and these distances."""

    def picked(self, values: Array, vertices: Array) -> Array:
        """Return the values of the given vertices; the last axis of `values` is the vertices."""

    def most(self, values: Array) -> int:
        """Return the largest of the values of all vertices."""

    def count_levels(self, distance: Array, n_bins: int, at_once: int) -> Counted:
        """Count the vertices of each level of one search, (n,), in parts of `at_once` vertices.

        Distances are below ``n_bins - 1``; -1 stands for the unreached, which are the last level.
        """

    def count_many_levels(self, distance: Array, n_bins: int) -> tuple[Array, Counted]:
        """Return the search of each level of k searches, (k, n), and the counts of the levels."""

    def walk(self, predecessor: Array, searches: Array, targets: Array) -> tuple[Array, Array]:
        """Return the lengths of the paths to reached targets, and the vertices of the paths, concatenated.

        `predecessor`, (k, n), has the predecessors of k searches; `searches` has the search of each target.
        """


class Collector(Protocol):
    """Collector of the rows of an answer, which come in batches; `result_rows.Rows` implements it."""

    @property
    def together(self) -> bool:
        """Whether all rows become one frame."""

    @property
    def n_rows(self) -> int:
        """Number of rows added so far."""

    def add(self, columns: dict[str, Column], n_rows: int) -> None:
        """Add the columns of the next rows; the caller must not use them afterwards."""

    def frame(self) -> Frame:
        """Return a frame of all rows."""


class TraversableGraph(Protocol):
    """A graph as algorithms see it: ids, edges, engine and frames."""

    directed: bool
    n_edges: int
    weight: Hashable | None

    @property
    def ids(self) -> IdMap:
        """The vertex ids."""

    @property
    def rows(self) -> RowReader:
        """Reader of the caller's edges."""

    @property
    def storage(self) -> InMemory:
        """Storage of the edges."""

    @property
    def budget(self) -> Budget | None:
        """The memory limit, or None."""

    @property
    def engine(self) -> Engine:
        """Engine that runs searches and programs."""

    @property
    def frame_library(self) -> str:
        """Name of the library of the caller's frames."""

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""

    @property
    def values(self) -> VertexValues:
        """Operations on the values of all vertices."""

    def id_columns(self, name: str, internal: Array | None = None, nulls: bool = False) -> dict[str, Column]:
        """Return the caller's ids of internal ids (None: of all vertices) as columns called `name`."""

    def vertex_columns(self, name: str, places: Array | None = None) -> dict[str, Column]:
        """Return the caller's ids at places (None: all on this rank) as columns called `name`."""

    def collector(self, n_rows: int | None) -> Collector:
        """Return a collector of the rows of an answer; `n_rows` is their number, or None if unknown."""

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame of the caller's library."""

    def hand_out(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame for the caller, which is a proxy under cudf.pandas."""

    def deliver(self, frame: Frame) -> Frame:
        """Convert a result to the kind of frame that the edges came in."""
