"""A program of min or max over edges outside memory, in blocks of which some stay (LargeGraph).

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: an efficient dependency-aware
GPU-accelerated large-scale graph processing", ACM TACO 18(4), 2021.  LargeGraph's paths are single edges on
every undirected graph, and blocks of paths save no bytes on others either (docs/systems.md, L2), so blocks
hold rows here; the schedule is LargeGraph's (docs/systems.md, L4 to L10).

Values, flags and lists of all vertices are in memory, with places for some blocks (`residency`).

1. A launch works on all resident blocks until they are quiet, and "rents" rows of other blocks, that is,
   reads them where they are stored (`kernels`).
2. Meanwhile a helper thread loads a block, among those where too much waits to be rented: the one whose
   waiting value comes first in order (L6; `loader`).
3. The items that wait for a block enter the lists when it has arrived.  The run ends when nothing waits and
   nothing is listed; then nothing is being loaded either (L9).

Values only improve, and any order leads to the same result, so no block needs copies of them (L11).  An
iteration is as many launches as do about the work of a sweep: they push along as many edges as there are, or
load as many bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut, edge_bytes
from rapids_trav.engines.blocks.residency import Copy, Landed, Loading
from rapids_trav.engines.blocks.schedule import ACTIVATED, LISTED, WAITING, BlockSchedule, Moving, Timeline
from rapids_trav.engines.cpu.programs.blocks.kernels import IDLE, block_kernels, collect, enter, listed
from rapids_trav.engines.cpu.programs.near_far import LITTLE
from rapids_trav.engines.cpu.programs.state import writable
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import BlockCounts, GatherView, Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState


class Loader:
    """Loader that copies on one helper thread, or, if no thread can be started, on the calling thread."""

    most = 1

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rapids_trav_loader")
        self._coming: tuple[int, int, Future[int]] | None = None

    @property
    def n_coming(self) -> int:
        return int(self._coming is not None)

    def begin(self, block: int, place: int) -> None:
        try:
            copied = self._pool.submit(self._copy, block, place)
        except RuntimeError:
            copied = Future()
            copied.set_result(self._copy(block, place))
        self._coming = (block, place, copied)

    def landed(self, wait: bool = False) -> Landed | None:
        if self._coming is None:
            return None
        block, place, copied = self._coming
        if not wait and not copied.done():
            return None
        self._coming = None
        return Landed(block, place, copied.result())

    def close(self) -> None:
        self._pool.shutdown()
        self._coming = None


PUSHED = 1 << 22  # edges of a launch, during which the process cannot be interrupted
# Edges of a launch while a block is being loaded, which may hold the value that comes first in order.  With
# 1 << 13 or 1 << 15 a grid and a road-like lattice push up to 5 times as many edges, and R-MAT as many.
SHORT = 1 << 14


class Blocks:
    """A running program over blocks."""

    def __init__(
        self,
        view: GatherView,
        program: Program,
        state: RunState,
        options: RunOptions,
        cut: Cut,
        loading: Callable[[Copy], Loading] = Loader,
    ) -> None:
        self._view, self._options, self._cut = view, options, cut
        self._kernels = block_kernels(ProgramKey(program))
        self._degrees = writable(view.degrees)
        self._edge_bytes = edge_bytes(view)

        n_items, vertex = view.n_vertices + cut.n_blocks, view.out.column_indices.dtype
        self.values = np.array(state.values, program.dtype)
        self.residual, self.used_total = state.residual, state.total
        self._active = np.array(state.active, bool)
        self._flags = np.full(n_items, IDLE, np.uint8)
        self._near, self._spare, self._far = (np.empty(n_items, vertex) for _ in range(3))

        self._columns = np.empty(cut.room, vertex)
        self._weights = None if view.out_weights is None else np.empty(cut.room, view.out_weights.dtype)
        self._identity = program.identity
        self._step, self._total = 0.0, BlockCounts()
        self._timeline = Timeline() if options.trace else None
        self._loader = loading(self._timeline.timed(self._copy) if self._timeline else self._copy)
        self._schedule = BlockSchedule(cut, program, self._loader, self._timeline, options.on_page)
        self._mark()

    @property
    def counters(self) -> dict[str, int]:
        """Return the counts of loads, reads in place and rounds since the start."""
        return self._total._asdict()

    @property
    def policy(self) -> dict[str, float]:
        return {}

    def _mark(self) -> None:
        """Let all active vertices wait; those of resident blocks enter the lists."""
        cut = self._cut
        self.n_active = int(np.count_nonzero(self._active))
        schedule = self._schedule
        schedule.reset()
        self._n_near = self._n_far = 0
        self._kernels.mark(
            self._view.out.row_offsets, cut.shift, cut.firsts, cut.ends, self._active, self.values,
            self._flags, schedule.counts, schedule.least,
        )  # fmt: skip
        self._threshold, self._since = self._identity, LITTLE
        for block in np.flatnonzero((schedule.residency.place >= 0) & (schedule.counts[:, WAITING] > 0)):
            self._enter(int(block))

    def settle(self) -> Array:
        """Return a flag for each vertex: whether it is active now."""
        collect(self._cut.firsts, self._cut.ends, self._flags, self._active)
        return self._active

    def close(self) -> None:
        """Stop the loader."""
        self._loader.close()

    def step(self, progress: RunProgress) -> None:
        """Run launches that do the work of one sweep, or all the work that is left."""
        active, most = self.n_active, max(self._view.out.n_edges, 1)
        before, moved, recorded = self._total, Moving(self._schedule.residency), 0
        while self._is_pending() and moved.pushed < most and moved.loaded < most * self._edge_bytes:
            self._land(moved, wait=False)
            self._schedule.begin_loads()
            for block in self._schedule.rented():
                self._enter(block)
            if self._n_near + self._n_far:
                self._launch(moved)
                if moved.loads > recorded and self._options.record_page is not None:
                    self._options.record_page(0, self.values)
                    recorded = moved.loads
            else:  # waiting blocks are rented or loaded, and no resident block keeps its place
                assert self._schedule.is_loading
                self._land(moved, wait=True)
        counts = moved.counts(self._edge_bytes)
        self._total = BlockCounts(*map(sum, zip(before, counts, strict=True)))
        self.n_active = collect(self._cut.firsts, self._cut.ends, self._flags, self._active)
        spans = self._timeline.taken() if self._timeline else ()
        transfers = Moved(counts.loads, counts.loaded, blocks=counts, block_spans=spans)
        progress.record("blocks", active, moved.pushed, self.residual, transfers)

    def _is_pending(self) -> bool:
        return bool(self._n_near or self._n_far or self._schedule.waits)

    def _land(self, moved: Moving, wait: bool) -> None:
        """Enter the items that wait for the block that has arrived."""
        block = self._schedule.land(moved, wait)
        if block is not None:
            self._enter(block)

    def _enter(self, block: int) -> None:
        cut, schedule = self._cut, self._schedule
        # The new items may precede those already processed, so the threshold moves back to them.
        self._threshold = schedule.first(self._threshold, schedule.least[block])
        self._n_far = listed(self._view.out.row_offsets, cut.shift, self._flags, self._far, self._n_far)
        self._n_far = enter(block, cut.firsts[block], cut.ends[block], self._flags, self._far, self._n_far)
        schedule.entered(block)

    def _launch(self, moved: Moving) -> None:
        """Iterate over resident and rented rows until they are quiet, or many edges were pushed along."""
        out, cut = self._view.out, self._cut
        schedule = self._schedule
        counts, place = schedule.counts, schedule.residency.place
        begin = self._timeline.now() if self._timeline else 0.0
        listed_before = counts[:, LISTED] > 0
        (
            swapped, self._n_near, self._n_far, threshold, self._step, self._since, rounds, pushed, rented
        ) = self._kernels.converge(
            out.row_offsets, out.column_indices, self._view.out_weights, self._columns, self._weights,
            cut.shift, place, cut.n_edges, self._degrees, self.values, self._near,
            self._n_near, self._spare, self._far, self._n_far, self._flags, counts, schedule.least,
            self._threshold, self._step, self._since,
            SHORT if schedule.is_loading else PUSHED,
        )  # fmt: skip
        self._threshold = self.values.dtype.type(threshold)
        if swapped:
            self._near, self._spare = self._spare, self._near
        if self._timeline:
            became_active = (counts[:, ACTIVATED] > 0) & (place >= 0)
            self._timeline.worked(np.flatnonzero(listed_before | became_active).tolist(), begin)
        schedule.used()
        moved.launches += 1
        moved.rounds += rounds
        moved.pushed += pushed
        moved.rented += rented

    def _copy(self, block: int, place: int) -> int:
        """Copy a block to a place; return its bytes."""
        shift, n_edges = self._cut.shift, int(self._cut.n_edges[block])
        inside = slice(place << shift, (place << shift) + n_edges)
        edges = slice(block << shift, (block << shift) + n_edges)
        self._columns[inside] = self._view.out.column_indices[edges]
        if self._weights is not None:
            self._weights[inside] = self._view.out_weights[edges]
        return n_edges * self._edge_bytes
