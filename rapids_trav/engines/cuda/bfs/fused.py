"""The fused search: a whole BFS in one cooperative launch of `kernels/bfs_fused.cu`.

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012;
D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012.

A level of a small frontier takes less time than a report to the host would.  So the device itself chooses
each level's direction and ends the search.

1. The host takes the working memory, in one allocation that is kept for later searches if it is small.
2. It launches the kernel once, which writes the arrays of the answer.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import NamedTuple
from weakref import ref

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.bfs.fused_view import Targets, bitmap_of, levels_of, rows_of
from rapids_trav.engines.cuda.build.host_rows import lies_outside
from rapids_trav.engines.cuda.build.in_memory import HUB_DEGREE
from rapids_trav.engines.cuda.runtime.arguments import I32, I64, arguments_of
from rapids_trav.engines.cuda.runtime.loader import defines_of, load_for, multiprocessors
from rapids_trav.engines.cuda.runtime.memory import Allocation, aligned
from rapids_trav.engines.cuda.runtime.modules import Defines
from rapids_trav.engines.cuda.runtime.streams import StreamKey, current_key
from rapids_trav.engines.interface import MOST_LEVELS, BfsOptions, Search, View
from rapids_trav.memory.model.search import TRACE_COLUMNS, trace_levels
from rapids_trav.tuning import published

FILE = "bfs_fused.cu"
# Most edges of a vertex that is not a hub, and most edges of a frontier that one block searches alone.
TUNED = {"HUB_DEGREE": HUB_DEGREE, "SOLO_EDGES": 1024}
ARGUMENTS = {4: arguments_of(FILE, vertex=I32), 8: arguments_of(FILE, vertex=I64)}  # by bytes of a vertex
NARROW_BYTES = {4: 16, 8: 32}  # of the kernel's `NarrowItem`, likewise
# The parts of the working memory, in the order in which they are laid out.
WORKING = ("near", "visited", "bitmap_a", "bitmap_b", "narrow_a", "narrow_b", "hubs_a", "hubs_b")
# The pointers that change from one search to the next, as the number of targets does.
OF_A_SEARCH = ("sources", "targets", "distance", "predecessor", "n_unreached")
CONTROL_BYTES = 1024  # at least the size of the kernel's `Control`
WHOLE_QUEUE = 1 << 18  # graphs up to this many vertices have queues with a place for each
ANY = 2**63 - 1  # "any number of edges" of a frontier
DEFAULT_STREAMS = (0, 1)  # the null stream, under both of its names
KEPT_BYTES = 1 << 26  # most working memory that is kept between searches
# Push while the frontier has fewer edges than the unexplored part over alpha; after a pull, push again when
# it has fewer vertices than the unvisited part over beta.  Few edges are always pushed (see `CudaEngine`).
ALPHA, BETA = 20.0, 24.0

# Threads of a block; there is one block to a multiprocessor.  More threads keep more of the memory system
# busy, fewer meet sooner at the end of a level, so the choice depends on the work of a level: R-MAT 20 takes
# 7 % less time with small blocks, R-MAT 22 5 % more (H100).
SMALL_BLOCK, LARGE_BLOCK = 512, 1024
SMALL_DEGREE, FEW_EDGES = 16, 3 << 24
# A pull step deals the bitmap's words to the warps in tiles, and waits for the warps that get one more than
# the others.  These numbers of threads replace those above where they make `evenness` larger by a tenth:
# R-MAT 20 then takes 5 % less time, R-MAT 22 2 % (H100).
EVEN_BLOCK = {SMALL_BLOCK: 640, LARGE_BLOCK: 896}
TILE_WORDS = 8  # as in `kernels/fused_words.cuh`

SPECIALISATIONS: tuple[tuple[str, Defines], ...] = tuple(
    (
        FILE,
        defines_of(
            FILE,
            vertex,
            edge,
            BLOCK_SIZE=block,
            PREDECESSORS=parents,
            TRACE=trace,
            PAGED=paged,
            HUB_CACHE=cache,
            **TUNED,
        ),
    )
    for vertex, edge, block, paged, cache in (
        (32, 32, SMALL_BLOCK, 0, 0),
        (32, 32, EVEN_BLOCK[SMALL_BLOCK], 0, 0),
        (32, 32, LARGE_BLOCK, 0, 0),
        (32, 32, EVEN_BLOCK[LARGE_BLOCK], 0, 0),
        (32, 32, LARGE_BLOCK, 0, 1),
        (32, 32, SMALL_BLOCK, 1, 0),
        (32, 32, LARGE_BLOCK, 1, 0),
        (32, 64, SMALL_BLOCK, 0, 0),
        (32, 64, LARGE_BLOCK, 0, 0),
        (32, 64, LARGE_BLOCK, 0, 1),
        (64, 64, SMALL_BLOCK, 0, 0),
        (64, 64, SMALL_BLOCK, 0, 1),
        (32, 64, SMALL_BLOCK, 1, 0),
        (32, 64, LARGE_BLOCK, 1, 0),
        (64, 64, SMALL_BLOCK, 1, 0),
    )
    for parents in (0, 1)
    for trace in (0, 1)
)


def block_for(n_edges: int, n_vertices: int, n_parts: int = 1) -> int:
    """Return the threads of a block for the work of a level, of a graph that `n_parts` GPUs share."""
    few = max(SMALL_DEGREE * n_vertices, n_parts * FEW_EDGES)
    return SMALL_BLOCK if n_edges < few else LARGE_BLOCK


def even_block(threads: int, n_linked: int, n_blocks: int) -> int:
    """Return `threads` of a block, or the number near it with which warps get equally many words."""
    n_words = -(-n_linked // 32)

    def evenness(n: int) -> float:
        """Return the share of places that hold words, if all warps had as many tiles as the busiest."""
        places = TILE_WORDS * n_blocks * n // 32
        return n_words / (places * -(-n_words // places))

    other = EVEN_BLOCK[threads]
    return other if n_words and evenness(other) > 1.1 * evenness(threads) else threads


def _block_size(out: Adjacency, n_linked: int, n_blocks: int, plain: bool) -> int:
    """Return the threads of a block; `plain` searches are of edges in device memory, without a hub cache."""
    if out.column_indices.dtype.itemsize == 8:
        return SMALL_BLOCK  # a thread needs more registers than a full block has for it
    threads = block_for(out.n_edges, out.n_vertices)
    # Other searches have not been measured with the sizes of EVEN_BLOCK.
    measured = plain and out.row_offsets.dtype.itemsize == 4
    return even_block(threads, n_linked, n_blocks) if measured else threads


class Workspace:
    """The memory in which the searches on one stream, one after another, count, synchronise and work."""

    def __init__(self, keeps: bool = True) -> None:
        self.control = cupy.zeros(CONTROL_BYTES, np.uint8)
        self._keeps = keeps
        self._memory: cupy.cuda.MemoryPointer = None
        self._last: _Kept | None = None

    def memory(self, n_bytes: int, keep: bool) -> cupy.cuda.MemoryPointer:
        """Return at least `n_bytes`: the memory kept, if it suffices, since an allocation takes time."""
        memory = self._memory
        if memory is None or memory.mem.size < n_bytes:
            keep = keep and self._keeps and n_bytes <= KEPT_BYTES
            if keep:
                self._memory = self._last = None  # freed first, to make room
            memory = cupy.cuda.alloc(n_bytes)
            if keep:
                self._memory = memory
        return memory

    def search(self, view: View, n_sources: int, options: BfsOptions, least_pull: int) -> FusedSearch:
        """Return the searches of a view; the arguments are `FusedSearch`'s.

        The last ones are kept, since setting three dozen arguments takes the host as long as a small search
        takes the device.
        """
        how = (n_sources, options.predecessors, options.depth_limit, options.hub_degree, least_pull)
        last = self._last
        if not options.trace and last is not None and last.is_of(view, how):
            return last.fused
        fused = FusedSearch(view, n_sources, options, self, least_pull)
        if not options.trace and fused.memory is self._memory and not getattr(view, "limited", False):
            fused.let_go()
            self._last = _Kept(ref(view.out), ref(view.into), how, fused)
        return fused


class _Kept(NamedTuple):
    """Searches that are kept without keeping their view alive."""

    out: ref[Adjacency]
    into: ref[Adjacency]
    how: tuple[object, ...]
    fused: FusedSearch

    def is_of(self, view: View, how: tuple[object, ...]) -> bool:
        return self.how == how and self.out() is view.out and self.into() is view.into


class FusedVariant:
    """The fused search on CuPy's current stream."""

    def __init__(self, least_pull: int) -> None:
        self.least_pull = least_pull
        self._workspaces: dict[StreamKey, Workspace] = {}

    def __call__(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from `sources` (unique internal ids, one joint frontier) in one launch; -1 is no source."""
        vertex = view.out.column_indices.dtype
        outputs = Outputs(view.n_vertices, vertex, options.predecessors)
        if view.n_vertices == 0:
            return replace(outputs.search(), n_unreached=None)
        fused = self.workspace().search(view, len(sources), options, self.least_pull)
        sources = sources.astype(vertex, copy=False)
        fused.launch(sources, outputs, bitmap_of(options.targets, view.n_vertices))
        return fused.traced(outputs.search())

    def workspace(self) -> Workspace:
        """Return the workspace of the current stream."""
        key = current_key()
        if (workspace := self._workspaces.get(key)) is None:
            # There may be any number of other streams, each for one search: they keep no memory.
            workspace = self._workspaces.setdefault(key, Workspace(keeps=key.ptr in DEFAULT_STREAMS))
        return workspace


class Outputs:
    """Uninitialised memory, by its addresses, for what a search of n vertices writes."""

    def __init__(self, n: int, vertex: np.dtype, predecessors: bool) -> None:
        self._memory = Allocation((n, np.int32), (n if predecessors else 0, vertex), (1, np.uint64))
        self.distance, predecessor, self.n_unreached = self._memory.addresses
        self.predecessor = predecessor if predecessors else None

    def search(self) -> Search:
        """Return the arrays."""
        distance, predecessor, n_unreached = self._memory.arrays()
        return Search(distance, None if self.predecessor is None else predecessor, n_unreached=n_unreached)


class FusedSearch:
    """Searches of one view that differ only in sources and targets: the kernel with all its other arguments.

    Each has `n_sources`.  The view has a vertex, and the targets of the options are given to `launch`.
    """

    def __init__(
        self, view: View, n_sources: int, options: BfsOptions, workspace: Workspace, least_pull: int
    ) -> None:
        out, hub_degree = view.out, options.hub_degree
        self._out = out if options.trace else None
        into, n_vertices, vertex = view.into, view.n_vertices, out.column_indices.dtype
        self._trace = trace = (
            cupy.empty((trace_levels(n_vertices), TRACE_COLUMNS), np.int64) if options.trace else None
        )
        sides = (out,) if into is out else (out, into)
        outside = any(lies_outside(side.column_indices) for side in sides)
        counted = outside or getattr(view, "limited", False)  # charged to a budget, so queues may be shorter
        begins, n_bytes, capacity = _layout(
            n_vertices,
            max(_n_hubs(side) for side in sides),
            vertex.itemsize,
            n_sources,
            whole=n_vertices <= WHOLE_QUEUE and not counted,
        )
        self.memory = workspace.memory(n_bytes, keep=not counted)  # kept memory would not be charged
        # The edges are in two places; or all are in host memory, and reads of them are to be counted.
        paged = any(side.resident is not None for side in sides) or (options.trace and outside)
        n_linked = max(side.n_linked for side in sides)
        self._blocks = multiprocessors(cupy.cuda.runtime.getDevice())
        plain = not (paged or outside or hub_degree is not None)
        self._block_size = _block_size(out, n_linked, self._blocks, plain)
        self._kernels = load_for(
            FILE,
            out,
            BLOCK_SIZE=self._block_size,
            PREDECESSORS=int(options.predecessors),
            TRACE=int(options.trace),
            PAGED=int(paged),
            HUB_CACHE=int(hub_degree is not None),
            **TUNED,
        )
        self._arguments = ARGUMENTS[vertex.itemsize](
            **rows_of("out", out),
            **rows_of("in", into),
            first_neighbors=into.first_neighbors,
            word_rows=into.word_rows,
            queue_capacity=capacity,
            least_pull=least_pull,
            **dict.fromkeys(OF_A_SEARCH),
            n_targets=0,
            **{name: self.memory.ptr + first for name, first in zip(WORKING, begins, strict=True)},
            control=workspace.control,
            trace_rows=trace,
            n_vertices=n_vertices,
            n_linked=n_linked,
            n_sources=n_sources,
            # In a symmetric graph the only edge of a leaf leads back to the vertex from which it was reached.
            leaf_degree=1 if into is out else 0,
            hub_words=0 if hub_degree is None else published("hub cache")(sides, hub_degree),
            depth_limit=MOST_LEVELS if options.depth_limit is None else min(options.depth_limit, MOST_LEVELS),
            alpha=ALPHA,
            beta=BETA,
            neighbor_degree=float(out.neighbor_degree),
            trace_capacity=0 if trace is None else len(trace),
        )

    def launch(self, sources: Array, outputs: Outputs, targets: Targets) -> None:
        """Queue a search from `sources`, `n_sources` of the type of vertices, on the current stream.

        The search ends with the level that reaches the last of `targets`.
        """
        arguments = type(self._arguments).from_buffer_copy(self._arguments)  # threads may share a search
        arguments.sources = sources.data.ptr
        arguments.distance = outputs.distance
        arguments.predecessor = outputs.predecessor
        arguments.n_unreached = outputs.n_unreached
        arguments.targets = None if targets.bitmap is None else targets.bitmap.data.ptr
        arguments.n_targets = targets.n
        self._kernels.launch_grid(
            "bfs_fused", (self._blocks,), arguments, block=self._block_size, cooperative=True
        )

    def let_go(self) -> None:
        """Release the view's arrays; no search runs once the view is gone."""
        self._arguments.let_go()

    def traced(self, found: Search) -> Search:
        """Return the last search with its trace, if one was asked for."""
        if self._trace is None or self._out is None:
            return found
        rows, counters = levels_of(self._trace, self._out)
        return replace(found, trace=rows, counters=counters)


def _n_hubs(adjacency: Adjacency) -> int:
    return adjacency.n_edges // (HUB_DEGREE + 1) if adjacency.n_hubs is None else adjacency.n_hubs


@functools.lru_cache(maxsize=64)
def _layout(
    n_vertices: int, n_hubs: int, vertex_bytes: int, n_sources: int, whole: bool
) -> tuple[tuple[int, ...], int, int]:
    """Lay out the working memory; return the parts' first bytes, the total, and the queues' capacity.

    The capacity is the most edges of a frontier for which the queues suffice: any number, if they are
    `whole`.
    """
    bitmap = 4 * -(-n_vertices // 32)
    # Entries that a pull step hands back to push, with a factor of two, and those left by a single block.
    capacity = int(2 * n_vertices / BETA) + TUNED["SOLO_EDGES"] + n_sources
    whole = whole or n_vertices <= capacity  # a vertex is queued only once
    narrow = (n_vertices if whole else capacity) * NARROW_BYTES[vertex_bytes]
    hubs = 16 * (n_hubs + 1)
    begins, total = aligned((n_vertices, bitmap, bitmap, bitmap, narrow, narrow, hubs, hubs))
    return tuple(begins), total, ANY if whole else capacity
