"""The graph that algorithms see, the engine that it lies on, and work on the values of all its vertices."""

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
from rapids_trav.storage.interface import Storage

Counted: TypeAlias = tuple[Array, Array, Array]  # of each level: distance, vertices, running total


class VertexValues(Protocol):
    """Work on the values of all vertices: the only way in which algorithms touch each vertex of a graph.

    Values stand in the order of internal ids.  Where they are spread over several ranks, an array has those
    of one rank, each rank asks for the same, and places are counted from the first that is here.
    """

    @property
    def spread(self) -> bool:
        """Whether the values are on several ranks."""

    @property
    def n(self) -> int:
        """Number of vertices."""

    @property
    def n_here(self) -> int:
        """Number of vertices whose values are here in the caller's order."""

    @property
    def dtype(self) -> DType:
        """Type of internal ids."""

    def filled(self, value: float, dtype: npt.DTypeLike) -> Array:
        """Return this value for each vertex."""

    def flags(self, vertices: Array | None = None) -> Array:
        """Return a flag for each vertex: true for these, or for all."""

    def places(self, dtype: npt.DTypeLike) -> Array:
        """Return the place of each vertex in the caller's order."""

    def in_order(self, values: Array) -> Array:
        """Return values, whose last axis is that of the vertices, in the caller's order."""

    def placed(self, values: Array) -> Array:
        """Return values that come in the caller's order in that of internal ids."""

    def at(self, places: Array | None = None) -> Array:
        """Return the vertices at these places of the caller's order, or all in it."""

    def chosen(self, flags: Array) -> Array:
        """Return the vertices whose flag is true, in the caller's order."""

    def reached(self, distance: Array) -> tuple[Array, Array]:
        """Return the places of the vertices with a distance that is not negative, ascending, and those."""

    def picked(self, values: Array, vertices: Array) -> Array:
        """Return the values, whose last axis is that of the vertices, of these."""

    def most(self, values: Array) -> int:
        """Return the largest of the values of all vertices."""

    def count_levels(self, distance: Array, n_bins: int, at_once: int) -> Counted:
        """Return the levels of one search, (n,), of whose vertices so many are counted `at_once`.

        Distances are below ``n_bins - 1``; -1 stands for the unreached, which come last.
        """

    def count_many_levels(self, distance: Array, n_bins: int) -> tuple[Array, Counted]:
        """Return the levels of each of k searches, (k, n), and the search that each level is of."""

    def walk(self, predecessor: Array, searches: Array, targets: Array) -> tuple[Array, Array]:
        """Return the lengths of the paths to targets that are reached, and their vertices, concatenated.

        The predecessors, (k, n), are those of k searches; each target comes with its search.
        """


class Collector(Protocol):
    """Rows of an answer, which come in batches; `result_rows.Rows` is one."""

    @property
    def together(self) -> bool:
        """Whether the rows are one frame."""

    @property
    def n_rows(self) -> int:
        """Rows so far."""

    def add(self, columns: dict[str, Column], n_rows: int) -> None:
        """Take the columns of the next rows, which must not be used elsewhere."""

    def frame(self) -> Frame:
        """Return a frame of all rows."""


class TraversableGraph(Protocol):
    """Ids, edges and frames of one graph."""

    directed: bool
    n_edges: int
    weight: Hashable | None

    @property
    def ids(self) -> IdMap:
        """The vertex ids."""

    @property
    def rows(self) -> RowReader:
        """The way back to the edges."""

    @property
    def storage(self) -> Storage:
        """Where the edges lie."""

    @property
    def budget(self) -> Budget | None:
        """The memory limit, or None."""

    @property
    def engine(self) -> Engine:
        """Where searches and programs run."""

    @property
    def frame_library(self) -> str:
        """Name of the library of the caller's frames."""

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""

    @property
    def values(self) -> VertexValues:
        """Work on the values of all vertices."""

    def id_columns(self, name: str, internal: Array | None = None, nulls: bool = False) -> dict[str, Column]:
        """Return the caller's ids of internal ones (None: of all) as columns called `name`."""

    def vertex_columns(self, name: str, places: Array | None = None) -> dict[str, Column]:
        """Return the caller's ids at places (None: all that are here) as columns called `name`."""

    def collector(self, n_rows: int | None) -> Collector:
        """Return what collects the rows of an answer, so many if that is known."""

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame of the caller's library."""

    def hand_out(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame for the caller: under cudf.pandas a proxy."""

    def deliver(self, frame: Frame) -> Frame:
        """Return a result as the kind of frame that the edges came in."""
