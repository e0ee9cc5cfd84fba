"""The graph that algorithms see, the engine that it lies on, and work on the values of all its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Protocol, TypeAlias

import numpy.typing as npt

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.ids.maps import Column, IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory

Counted: TypeAlias = tuple[Array, Array, Array]  # of each level: distance, vertices, running total


class VertexValues(Protocol):
    """Work on the values of all vertices: the only way in which algorithms touch each vertex of a graph.

    Values stand in the order of internal ids.  Where they are spread over several devices, another class does
    the same.
    """

    @property
    def n(self) -> int:
        """Number of vertices."""

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

    def count_levels(self, distance: Array, n_bins: int, at_once: int) -> Counted:
        """Return the levels of one search, (n,), of whose vertices so many are counted `at_once`.

        Distances are below ``n_bins - 1``; -1 stands for the unreached, which come last.
        """

    def count_many_levels(self, distance: Array, n_bins: int) -> tuple[Array, Counted]:
        """Return the levels of each of k searches, (k, n), and the search that each level is of."""

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return the lengths of the paths to the targets, and their vertices, concatenated."""


class TraversableGraph(Protocol):
    """Ids, edges and frames of one graph."""

    directed: bool
    ids: IdMap
    n_edges: int
    rows: RowReader
    storage: InMemory
    weight: Hashable | None

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

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame of the caller's library."""

    def hand_out(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame for the caller: under cudf.pandas a proxy."""

    def deliver(self, frame: Frame) -> Frame:
        """Return a result as the kind of frame that the edges came in."""
