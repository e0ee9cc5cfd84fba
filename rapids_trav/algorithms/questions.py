"""Interface of the place where a graph lives and answers queries: this process or workers of a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.memory.budget import Budget


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

    def ask(self, name: str, *arguments: object) -> Any:
        """Answer the query of this name, a method of `Graph`; the last argument may hold its options."""

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        """Answer `Graph.bfs_stream`, whose searches run as the caller reads their answers."""

    def close(self) -> None:
        """Free the memory that the graph holds outside this object."""
