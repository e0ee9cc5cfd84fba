"""The interface of an engine: its methods, their arguments and their results.

Arrays are NumPy arrays on the CPU engine and CuPy arrays on the CUDA engine.  Vertices are dense internal
ids, 0 to n-1 in ascending order of the caller's ids; -1 stands for "none".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Literal, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList, WeightedRows
from rapids_trav.engines.runs import GatherView, LinkView, Run, RunOptions, WeightedPaths
from rapids_trav.engines.searches import (
    MOST_LEVELS,
    BfsOptions,
    DistanceSums,
    LevelTrace,
    Ordered,
    PairDistances,
    PairSearch,
    PathShares,
    Search,
    SearchStream,
    SumsOf,
    View,
)
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable, TextTable
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState
from rapids_trav.tuning import Layout

__all__ = [
    "MOST_LEVELS",
    "BfsOptions",
    "Builder",
    "Chunks",
    "DType",
    "DeviceEngine",
    "DistanceSums",
    "Engine",
    "HostArrays",
    "LevelTrace",
    "Ordered",
    "PairDistances",
    "PairSearch",
    "PathShares",
    "Place",
    "Processor",
    "Search",
    "SearchStream",
    "SortedPaths",
    "SumsOf",
    "View",
    "WholeAnswers",
]

Place = Literal["host", "device"]  # the memory that holds an engine's arrays
Processor = Literal["cpu", "gpu"]
Chunks: TypeAlias = Callable[[], Iterable[tuple[Array, ...]]]  # each call yields all edges: src, dst, weights
DType: TypeAlias = "type[np.generic[object]] | np.dtype[np.generic[object]]"


class WholeAnswers(Protocol):
    """Shortcuts of an engine that makes answers of searches itself, most of them for integer ids."""

    # Variants that accept -1 as "no source", so that no host thread has to wait for the id look-up.
    lenient: tuple[str, ...]

    # `IntegerTable` and `BitMasked` are tuples with fields of NumPy's array types, which stand for any dtype.

    def columns(  # type: ignore[explicit-any]
        self, found: Search, table: IntegerTable, n_sources: int
    ) -> dict[str, Array | BitMasked]:
        """Return the columns of the answer of a search from joint sources, in the caller's ids and order."""

    def columns_of_each(  # type: ignore[explicit-any]
        self, found: Search, table: IntegerTable, sources: Array
    ) -> dict[str, Array | BitMasked]:
        """Return the columns of the answer of k searches, one after another, from k `sources`."""

    def reached(  # type: ignore[explicit-any]
        self, found: Search, table: IntegerTable, n_sources: int, listed: bool = False
    ) -> tuple[dict[str, Array | BitMasked], Array | None]:
        """Return the columns as `columns` does, for the reached vertices only, and these if `listed`."""

    def rows_inside(
        self, index: Adjacency, numbers: Array, distance: Array, sources: Array, most_read: int
    ) -> Array | None:
        """Return the numbers, ascending, of the rows of an edge list with both ends chosen.

        `index` has the destinations of the rows by source, `numbers` the number of the row of each,
        `distance` 0 or more for the chosen vertices, and `sources` has these.  The result is None if these
        have more than `most_read` rows.
        """

    def locate(  # type: ignore[explicit-any]
        self, label: int, table: IntegerTable, n_vertices: int
    ) -> Array:
        """Return the internal id of the caller's id `label`, (1,), or -1, without waiting for the device."""

    def locate_each(  # type: ignore[explicit-any]
        self, labels: np.ndarray, table: IntegerTable, n_vertices: int
    ) -> np.ndarray:
        """Return the internal ids of the caller's ids `labels` on the host, -1 for unknown ones."""

    def locate_texts(  # type: ignore[explicit-any]
        self, given: Sequence[bytes], table: TextTable, n_vertices: int
    ) -> np.ndarray:
        """Return the internal ids of strings in UTF-8 on the host, -1 for unknown ones."""

    def path_rows(  # type: ignore[explicit-any]
        self, found: Search, sources: Array, targets: Array, table: IntegerTable, each: bool
    ) -> dict[str, Array | BitMasked] | None:
        """Return the columns of the paths to `targets`, from joint sources or `each` of k searches.

        The result is None if the only source is -1.
        """

    def level_counts(  # type: ignore[explicit-any]
        self, distance: Array
    ) -> np.ndarray | None:
        """Count each distance of k searches, (k, n), on the host, int64 (k, deepest + 2).

        The last bin counts the unreached.  The result is None if a distance is too large for this way.
        """


class SortedPaths(Protocol):
    """Shortest paths by weight over rows that are sorted by weight."""

    @property
    def pays_after(self) -> int:
        """Return how many runs of the vertex program take as long as sorting the rows."""

    def sort_rows(self, adjacency: Adjacency, weights: Array) -> WeightedRows | None:
        """Return the rows with the entries of each in ascending order of weight; None if memory is short."""

    def search(
        self, out: WeightedRows, into: WeightedRows, start: Array, predecessors: bool
    ) -> WeightedPaths | None:
        """Return the shortest distances from the nearest of `start`, and predecessors if asked for.

        Rows of `out` have the edges that lead on from a vertex, those of `into` the edges that lead to it.
        None: the vertex program is faster, as `out.learned["useless"]` then says.
        """


class HostArrays(Protocol):
    """The memory around an engine, for a build whose result does not fit the engine's own memory.

    `storage.spilled_build` implements it.
    """

    @property
    def budget(self) -> Budget:
        """Return the limit on the engine's memory."""

    def allocate(self, n: int, dtype: DType, what: str) -> Array:
        """Return an array for the result, in host memory or in a file."""

    def allocate_spare(self, n: int, dtype: DType, what: str, n_threads: int) -> Array:
        """Return an array for a step of the build, of which each of `n_threads` holds one at a time."""

    def cut(self, row_offsets: Array, page_bytes: int, edge_bytes: int, row_bytes: int) -> Array:
        """Return the first row of each page, such that pages fit, and the number of rows last."""


class Builder(Protocol):
    """A builder of adjacencies: an engine in its own memory, or `storage.spilled_build` beside it."""

    @property
    def xp(self) -> ModuleType:
        """Return the array module, NumPy or CuPy."""

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """Return compressed rows, each in ascending order, of the edges of all chunks."""

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """Return the adjacency, given in NumPy arrays, in the memory where this builder keeps its own."""

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """Return the edges one by one in row order."""


@runtime_checkable
class Engine(Builder, Protocol):
    """A back end that runs searches and vertex programs: `CpuEngine`, `CudaEngine`, or a custom engine.

    Code that uses an engine asks for its features (`place`, `gathers`, `answers` ...), never for its name.
    """

    name: str  # as messages show it
    variants: tuple[str, ...]  # the names of its searches; the first is the default
    place: Place  # the memory that holds its arrays
    processor: Processor
    degree_sort: Literal["none", "radix"]  # the default sort of vertices by degree
    gathers: tuple[str, ...]  # how vertex programs can gather over edges in memory (`RunOptions.gather`)
    schedules: tuple[str, ...]  # how it can bring edges from outside its memory into it
    prefers_asynchronous: bool  # whether programs that allow it run better if they use new values at once

    @property
    def answers(self) -> WholeAnswers | None:
        """Return its shortcuts to the columns of answers, or None."""

    @property
    def bfs_stream(self) -> SearchStream | None:
        """Return its function that searches ahead of its caller; None: it searches when it is asked."""

    @property
    def pair_distances(self) -> PairSearch | None:
        """Return its function that searches pairs of vertices from both ends; None: it has none."""

    @property
    def sorted_paths(self) -> SortedPaths | None:
        """Return its searches by weight over rows sorted by weight; None: it has none."""

    def build_outside(
        self,
        chunks: Chunks,
        n_vertices: int,
        outside: HostArrays,
        *,
        symmetric: bool = False,
        transpose: bool = False,
    ) -> Adjacency:
        """Build an adjacency as `build_adjacency` does, in arrays that `outside.allocate` makes."""

    def transposed(self, adjacency: Adjacency) -> Adjacency:
        """Return the edges grouped by destination, without weights."""

    def symmetrized(self, adjacency: Adjacency, transpose: Adjacency | None = None) -> Adjacency:
        """Return rows that hold each edge at both its ends, a self-loop once, without weights.

        `transpose`, if the caller has it, may save work.
        """

    def free_bytes(self) -> int:
        """Return the bytes of its memory that are available."""

    def count_ids(self, ids: Array, count: Array) -> None:
        """Add to `count`, int64 (n,), the number of times each internal id occurs in `ids`."""

    def search(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from all sources jointly: distance (n,), predecessor (n,)."""

    def search_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k sources separately: distance (k, n), predecessor (k, n)."""

    def distance_sums(self, view: View, sources: Array, of: SumsOf, together: int) -> DistanceSums:
        """Search from each of the distinct sources; sum the distances at each vertex or for each source.

        At most `together` searches run at once, rounded up to a multiple of 64.
        """

    def shortest_path_shares(self, view: View, sources: Array, edges: bool, together: int) -> PathShares:
        """Sum the shares of vertices, and of edges if asked, in the shortest paths from the sources.

        There is memory for `together` searches at once, as `memory.model.search.QueryBytes` counts it.
        """

    def links(self, view: LinkView, places: Array | None, options: RunOptions) -> Run:
        """Find weakly connected components: for each vertex the smallest place in its component.

        `places` is the place of each vertex in the caller's order, and is overwritten; None: its number.  Of
        the options only `trace` and `on_page` apply.
        """

    def run(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program from `state`, which is not modified."""

    def smallest_predecessors(self, view: View, distance: Array, ordered: Ordered | None = None) -> Array:
        """Return each vertex's smallest neighbour one level closer (as `ordered`, if given), or -1."""

    def tight_predecessors(self, into: Adjacency, weights: Array, distance: Array, unreached: float) -> Array:
        """Return each vertex's smallest nearer neighbour that explains its distance by weight, or -1."""

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return the paths from the root to each target, concatenated: lengths and vertices."""

    def synchronize(self) -> None:
        """Wait until all work submitted so far is done."""


@runtime_checkable
class DeviceEngine(Engine, Protocol):
    """An engine with a memory of its own, which can also work on edges in host memory."""

    def empty_pinned(self, n: int, dtype: DType) -> Array:
        """Return a NumPy array of n entries in host memory that the device can access."""

    def reach_outside(self, adjacency: Adjacency, head: int, begin: int) -> Adjacency:
        """Return host arrays in the form of searches; edges before `head` and from `begin` on are copied."""

    def run_hybrid(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program on the device and the host together, if its edges are streamed."""


def is_device(engine: Engine) -> TypeGuard[DeviceEngine]:
    """Return whether the engine computes in the memory of a device, not of the host."""
    return engine.place == "device"


class SpreadRows(Protocol):
    """The edges of a graph in one direction, spread over devices, which search them together."""

    @property
    def layout(self) -> Layout:
        """Return "both" if each device has its edges by both ends, "lean" if by destination alone."""

    def search(self, sources: Array, options: BfsOptions) -> Search:
        """Search from all `sources` jointly; the answer is on the current device."""

    def smallest_predecessors(self, distance: Array, order: Array) -> Array:
        """Return each vertex's neighbour one level nearer that is first in `order`, or -1."""

    def degrees(self) -> Array:
        """Return the number of edges that lead on from each vertex, int64 (n,), on the current device."""

    def held(self) -> Sequence[tuple[str, int, int]]:
        """Return the name, the bytes and the device of each structure."""

    def stop(self) -> None:
        """Stop the search that runs, if any."""


class Replica(View, Protocol):
    """A copy of all edges of a view on one device."""

    @property
    def device(self) -> int:
        """Return the number of the device."""


class SpreadView(View, Protocol):
    """A view of a graph that is spread over devices, unless it is filtered."""

    def spread(self) -> SpreadRows | None:
        """Return the edges as they are spread, which are built on first use; None if they are not."""

    def replicas(self) -> Sequence[Replica]:
        """Return the edges on each device, the current one first; none if they do not fit all of them."""


@runtime_checkable
class SpreadEngine(DeviceEngine, Protocol):
    """An engine whose searches may run on several devices together."""

    @property
    def devices(self) -> tuple[int, ...]:
        """Return the numbers of the devices, one for each rank."""

    def gains(self, n_vertices: int, n_entries: int) -> bool:
        """Return whether several devices search a graph faster than one that holds it."""

    def spread(
        self, chunks: Chunks, n_vertices: int, *, n_edges: int, symmetric: bool, transpose: bool
    ) -> SpreadRows:
        """Deal at most `n_edges` edges, whose vertices are numbered by descending degree, to the devices."""

    def replicated(self, view: View) -> Sequence[Replica]:
        """Return `view` and copies of it on the other devices; none if these lack the memory."""
