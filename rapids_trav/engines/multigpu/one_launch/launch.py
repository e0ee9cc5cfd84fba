"""One rank's part of a search: the memory that is kept between searches, and the launch of its kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs import fused
from rapids_trav.engines.cuda.bfs.fused_view import bitmap_of, rows_of
from rapids_trav.engines.cuda.runtime.loader import defines_of, load
from rapids_trav.engines.cuda.runtime.memory import aligned
from rapids_trav.engines.cuda.runtime.modules import Defines
from rapids_trav.engines.cuda.runtime.streams import has_ended
from rapids_trav.engines.interface import MOST_LEVELS, BfsOptions
from rapids_trav.engines.multigpu.one_launch.layout import (
    CLOCK_WORD,
    HEAD_BYTES,
    MEETING_BYTES,
    RANKED_ARGUMENTS,
    STOP_WORD,
    shared_layout,
)
from rapids_trav.engines.multigpu.one_launch.peers import free_between_searches, reachable
from rapids_trav.engines.multigpu.one_launch.rows import RankRows
from rapids_trav.engines.multigpu.one_launch.trace import STOPPED, RankLevel, levels_of, worked_seconds
from rapids_trav.memory.model.search import TRACE_COLUMNS, trace_levels
from rapids_trav.memory.model.spread import THIN_EDGES

_AWAKE, NAP = 1e-3, 5e-5  # seconds for which the host polls without a pause, and between polls after that
IDLE = 0.02  # seconds after which the link between GPUs may be asleep: after 0.1 s it was on H200s (NV18)
_WAKING_BYTES = 1 << 20  # whose copy wakes it; 4 KiB were not enough
# Threads of a block, fewer than on one GPU, as each needs more registers.  On two H100s R-MAT 26 and 27 take
# 2 % more time with 1024 threads, and 1 % more with 768.
LARGE_BLOCK = 896
WIDE_BLOCK = 768  # with 64-bit offsets; other numbers have not been measured
TUNED = {
    **fused.TUNED,
    "PAGED": 0,
    "HUB_CACHE": 0,
    "RANKED": 1,
    "UNSIGNED_OFFSETS": 1,
    "THIN_EDGES": THIN_EDGES,
}

SPECIALISATIONS: tuple[tuple[str, Defines], ...] = tuple(
    (
        fused.FILE,
        defines_of(
            fused.FILE,
            vertex,
            edge,
            BLOCK_SIZE=block,
            PREDECESSORS=parents,
            TRACE=trace,
            LEAN=lean,
            **TUNED,
        ),
    )
    for vertex, edge, block in (
        (32, 32, fused.SMALL_BLOCK),
        (32, 32, LARGE_BLOCK),
        (32, 64, WIDE_BLOCK),
        (64, 64, WIDE_BLOCK),
    )
    for parents in (0, 1)
    for trace in (0, 1)
    for lean in (0, 1)
)


@dataclass(frozen=True)
class Common:
    """Arguments and settings that the launches of all ranks have in common."""

    edge: np.dtype  # of all offsets
    total_edges: int  # of all ranks
    total_linked: int  # vertices of all ranks that have an edge
    neighbor_degree: float  # mean degree of the vertex to which an edge leads
    deadline: float  # seconds for which a rank waits for the others
    least_pull: int  # with at most this many edges in the frontier, a search does not change to pulling

    @classmethod
    def of(
        cls, totals: Sequence[tuple[int, int, float]], edge: np.dtype, deadline: float, least_pull: int
    ) -> Common:
        """Add up the edges, the linked vertices and the squares of degrees of all ranks."""
        edges, linked, squares = (sum(column) for column in zip(*totals, strict=True))
        return cls(edge, int(edges), int(linked), squares / max(1, edges), deadline, least_pull)


class Outcome(NamedTuple):
    """How a search ended on a rank: the word of `verdict_of`, and the seconds by the device's clock."""

    stop: int
    seconds: float


class RankMemory:
    """One rank's rows, and the memory that lasts from search to search.

    `edge` is the type of offsets that all ranks have in common, and `blocks` are those of the rank's launch.
    """

    def __init__(self, rows: RankRows, edge: np.dtype, device: int, blocks: int) -> None:
        self.device, self.blocks = device, blocks
        self.layout = shared_layout(rows.dealing, rows.lean)
        with cupy.cuda.Device(device):
            self.rows = rows = rows.with_offsets(edge)
            self.stream = cupy.cuda.Stream(non_blocking=True)
            self._beside = cupy.cuda.Stream(non_blocking=True)
            self.shared = reachable(self.layout.n_bytes)
            self.shared[:] = 0
            free_between_searches(self, self.shared)
            self.control = cupy.zeros(fused.CONTROL_BYTES, np.uint8)
            self.meeting = cupy.zeros(MEETING_BYTES, np.uint8)
            self.n_linked = max(1, int((cupy.flatnonzero(rows.linked)[-1:] + 1).sum()))
            self.total_linked = int(rows.linked.sum())
            self.square_degrees = rows.square_degrees
        self.addresses: Array | None = None  # of all ranks' shared memory, on this device
        self._next_address = 0  # of the next rank's
        self._searched = -math.inf  # when the last search ended
        self.changed: Mapping[str, int] = {}  # what the kernel is compiled with in place of `TUNED`

    @property
    def totals(self) -> tuple[int, int, float]:
        """Return the rank's edges, its vertices that have any, and the sum of their squared degrees."""
        return self.rows.n_edges, self.total_linked, self.square_degrees

    def meet(self, addresses: Sequence[int]) -> None:
        """Take the addresses of all ranks' shared memory, as this rank's device reaches them."""
        with cupy.cuda.Device(self.device):
            self.addresses = cupy.asarray(np.array(addresses, np.uint64))
            self._next_address = addresses[(self.rows.rank + 1) % len(addresses)]
            cupy.cuda.runtime.deviceSynchronize()

    def wake_link(self, scratch: Array) -> None:
        """Read memory of the next rank if no search has run for a while; all ranks do, before they search.

        Otherwise a search waits 0.3 ms while the link between the GPUs leaves its state of low power.
        """
        if time.monotonic() - self._searched > IDLE:
            n_bytes, runtime = min(_WAKING_BYTES, scratch.nbytes, self.layout.n_bytes), cupy.cuda.runtime
            kind, stream = runtime.memcpyDeviceToDevice, self.stream.ptr
            runtime.memcpyAsync(scratch.data.ptr, self._next_address, n_bytes, kind, stream)

    def request_stop(self) -> None:
        """Write the word that ends a search, on another stream than that of the kernel that reads it."""
        runtime, word = cupy.cuda.runtime, np.array([STOPPED], np.uint32)
        with cupy.cuda.Device(self.device):
            kind, stream = runtime.memcpyHostToDevice, self._beside.ptr
            runtime.memcpyAsync(self.shared.data.ptr, word.ctypes.data, word.nbytes, kind, stream)
            self._beside.synchronize()

    def wait(self, check: Callable[[], None] | None = None) -> None:
        """Wait for the last search, open to interrupts, its own errors, and those that `check` raises."""
        begin = time.monotonic()
        while not has_ended(self.stream):
            if time.monotonic() - begin < _AWAKE:
                time.sleep(0)
                continue
            if check is not None:
                check()
            time.sleep(NAP)
        self._searched = time.monotonic()

    def forget(self) -> None:
        """Clear what a search that was given up left in memory, once the searches of all ranks have ended."""
        with cupy.cuda.Device(self.device), self.stream:
            for memory in (self.shared, self.control, self.meeting):
                memory[:] = 0
            self.stream.synchronize()

    def head(self) -> np.ndarray:
        """Return what the last search left in the first bytes of the kernel's `Meeting`; waits for it."""
        with cupy.cuda.Device(self.device), self.stream:
            return self.meeting[:HEAD_BYTES].get()

    def outcome(self) -> Outcome:
        """Return how the last search ended; waits for it."""
        head = self.head()
        stop = int(head.view(np.uint32)[STOP_WORD])
        return Outcome(stop, worked_seconds(*head.view(np.uint64)[CLOCK_WORD:].tolist()))


class Launch:
    """One rank's part of a search: memory is taken first, then the kernel launched."""

    def __init__(self, rank: RankMemory, common: Common, sources: np.ndarray, options: BfsOptions) -> None:
        self._rank = rank
        rows, dealing = rank.rows, rank.rows.dealing
        vertex, edge = dealing.vertex_dtype, common.edge
        block = block_size(common, dealing.n_vertices, dealing.n_ranks)
        self._tuned = {**TUNED, "BLOCK_SIZE": block, **rank.changed}
        with cupy.cuda.Device(rank.device), rank.stream:
            self.found = fused.Outputs(dealing.each, vertex, options.predecessors).search()
            own_targets = None
            if options.targets is not None:
                mine = options.targets[dealing.owner(options.targets) == rows.rank]
                own_targets = cupy.asarray((mine - dealing.first(rows.rank)).astype(vertex))
            marked, _ = bitmap_of(own_targets, dealing.each)
            n_trace = trace_levels(dealing.n_vertices) if options.trace else 0
            self.trace = cupy.empty((n_trace, TRACE_COLUMNS), np.int64) if n_trace else None
            capacity, begins, n_bytes = queues(rank, len(sources))
            self._memory = cupy.empty(n_bytes, np.uint8)
            near, visited, offered, narrow, hubs = (self._memory.data.ptr + first for first in begins)
            shared = rank.shared.data.ptr
            self.kernels = load(
                fused.FILE,
                8 * vertex.itemsize,
                8 * edge.itemsize,
                PREDECESSORS=int(options.predecessors),
                TRACE=int(options.trace),
                LEAN=int(rows.lean),
                **self._tuned,
            )
            self.arguments = RANKED_ARGUMENTS[vertex.itemsize](
                **rows_of("out", rows.out),
                **rows_of("in", rows.into),
                first_neighbors=rows.into.first_neighbors,
                word_rows=rows.into.word_rows,
                sources=cupy.asarray(sources.astype(vertex)),
                targets=marked,
                n_targets=0 if options.targets is None else len(options.targets),
                queue_capacity=capacity,
                least_pull=common.least_pull,
                distance=self.found.distance,
                predecessor=self.found.predecessor,
                n_unreached=self.found.n_unreached,
                near=near,
                visited=visited,
                bitmap_a=shared + rank.layout.bitmap_a,
                bitmap_b=shared + rank.layout.bitmap_b,
                narrow_a=narrow,
                narrow_b=None,
                hubs_a=hubs,
                hubs_b=None,
                control=rank.control,
                trace_rows=self.trace,
                n_vertices=dealing.each,
                n_linked=rank.n_linked,
                n_sources=len(sources),
                leaf_degree=1 if rows.symmetric else 0,
                hub_words=0,
                depth_limit=MOST_LEVELS
                if options.depth_limit is None
                else min(options.depth_limit, MOST_LEVELS),
                alpha=fused.ALPHA,
                beta=fused.BETA,
                neighbor_degree=common.neighbor_degree,
                trace_capacity=n_trace,
                own_offsets=rows.own_offsets,
                listed_a=shared + rank.layout.listed_a,
                listed_b=shared + rank.layout.listed_b,
                inbox=shared + rank.layout.inbox,
                offers=shared + rank.layout.offers,
                offered=offered,
                shared=rank.addresses,
                meeting=rank.meeting,
                deadline=int(1e9 * common.deadline),
                total_vertices=dealing.n_vertices,
                total_linked=common.total_linked,
                total_edges=common.total_edges,
                n_each=dealing.each,
                rank=rows.rank,
                n_ranks=dealing.n_ranks,
            )
            self.kernels.function("bfs_fused")  # loads it, which may wait for the device
            rank.wake_link(self._memory)
        rank.stream.synchronize()

    def start(self) -> None:
        with cupy.cuda.Device(self._rank.device), self._rank.stream:
            blocks, threads = self._rank.blocks, self._tuned["BLOCK_SIZE"]
            self.kernels.launch_grid("bfs_fused", (blocks,), self.arguments, block=threads, cooperative=True)

    def levels(self) -> list[RankLevel]:
        """Return the levels of a traced search, once it has ended."""
        return [] if self.trace is None else levels_of(self.trace.get())


def block_size(common: Common, n_vertices: int, n_ranks: int) -> int:
    """Return the threads of a block, the same on all ranks.

    As on one GPU, large blocks keep more of the memory system busy, and small ones, of a grid, meet sooner.
    """
    if common.edge.itemsize > 4:
        return WIDE_BLOCK
    return min(fused.block_for(common.total_edges, n_vertices, n_ranks), LARGE_BLOCK)


def queues(rank: RankMemory, n_sources: int) -> tuple[int, list[int], int]:
    """Return the capacity of a rank's queue, the first bytes of its working memory's parts, and its size.

    The capacity is the most edges of a frontier that is pushed; the parts are distances of one byte, the
    visited vertices, the offered ones, the queue and the list of hubs.
    """
    rows, dealing = rank.rows, rank.rows.dealing
    capacity = int(2 * dealing.n_ids / fused.BETA) + fused.TUNED["SOLO_EDGES"] + n_sources
    n_rows = rows.out.n_vertices
    whole = n_rows <= max(capacity, fused.WHOLE_QUEUE)
    item = fused.NARROW_BYTES[dealing.vertex_dtype.itemsize]
    n_hubs = max(rows.into.n_hubs or 0, rows.out.n_hubs or 0)
    n_queued = n_rows if whole else capacity
    n_offered = dealing.n_ids if rows.lean else 0
    begins, n_bytes = aligned(
        (dealing.each, dealing.each // 8, n_offered // 8, n_queued * item, 16 * (n_hubs + 1))
    )
    return fused.ANY if whole else capacity, begins, n_bytes
