# Written by ci/write_stubs.py from the methods of Graph: do not edit.

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, Literal, TypedDict, Unpack, overload

import numpy.typing as npt

from rapids_trav.algorithms.bfs import Traced
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
from rapids_trav.edges.sources import Ends
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.kinds import FrameT
from rapids_trav.graph import Graph
from rapids_trav.programs.definition import Program
from rapids_trav.storage.build_options import Order
from rapids_trav.storage.filters import Filter
from rapids_trav.utilities.progress import ProgressOption

class LazyFrameAccessor:
    def __init__(self, frame: Frame) -> None: ...

class BuildOptions(TypedDict, total=False):
    src: Ends
    dst: Ends
    directed: bool | None
    weight: Hashable | None
    vertices: object
    engine: str | Engine
    degree_sort: bool | None
    order: Order | None
    memory_limit: int | str | None
    spill: str | os.PathLike[str] | None
    client: object
    grid: tuple[int, int] | None
    devices: str | Sequence[int] | None
    keep_rows: bool

class TravAccessor(Generic[FrameT]):
    def __init__(self, frame: FrameT) -> None: ...
    def graph(
        self,
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
    ) -> Graph[FrameT]: ...
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
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
    ) -> FrameT | Traced[FrameT]: ...
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
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    def khop(
        self,
        seeds: object,
        k: int,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    def distances(
        self,
        pairs: object,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    def closeness(
        self,
        of: object = None,
        *,
        direction: Direction = "in",
        improved: bool = True,
        where: Filter = None,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    def harmonic(
        self,
        of: object = None,
        *,
        direction: Direction = "in",
        where: Filter = None,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    def eccentricity(
        self,
        of: object = None,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    def diameter(
        self,
        *,
        direction: Direction = "out",
        where: Filter = None,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
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
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    @overload
    def components(
        self,
        *,
        where: Filter = None,
        trace: Literal[False] = False,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> FrameT: ...
    @overload
    def components(
        self,
        *,
        where: Filter = None,
        trace: Literal[True],
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
    ) -> Traced[FrameT]: ...
    @overload
    def components(
        self,
        *,
        where: Filter = None,
        trace: bool,
        progress: ProgressOption = False,
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
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
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
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
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
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
        tuning: Mapping[str, object] | None = None,
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
    ) -> FrameT | Traced[FrameT]: ...
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
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
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
        **build: Unpack[BuildOptions],
    ) -> FrameT | Traced[FrameT]: ...
