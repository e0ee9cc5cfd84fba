"""Interface of the questions that a graph answers, in this process or on the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import Protocol

from rapids_trav.algorithms.bfs import Answer
from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import (
    BetweennessOptions,
    CentralityOptions,
    ClosenessOptions,
    ComponentsOptions,
    Direction,
    PagerankOptions,
    PathOptions,
    ProgramOptions,
    SearchOptions,
    SsspOptions,
)
from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.definition import Program


class Questions(Protocol):
    """Backend of `Graph`, which documents the methods and hands each call on to them.

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

    def bfs(self, sources: object, options: SearchOptions) -> Answer:
        """Answer `Graph.bfs`."""

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        """Answer `Graph.bfs_stream`."""

    def paths(self, sources: object, options: PathOptions) -> Frame:
        """Answer `Graph.paths`, whose targets are among the options."""

    def khop(self, seeds: object, k: int, options: SearchOptions) -> Neighborhood:
        """Answer `Graph.khop`."""

    def levels(self, sources: object, options: SearchOptions) -> Frame:
        """Answer `Graph.levels`."""

    def degrees(self, direction: Direction) -> Frame:
        """Answer `Graph.degrees`."""

    def memory(self) -> Frame:
        """Answer `Graph.memory`."""

    def n_self_loops(self) -> int:
        """Count the rows whose two ends are the same vertex."""

    def n_duplicate_edges(self) -> int:
        """Count the rows that repeat an edge of an earlier row."""

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph to a folder."""

    def run(self, program: Program, initial: object, options: ProgramOptions) -> Answer:
        """Answer `Graph.run`."""

    def components(self, options: ComponentsOptions) -> Answer:
        """Answer `Graph.components`."""

    def sssp(self, sources: object, options: SsspOptions) -> Answer:
        """Answer `Graph.sssp`."""

    def pagerank(self, options: PagerankOptions) -> Answer:
        """Answer `Graph.pagerank`."""

    def closeness(self, vertices: object, options: ClosenessOptions, improved: bool) -> Frame:
        """Answer `Graph.closeness`."""

    def harmonic(self, vertices: object, options: ClosenessOptions) -> Frame:
        """Answer `Graph.harmonic`."""

    def eccentricity(self, vertices: object, options: CentralityOptions) -> Frame:
        """Answer `Graph.eccentricity`."""

    def diameter(self, options: CentralityOptions) -> int:
        """Answer `Graph.diameter`."""

    def betweenness(self, options: BetweennessOptions) -> Frame:
        """Answer `Graph.betweenness`."""

    def distances(self, pairs: object, options: CentralityOptions) -> Frame:
        """Answer `Graph.distances`."""

    def path_layout(self, relaxed: int) -> PathLayout:
        """Answer `Graph.path_layout`."""

    def close(self) -> None:
        """Free the memory that the graph holds outside this object."""
