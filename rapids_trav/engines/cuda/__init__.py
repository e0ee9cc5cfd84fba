"""The CUDA engine: searches on one GPU, over CuPy arrays, with the kernels of `kernels/`.

CuPy is imported when an engine is created, not with this package.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.cuda.device_memory import device_memory
from rapids_trav.engines.interface import (
    BfsOptions,
    Chunks,
    DistanceSums,
    DType,
    HostArrays,
    Ordered,
    PairSearch,
    PathShares,
    Place,
    Processor,
    Search,
    SortedPaths,
    SumsOf,
    View,
    WholeAnswers,
)
from rapids_trav.engines.runs import GatherView, LinkView, Run, RunOptions, run_shape
from rapids_trav.engines.searches import known_variant, one_by_one
from rapids_trav.errors import TravError
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.program import resident_bytes
from rapids_trav.memory.model.search import QueryBytes
from rapids_trav.programs.definition import Program, Scalar
from rapids_trav.programs.run_state import RunState
from rapids_trav.tuning import published

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from rapids_trav.engines.cuda.bfs.fused import FusedVariant


MOST_PRIVATE = 4096  # fits into the shared memory of a block, beside other arrays
VERTICES, TREES = "the vertices of a program", "the trees of components"


class CudaEngine:
    """Breadth-first search, vertex programs and builds, on CuPy's current device and stream.

    Parameters
    ----------
    private_capacity : int
        Vertices that each block of the variant "private" keeps in shared memory; at most 4096.
    least_pull : int
        While a frontier has at most this many edges, "auto" does not turn bottom-up, however few edges are
        left.  A level with so few edges is latency-bound: its time is that of dependent loads, of which a
        top-down step has fewer.
    bitmaps : bool
        Whether a bottom-up step of "direction" looks up the frontier in a bitmap (docs/systems.md, V7).
        False: among the distances instead, which serves to measure the effect of the bitmap.
    """

    name = "cuda"
    variants: tuple[str, ...] = ("auto", "push", "pull", "edge", "frontier", "private", "direction", "fused")
    place: Place = "device"
    processor: Processor = "gpu"
    degree_sort: Literal["none", "radix"] = "radix"
    gathers: tuple[str, ...] = ("rows", "replicas")
    schedules: tuple[str, ...] = ("auto", "sweep", "paths")
    prefers_asynchronous = False

    def __init__(
        self,
        private_capacity: int = 2048,
        least_pull: int = 1 << 20,
        bitmaps: bool = True,
    ) -> None:
        import cupy

        if not 1 <= private_capacity <= MOST_PRIVATE:
            raise TravError(
                f"private_capacity is {private_capacity!r}: give a number from 1 to {MOST_PRIVATE}."
            )
        self.xp = cupy
        self.private_capacity = private_capacity
        self.least_pull = least_pull
        self.bitmaps = bitmaps
        self.pair_distances: PairSearch | None = None

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """Build compressed rows, each ascending, of the edges of `chunks()`; see `build/in_memory.py`."""
        from rapids_trav.engines.cuda.build import in_memory
        from rapids_trav.engines.cuda.runtime import memory

        with memory.rapids_allocator():
            return in_memory.build_adjacency(chunks, n_vertices, symmetric=symmetric, transpose=transpose)

    def build_outside(
        self,
        chunks: Chunks,
        n_vertices: int,
        outside: HostArrays,
        *,
        symmetric: bool = False,
        transpose: bool = False,
    ) -> Adjacency:
        """Build compressed rows in NumPy arrays that `outside.allocate` makes; see `build/spilled.py`."""
        from rapids_trav.engines.cuda.build import host_rows, spilled
        from rapids_trav.engines.cuda.runtime import memory

        device = spilled.Device(self.xp, self.count_ids, host_rows.place_edges, host_rows.over_host)
        with memory.rapids_allocator():
            return spilled.build_adjacency(
                chunks, n_vertices, outside, device, symmetric=symmetric, transpose=transpose
            )

    def reach_outside(self, adjacency: Adjacency, head: int, begin: int) -> Adjacency:
        """Return host arrays in the form of searches; edges before `head` and from `begin` on are copied."""
        from rapids_trav.engines.cuda.build import host_rows

        with device_memory("the rows of a search", 28 * adjacency.n_vertices):
            return host_rows.reached(adjacency, head, begin)

    def empty_pinned(self, n: int, dtype: DType) -> Array:
        """Allocate a NumPy array of n entries in host memory that the GPU can access."""
        from rapids_trav.engines.cuda.runtime import pinned

        return pinned.empty_pinned(n, dtype)

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """Copy an adjacency of NumPy arrays to the device."""
        from rapids_trav.engines.cuda.build import host_rows

        with device_memory("the adjacency", adjacency.nbytes + 28 * adjacency.n_vertices):
            return host_rows.on_device(adjacency)

    def transposed(self, adjacency: Adjacency) -> Adjacency:
        """Return the edges grouped by destination."""
        return self._rebuilt(adjacency, transpose=True)

    def symmetrized(self, adjacency: Adjacency, transpose: Adjacency | None = None) -> Adjacency:
        """Return rows that hold each edge at both its ends, a self-loop once; `transpose` is not used."""
        return self._rebuilt(adjacency, symmetric=True)

    def free_bytes(self) -> int:
        """Return the bytes of device memory available."""
        from rapids_trav.engines.cuda.runtime import memory

        return memory.free_bytes()

    def count_ids(self, ids: Array, count: Array) -> None:
        """Add to `count`, int64 (n,), the number of times each internal id occurs in `ids`."""
        from rapids_trav.engines.cuda.build import in_memory

        in_memory.count_ids(ids, count)

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """Return the edges one by one in row order, sharing `column_indices` with the adjacency."""
        from rapids_trav.engines.cuda.build import in_memory

        with device_memory("the edge list", adjacency.column_indices.nbytes):
            return in_memory.expand_rows(adjacency)

    def search(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search breadth-first from all `sources` jointly: distance (n,), predecessor (n,)."""
        search = self._variant(options.variant)
        n_bytes = partial(self._search_bytes, view, None, options)
        with device_memory(f"the search ({options.variant})", n_bytes):
            return search(view, sources, options)

    def bfs_stream(
        self, view: View, sources: Iterator[Array], options: BfsOptions, ahead: int
    ) -> Generator[Search, None, None]:
        """Search from one of `sources` after another, `ahead` of the one being read; see `bfs/queued.py`."""
        from rapids_trav.engines.cuda.bfs import queued

        allocating = partial(device_memory, "a search", partial(self._search_bytes, view, None, options))
        return queued.search_stream(view, sources, options, ahead, self.fused.least_pull, allocating)

    def search_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k `sources` separately: distance (k, n), predecessor (k, n).

        "auto" runs the searches together, 64 to a word; a named variant runs them one after another.
        """
        search = self._variant(options.variant)
        n_bytes = partial(self._search_bytes, view, len(sources), options)
        with device_memory(f"{len(sources)} searches", n_bytes):
            if options.variant != "auto":
                return one_by_one(search, view, sources, options, self.xp)
            from rapids_trav.engines.cuda.bfs import batch

            return batch.search_each(view, sources, options)

    def distance_sums(self, view: View, sources: Array, of: SumsOf, together: int) -> DistanceSums:
        """Sum the distances of a search from each of `sources`: at each vertex, or for each source."""
        from rapids_trav.engines.cuda.bfs.batch import distance_sums

        n_bytes = _table(view).sums(min(len(sources), together), of == "vertices")
        with device_memory("the sums of distances", n_bytes):
            return distance_sums(view, sources, of, together)

    def shortest_path_shares(self, view: View, sources: Array, edges: bool, together: int) -> PathShares:
        """Sum the shares of vertices, and of edges if asked, in the shortest paths from `sources`."""
        from rapids_trav.engines.cuda.bfs.path_shares import shortest_path_shares

        n_bytes = _table(view).shares(view.out.n_edges, edges, together)
        with device_memory("the betweenness", n_bytes):
            return shortest_path_shares(view, sources, edges, together)

    def run(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program from `state`, which is not modified; see `executor.py`."""
        from rapids_trav.engines.cuda import executor

        n_bytes = resident_bytes(run_shape(view, program, options))
        held = holding(view.budget if view.pages is None else None, n_bytes, VERTICES)
        with device_memory(f"program {program.name!r}", n_bytes), held:
            return executor.run(view, program, state, options)

    def links(self, view: LinkView, places: Array | None, options: RunOptions) -> Run:
        """Return for each vertex the smallest place in its component; see `components.py`."""
        from rapids_trav.engines.cuda.components import components

        table = QueryBytes(False, view.n_vertices, view.rows.column_indices.dtype.itemsize)
        with device_memory(TREES, table.trees(view.paged)):
            return components(view, places, options)

    def run_hybrid(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate as `run` does, sharing the edges of a graph larger than the GPU with the CPU.

        Pages are shared as `published.garaph` describes, blocks as `published.largegraph`.  A graph in the
        GPU's memory has nothing to share: the GPU runs it alone.
        """
        if view.pages is None:
            return self.run(view, program, state, options)
        from rapids_trav.engines.cpu.programs.compile import explained
        from rapids_trav.engines.cuda.blocks.plan import takes_blocks

        in_blocks = options.schedule == "paths" and takes_blocks(view, program, options)
        task = device_memory(f"program {program.name!r}", view.pages.budget.free)
        with explained(program, view, options), task:
            return published("hybrid blocks" if in_blocks else "hybrid")(view, program, state, options)

    def smallest_predecessors(self, view: View, distance: Array, ordered: Ordered | None = None) -> Array:
        """Return each vertex's smallest neighbour one level closer (as `ordered`, if given), or -1."""
        from rapids_trav.engines.cuda import predecessors

        into = view.into
        with device_memory("the predecessors", distance.size * (1 + into.column_indices.dtype.itemsize)):
            if ordered is None:
                return predecessors.smallest_predecessors(into, distance)
            return predecessors.ordered_predecessors(into, distance, ordered, view.out is into)

    def tight_predecessors(
        self, into: Adjacency, weights: Array, distance: Array, unreached: Scalar
    ) -> Array:
        """Return each vertex's smallest nearer neighbour that explains its distance by weight, or -1."""
        from rapids_trav.engines.cuda import predecessors

        with device_memory("the predecessors", distance.size * into.column_indices.dtype.itemsize):
            return predecessors.tight_predecessors(into, weights, distance, unreached)

    def synchronize(self) -> None:
        """Wait until all work launched on the current stream is done."""
        self.xp.cuda.get_current_stream().synchronize()

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return root-to-target paths, concatenated: `(lengths, vertices)`; see `results`."""
        from rapids_trav.engines.cuda import predecessors

        with device_memory("the paths", 16 * len(targets)):
            return predecessors.walk(predecessor, targets)

    def _rebuilt(self, adjacency: Adjacency, **how: bool) -> Adjacency:
        """Build another adjacency from the same edges."""
        edges = self.expand_rows(adjacency)
        return self.build_adjacency(partial(iter, [(edges.src, edges.dst)]), adjacency.n_vertices, **how)

    def _variant(self, name: str) -> Callable[[View, Array, BfsOptions], Search]:
        if name in ("auto", "fused"):
            return self.fused
        settings: dict[str, dict[str, int]] = {
            "private": {"capacity": self.private_capacity},
            "direction": {"bitmaps": self.bitmaps},
        }
        return partial(known_variant(self.name, self.variants, name), **settings.get(name, {}))

    @cached_property
    def answers(self) -> WholeAnswers | None:
        """Its shortcuts to the columns of answers; see `answers.py`."""
        from rapids_trav.engines.cuda import answers

        return answers

    @cached_property
    def sorted_paths(self) -> SortedPaths | None:
        """Its searches by weight over rows sorted by weight; see `programs/sorted_paths.py`."""
        from rapids_trav.engines.cuda.programs import sorted_paths

        return sorted_paths

    @cached_property
    def fused(self) -> FusedVariant:
        """The fused search, with its workspaces."""
        from rapids_trav.engines.cuda.bfs.fused import FusedVariant

        return FusedVariant(self.least_pull)

    @staticmethod
    def _search_bytes(view: View, n_searches: int | None, options: BfsOptions) -> int:
        """Return the bytes that one search takes, or this many independent ones."""
        if n_searches is None:
            return _table(view).search(trace=options.trace)
        return _table(view).searches(n_searches, together=options.variant == "auto")


def _table(view: View) -> QueryBytes:
    return QueryBytes(False, view.n_vertices, view.out.column_indices.dtype.itemsize)
