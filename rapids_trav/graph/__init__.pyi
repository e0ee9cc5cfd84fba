# Written by ci/write_stubs.py from the methods of Graph: do not edit.

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, overload

import igraph
import networkx
import numpy.typing as npt
import pandas as pd
import scipy.sparse

from rapids_trav.algorithms.bfs import Traced
from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import (
    CheckpointEvery,
    Direction,
    Mode,
    Processor,
    RunMode,
    Schedule,
    ScoresOf,
)
from rapids_trav.algorithms.results import LocalValues
from rapids_trav.csr.paths import PathLayout
from rapids_trav.edges.sources import Ends
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Values
from rapids_trav.frames.kinds import ArrowStream, Column, DataFrameT, FrameT, SparseMatrix
from rapids_trav.graph.local import LocalGraph
from rapids_trav.graph.properties import Questions
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.definition import Program
from rapids_trav.storage.build_options import Order
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.filters import Filter
from rapids_trav.storage.in_memory import InMemory
from rapids_trav.utilities.progress import ProgressOption

__all__ = ["Graph"]

class Graph(Generic[FrameT]):
    questions: Questions
    def __init__(self, edges: Any, src: Ends = None, dst: Ends = None, **options: Any) -> None: ...
    def __enter__(self) -> Graph[FrameT]: ...
    def __exit__(self, *error: object) -> None: ...
    @property
    def n_vertices(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def weight(self) -> Hashable | None: ...
    @property
    def build_times(self) -> dict[str, float]: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def budget(self) -> Budget | None: ...
    @property
    def frame_library(self) -> str: ...
    @property
    def edge_columns(self) -> list[Hashable]: ...
    @property
    def contents(self) -> LocalGraph: ...
    @property
    def rows(self) -> RowReader: ...
    @property
    def ids(self) -> IdMap: ...
    @property
    def storage(self) -> InMemory: ...
    @property
    def values(self) -> LocalValues: ...
    @overload
    def annotate(
        self,
        edges: DataFrameT,
        answer: Values,
        *,
        on: Hashable | list[Hashable] | None = None,
        progress: ProgressOption = False,
    ) -> DataFrameT: ...
    @overload
    def annotate(
        self,
        edges: ArrowStream,
        answer: Values,
        *,
        on: Hashable | list[Hashable] | None = None,
        progress: ProgressOption = False,
    ) -> Any: ...
    def to_networkx(self, *, progress: ProgressOption = False) -> networkx.Graph: ...
    def to_igraph(self, *, progress: ProgressOption = False) -> igraph.Graph: ...
    def to_scipy(self, *, progress: ProgressOption = False) -> scipy.sparse.csr_array: ...
    def path_layout(self, relaxed: int = 0, *, progress: ProgressOption = False) -> PathLayout: ...
    @overload
    def run(
        self,
        program: Program,
        *,
        initial: object,
        sources: object = None,
        direction: Direction = "out",
        where: Filter = None,
        weighted: bool = False,
        parameters: Sequence[float] = (),
        max_iterations: int | None = None,
        asynchronous: bool | None = False,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: Literal[False] = False,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> FrameT: ...
    @overload
    def run(
        self,
        program: Program,
        *,
        initial: object,
        sources: object = None,
        direction: Direction = "out",
        where: Filter = None,
        weighted: bool = False,
        parameters: Sequence[float] = (),
        max_iterations: int | None = None,
        asynchronous: bool | None = False,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: Literal[True],
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> Traced[FrameT]: ...
    @overload
    def run(
        self,
        program: Program,
        *,
        initial: object,
        sources: object = None,
        direction: Direction = "out",
        where: Filter = None,
        weighted: bool = False,
        parameters: Sequence[float] = (),
        max_iterations: int | None = None,
        asynchronous: bool | None = False,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: bool,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> FrameT | Traced[FrameT]: ...
    @overload
    def components(
        self,
        *,
        where: Filter = None,
        trace: Literal[False] = False,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    @overload
    def components(
        self,
        *,
        where: Filter = None,
        trace: Literal[True],
        progress: ProgressOption = False,
    ) -> Traced[FrameT]: ...
    @overload
    def components(
        self,
        *,
        where: Filter = None,
        trace: bool,
        progress: ProgressOption = False,
    ) -> FrameT | Traced[FrameT]: ...
    @overload
    def sssp(
        self,
        sources: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        predecessors: bool = True,
        reached_only: bool = False,
        asynchronous: bool | None = None,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: Literal[False] = False,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
    ) -> FrameT: ...
    @overload
    def sssp(
        self,
        sources: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        predecessors: bool = True,
        reached_only: bool = False,
        asynchronous: bool | None = None,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: Literal[True],
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
    ) -> Traced[FrameT]: ...
    @overload
    def sssp(
        self,
        sources: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        predecessors: bool = True,
        reached_only: bool = False,
        asynchronous: bool | None = None,
        mode: RunMode = "auto",
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: bool,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
    ) -> FrameT | Traced[FrameT]: ...
    @overload
    def pagerank(
        self,
        alpha: float = 0.85,
        *,
        tol: float = 1e-05,
        max_iter: int = 100,
        weighted: bool | None = None,
        dtype: npt.DTypeLike = "float64",
        where: Filter = None,
        asynchronous: bool | None = False,
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: Literal[False] = False,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> FrameT: ...
    @overload
    def pagerank(
        self,
        alpha: float = 0.85,
        *,
        tol: float = 1e-05,
        max_iter: int = 100,
        weighted: bool | None = None,
        dtype: npt.DTypeLike = "float64",
        where: Filter = None,
        asynchronous: bool | None = False,
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: Literal[True],
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> Traced[FrameT]: ...
    @overload
    def pagerank(
        self,
        alpha: float = 0.85,
        *,
        tol: float = 1e-05,
        max_iter: int = 100,
        weighted: bool | None = None,
        dtype: npt.DTypeLike = "float64",
        where: Filter = None,
        asynchronous: bool | None = False,
        processor: Processor = "auto",
        schedule: Schedule = "auto",
        trace: bool,
        progress: ProgressOption = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: CheckpointEvery = 10,
        resume: bool = False,
        tuning: Mapping[str, object] | None = None,
    ) -> FrameT | Traced[FrameT]: ...
    def closeness(
        self,
        of: object = None,
        *,
        direction: Direction = "in",
        improved: bool = True,
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    def harmonic(
        self,
        of: object = None,
        *,
        direction: Direction = "in",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    def eccentricity(
        self,
        of: object = None,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    def diameter(
        self,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> int: ...
    def betweenness(
        self,
        k: int | None = None,
        *,
        of: ScoresOf = "vertices",
        sources: object = None,
        seed: int | None = None,
        normalized: bool = True,
        endpoints: bool = False,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    def distances(
        self,
        pairs: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    @overload
    def bfs(
        self,
        sources: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Filter = None,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        trace: Literal[False] = False,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    @overload
    def bfs(
        self,
        sources: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Filter = None,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        trace: Literal[True],
        progress: ProgressOption = False,
    ) -> Traced[FrameT]: ...
    @overload
    def bfs(
        self,
        sources: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Filter = None,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        trace: bool,
        progress: ProgressOption = False,
    ) -> FrameT | Traced[FrameT]: ...
    def bfs_stream(
        self,
        roots: object,
        *,
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        predecessors: bool = True,
        reached_only: bool = False,
        deterministic: bool = False,
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> BfsStream[FrameT]: ...
    def paths(
        self,
        sources: object,
        targets: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        direction: Direction = "out",
        deterministic: bool = False,
        where: Filter = None,
        weighted: bool = False,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    def khop(
        self,
        seeds: object,
        k: int,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
    ) -> Neighborhood[FrameT]: ...
    def levels(
        self,
        sources: object,
        *,
        mode: Mode = "joint",
        depth_limit: int | None = None,
        targets: object = None,
        direction: Direction = "out",
        where: Filter = None,
        variant: str = "auto",
        tuning: Mapping[str, object] | None = None,
        progress: ProgressOption = False,
    ) -> FrameT: ...
    @overload
    @classmethod
    def from_edges(
        cls,
        edges: DataFrameT,
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph[DataFrameT]: ...
    @overload
    @classmethod
    def from_edges(
        cls,
        edges: Iterable[DataFrameT],
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph[DataFrameT]: ...
    @overload
    @classmethod
    def from_edges(
        cls,
        edges: Callable[[], Iterable[DataFrameT]],
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph[DataFrameT]: ...
    @overload
    @classmethod
    def from_edges(
        cls,
        edges: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph[Any]: ...
    @overload
    @classmethod
    def from_edges(
        cls,
        edges: tuple[Column, Column] | tuple[Column, Column, Column] | SparseMatrix,
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph[pd.DataFrame]: ...
    @overload
    @classmethod
    def from_edges(
        cls,
        edges: ArrowStream | Iterable[ArrowStream] | Callable[[], Iterable[ArrowStream]],
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool | None = None,
        weight: Hashable | None = None,
        vertices: object = None,
        engine: str | Engine = "auto",
        degree_sort: bool | None = None,
        order: Order | None = None,
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        tuning: Mapping[str, object] | None = None,
        client: object = None,
        grid: tuple[int, int] | None = None,
        devices: str | Sequence[int] | None = None,
        keep_rows: bool = True,
        progress: ProgressOption = False,
    ) -> Graph[Any]: ...
    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        *,
        engine: str | Engine = "auto",
        memory_limit: int | str | None = None,
        spill: str | os.PathLike[str] | None = None,
        verify: bool | None = None,
        client: object = None,
        progress: ProgressOption = False,
    ) -> Graph[Any]: ...
    def save(self, folder: str | os.PathLike[str], *, progress: ProgressOption = False) -> None: ...
    def degrees(self, direction: Direction = "out") -> FrameT: ...
    def memory(self) -> FrameT: ...
    @property
    def n_self_loops(self) -> int: ...
    @property
    def n_duplicate_edges(self) -> int: ...
    def close(self) -> None: ...
