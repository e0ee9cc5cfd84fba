"""The graph that algorithms see, the engine that it lies on, and work on the values of all its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import ModuleType
from typing import Protocol

import numpy.typing as npt

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.interface import (
    BfsOptions,
    Place,
    Processor,
    Search,
    View,
    WholeAnswers,
)
from rapids_trav.engines.runs import GatherView, Run, RunOptions
from rapids_trav.frames.columns import Frame
from rapids_trav.ids.maps import Column, IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory


class AskedEngine(Protocol):
    """What algorithms ask of an engine; `rapids_trav.engines` has those that there are.

    Attributes
    ----------
    name : str
        For messages.
    xp : module
        NumPy or CuPy: its arrays are the engine's.
    place : {"host", "device"}
        Where they lie.
    processor : {"cpu", "gpu"}
    variants : tuple of str
        Names of its searches.
    gathers : tuple of str
        Ways in which it gathers for a vertex program.
    prefers_asynchronous : bool
        Whether programs run faster that use new values in the iteration that makes them.
    answers : WholeAnswers or None
        Its own way to the columns of whole answers, if it has one.
    """

    @property
    def name(self) -> str: ...

    @property
    def xp(self) -> ModuleType: ...

    @property
    def place(self) -> Place: ...

    @property
    def processor(self) -> Processor: ...

    @property
    def variants(self) -> tuple[str, ...]: ...

    @property
    def gathers(self) -> tuple[str, ...]: ...

    @property
    def prefers_asynchronous(self) -> bool: ...

    @property
    def answers(self) -> WholeAnswers | None: ...

    def bfs(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from all `sources` at once: distance (n,), predecessor (n,)."""

    def bfs_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k `sources`: distance (k, n), predecessor (k, n)."""

    def smallest_predecessors(self, into: Adjacency, distance: Array, order: Array | None = None) -> Array:
        """Return the smallest predecessor of each vertex, by `order` if it is given."""

    def tight_predecessors(self, into: Adjacency, weights: Array, distance: Array, unreached: float) -> Array:
        """Return the smallest nearer vertex that explains each distance by weight; -1 for none."""

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return the lengths of the paths to the targets, and their vertices, concatenated."""

    def run(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program from `state` until it ends."""

    def run_hybrid(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate it on the CPU and the GPU together; of an engine on a GPU alone."""


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

    def count_levels(self, distance: Array, n_bins: int) -> tuple[Array, Array, Array, Array]:
        """Return search, distance, vertices and running total for each distance in each of k searches.

        `distance` is (k, n), with distances below ``n_bins - 1``; -1 for the unreached, who come last.
        """

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return the lengths of the paths to the targets, and their vertices, concatenated."""


class TraversableGraph(Protocol):
    """Ids, edges and frames of one graph; `Graph` is one."""

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
    def engine(self) -> AskedEngine:
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
