"""The interface of an engine: its methods, what it is handed and what it returns.

Arrays are NumPy arrays on the CPU engine and CuPy arrays on the CUDA engine.  Vertices are dense internal
ids, 0 to n-1 in ascending order of the caller's ids; -1 stands for "none".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.runs import GatherView, LinkView, Moved, Run, RunOptions
from rapids_trav.engines.searches import (
    MOST_LEVELS,
    BfsOptions,
    DistanceSums,
    LevelTrace,
    PairDistances,
    PathShares,
    Search,
    SumsOf,
    View,
)
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

__all__ = [
    "MOST_LEVELS",
    "BfsOptions",
    "Builder",
    "Chunks",
    "Counts",
    "DType",
    "DeviceEngine",
    "DistanceSums",
    "Engine",
    "Executor",
    "HostArrays",
    "LevelTrace",
    "Links",
    "PairDistances",
    "PathShares",
    "Place",
    "Processor",
    "Search",
    "SumsOf",
    "VertexState",
    "View",
    "WholeAnswers",
]

Place = Literal["host", "device"]  # where the arrays of an engine lie
Processor = Literal["cpu", "gpu"]
Chunks: TypeAlias = Callable[[], Iterable[tuple[Array, ...]]]  # each call yields all edges: src, dst, weights
DType: TypeAlias = "type[np.generic[object]] | np.dtype[np.generic[object]]"


class WholeAnswers(Protocol):
    """Short cuts of an engine that makes the columns of whole answers itself, where ids are integers.

    Attributes
    ----------
    lenient : tuple of str
        Variants that take a source of -1 as none, so that no thread has to wait for the look-up.
    """

    lenient: tuple[str, ...]

    # `IntegerTable` and `BitMasked` are tuples with fields of NumPy's types, which stand for any dtype.

    def columns(  # type: ignore[explicit-any]
        self, found: Search, table: IntegerTable, n_sources: int
    ) -> dict[str, Array | BitMasked]:
        """Return the columns of the answer of a joint search, in the caller's ids and order."""

    def locate(  # type: ignore[explicit-any]
        self, label: int, table: IntegerTable, n_vertices: int
    ) -> Array:
        """Return the internal id of one of the caller's, (1,), or -1, without waiting for it."""


class Links(Protocol):
    """A way of an engine to find weakly connected components by linking trees."""

    def __call__(self, view: LinkView, places: Array | None, options: RunOptions) -> Run:
        """Return the smallest of each vertex's component: by `places`, which are written over, or by number.

        Of the options `trace` and `on_page` count.
        """


class HostArrays(Protocol):
    """The memory around an engine, for a build whose result does not fit the engine's own.

    `storage.spilled_build` has it.
    """

    @property
    def budget(self) -> Budget:
        """Return the limit on the engine's memory."""

    def allocate(self, n: int, dtype: DType, what: str) -> Array:
        """Return an array of the result in host memory or in a file."""

    def cut(self, row_offsets: Array, page_bytes: int, edge_bytes: int, row_bytes: int) -> Array:
        """Return the first rows of pages that fit, and the number of rows."""


class Builder(Protocol):
    """A maker of adjacencies: an engine in its own memory, or `storage.spilled_build` beside it."""

    @property
    def xp(self) -> ModuleType:
        """Return the module that makes its arrays, NumPy or CuPy."""

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """Return compressed rows, each ascending, of the edges of all chunks."""

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """Return an adjacency of NumPy arrays where this builder keeps them."""

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """Return the edges one by one in row order."""


@runtime_checkable
class Engine(Builder, Protocol):
    """Where searches and vertex programs run: `CpuEngine`, `CudaEngine`, or an engine of one's own.

    Code that uses an engine asks what it has (`place`, `gathers`, `answers` ...), never for its name.
    """

    @property
    def name(self) -> str:
        """Return the name for messages."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the searches that it has; the first is the default."""

    @property
    def place(self) -> Place:
        """Return where its arrays lie."""

    @property
    def processor(self) -> Processor:
        """Return what it runs on."""

    @property
    def degree_sort(self) -> Literal["none", "radix"]:
        """Return how vertices are sorted by degree unless the caller chooses: "none" or "radix"."""

    @property
    def gathers(self) -> tuple[str, ...]:
        """Return the choices that vertex programs have for gathering in memory."""

    @property
    def schedules(self) -> tuple[str, ...]:
        """Return the ways in which edges outside its memory come into it."""

    @property
    def prefers_asynchronous(self) -> bool:
        """Return whether programs that allow it had better use new values at once."""

    @property
    def answers(self) -> WholeAnswers | None:
        """Return its short cuts to the columns of answers, if it has any."""

    @property
    def links(self) -> Links | None:
        """Return how it links trees to find components; None: it propagates labels alone."""

    def build_outside(
        self,
        chunks: Chunks,
        n_vertices: int,
        outside: HostArrays,
        *,
        symmetric: bool = False,
        transpose: bool = False,
    ) -> Adjacency:
        """Return the rows in arrays that `outside.allocate` makes."""

    def transposed(self, adjacency: Adjacency) -> Adjacency:
        """Return the same edges by destination, without weights."""

    def symmetrized(self, adjacency: Adjacency, transpose: Adjacency | None = None) -> Adjacency:
        """Return each edge in both rows, a self-loop once, without weights; `transpose` may be there."""

    def free_bytes(self) -> int:
        """Return the bytes of its memory that can be had."""

    def count_ids(self, ids: Array, count: Array) -> None:
        """Add to `count`, int64 (n,), how often each internal id stands in `ids`."""

    def bfs(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from all sources at once: distance (n,), predecessor (n,)."""

    def bfs_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k sources by itself: distance (k, n), predecessor (k, n)."""

    def distance_sums(self, view: View, sources: Array, of: SumsOf) -> DistanceSums:
        """Search from each of the distinct sources; add up distances at each vertex or for each source."""

    def pair_distances(self, view: View, starts: Array, ends: Array) -> PairDistances:
        """Return the distance from each vertex to the one beside it."""

    def shortest_path_shares(self, view: View, sources: Array, edges: bool) -> PathShares:
        """Add up the shares of vertices, and of edges if asked, in the shortest paths from sources."""

    def run(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program from `state`, which stays as it is."""

    def smallest_predecessors(self, into: Adjacency, distance: Array, order: Array | None = None) -> Array:
        """Return each vertex's smallest neighbour one level up (by `order`, if given); -1 where none is."""

    def tight_predecessors(self, into: Adjacency, weights: Array, distance: Array, unreached: float) -> Array:
        """Return for each vertex the smallest nearer one that explains its distance by weight; else -1."""

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return lists of vertices from root to target, concatenated: lengths and vertices."""

    def synchronize(self) -> None:
        """Wait until what was asked for is done."""


@runtime_checkable
class DeviceEngine(Engine, Protocol):
    """An engine with a memory of its own, which can also work on edges in the host's."""

    def empty_pinned(self, n: int, dtype: DType) -> Array:
        """Return a NumPy array of n entries in host memory that the device reaches."""

    def reach_outside(self, adjacency: Adjacency, first_resident: int) -> Adjacency:
        """Return an adjacency of host arrays for searches, its edges from `first_resident` on copied."""

    def run_hybrid(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program on the device and the host together, if its edges are streamed."""


class Counts(Protocol):
    """The counts of the last iteration of a vertex program."""

    @property
    def active(self) -> int:
        """Return the vertices that are active now."""

    @property
    def scout(self) -> int:
        """Return the out-edges of the active vertices."""

    @property
    def edges(self) -> int:
        """Return the edges gathered over or pushed along."""

    @property
    def residual(self) -> float:
        """Return the sum of the absolute changes, if the program has a tolerance."""

    @property
    def total(self) -> float:
        """Return the sum of the program's `total` over the new values."""


class VertexState(Protocol):
    """The values of a vertex program under way, and what its last iteration counted."""

    @property
    def values(self) -> Array:
        """Return the values; those of the last iteration after `settle`."""

    @property
    def active(self) -> Array:
        """Return a flag for each vertex; those of the last iteration after `settle`."""

    @property
    def n_active(self) -> int:
        """Return how many vertices are active."""

    @property
    def n_edges(self) -> int:
        """Return the edges of the graph."""

    @property
    def tally(self) -> Counts:
        """Return what the last iteration counted."""


class Executor(Protocol):
    """A vertex program under way on a device: its edges resident, streamed, or shared with the CPU.

    It holds the program's state, and decides where the edges come from in each iteration.
    """

    @property
    def state(self) -> VertexState:
        """Return the state on the device."""

    @property
    def moved(self) -> Moved:
        """Return what the last iteration brought to the device."""

    @property
    def counters(self) -> dict[str, int]:
        """Return what mechanisms did, as `Run.counters` has it."""

    @property
    def may_push(self) -> bool:
        """Return whether active vertices can hand out their values."""

    @property
    def penalty(self) -> int | None:
        """Return what reading scattered edges costs; None where they are in memory."""

    def step(self, mode: str) -> str:
        """Run one iteration and return the mode in which it was run."""

    def settle(self) -> None:
        """Bring the state's `values` and `active` up to the last iteration."""

    def restart(self, start: RunState) -> None:
        """Go on from other values and active vertices."""
