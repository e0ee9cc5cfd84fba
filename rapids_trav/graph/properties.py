"""Attributes of `Graph`, and the interface of the place where it lives and is asked (`Questions`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.results import LocalValues
from rapids_trav.engines.interface import Engine
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.graph.local import LocalGraph
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory


class Questions(Protocol):
    """Backend of `Graph`, which documents the queries and checks their options.

    Attributes
    ----------
    directed : bool
    weight : hashable or None
    n_edges : int
    build_times : dict of str to float
    """

    directed: bool
    weight: Hashable | None
    n_edges: int
    build_times: dict[str, float]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""

    @property
    def ends(self) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
        """Columns of the sources and of the destinations."""

    @property
    def edge_columns(self) -> list[Hashable]:
        """Columns of the edge list."""

    @property
    def frame_library(self) -> str:
        """Library of the caller's frames and of the answers."""

    @property
    def engine(self) -> Engine:
        """Engine that runs searches and programs."""

    @property
    def budget(self) -> Budget | None:
        """The memory limit, or None."""

    @property
    def location(self) -> str:
        """Engine and place of the graph, in words."""

    def ask(self, query: Callable[..., Any], *arguments: object) -> Any:
        """Answer a query, a function that takes a `TraversableGraph` first, or as its name is answered here.

        The last argument may hold its options.
        """

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        """Answer `Graph.bfs_stream`, whose searches run as the caller reads their answers."""

    def close(self) -> None:
        """Free the memory that the graph holds outside this object."""


class GraphProperties:
    """Base class of `Graph`, with the attributes that it reads from its `questions`."""

    questions: Questions

    @property
    def n_vertices(self) -> int:
        return self.questions.n_vertices

    @property
    def n_edges(self) -> int:
        return self.questions.n_edges

    @property
    def directed(self) -> bool:
        return self.questions.directed

    @property
    def weight(self) -> Hashable | None:
        return self.questions.weight

    @property
    def build_times(self) -> dict[str, float]:
        return self.questions.build_times

    @property
    def engine(self) -> Engine:
        return self.questions.engine

    @property
    def budget(self) -> Budget | None:
        """The memory limit, with the bytes in use and their peak; None without a limit."""
        return self.questions.budget

    @property
    def frame_library(self) -> str:
        """Name of the library of the answers: "pandas", "cudf", "polars" or "pyarrow"."""
        return self.questions.frame_library

    @property
    def edge_columns(self) -> list[Hashable]:
        """Columns of the edge list, each addressable by its name (`where`, `weight`, the edges of `khop`)."""
        return self.questions.edge_columns

    @property
    def contents(self) -> LocalGraph:
        """Ids and edges of a graph in this process, with the interface that algorithms use."""
        if not isinstance(self.questions, LocalGraph):
            raise TravError(
                f"The graph's ids and edges are not in this process ({self.questions.location}): ask its "
                f"questions, or compute the edges into this process and build the graph of them."
            )
        return self.questions

    @property
    def rows(self) -> RowReader:
        """Reader of the caller's edges."""
        return self.contents.rows

    @property
    def ids(self) -> IdMap:
        """Map between the caller's ids and the internal ids."""
        return self.contents.ids

    @property
    def storage(self) -> InMemory:
        """Storage of the adjacencies."""
        return self.contents.storage

    @property
    def values(self) -> LocalValues:
        """Operations on the values of all vertices."""
        return self.contents.values
