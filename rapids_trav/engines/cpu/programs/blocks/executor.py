"""A program of min or max over blocks of edges, on the CPU; `engines.blocks.executor` has the steps.

LargeGraph's paths are single edges on every undirected graph, and blocks of paths save no bytes on others
either (docs/systems.md, L2), so blocks hold rows here; the schedule is LargeGraph's (docs/systems.md, L4 to
L10).  While a launch iterates (`kernels`), a helper thread loads one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import MOST_BLOCKS, Cut, cut_for, edge_bytes, least_place_bytes
from rapids_trav.engines.blocks.executor import Launched, RunOverBlocks
from rapids_trav.engines.blocks.residency import Copy, Landed, Loading
from rapids_trav.engines.blocks.schedule import Timeline
from rapids_trav.engines.cpu.programs import push
from rapids_trav.engines.cpu.programs.blocks.kernels import IDLE, block_kernels, collect, enter, listed
from rapids_trav.engines.cpu.programs.near_far import LITTLE
from rapids_trav.engines.cpu.programs.state import out_edges, writable
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.memory.model.program import block_state_bytes
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


class Blocks(RunOverBlocks):
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
        self._view, self._cut = view, cut
        self._mark_items, self._push = block_kernels(ProgramKey(program))
        self._degrees = writable(view.degrees)
        n_items, vertex = view.n_vertices + cut.n_blocks, view.out.column_indices.dtype
        self.values = np.array(state.values, program.dtype)
        self._active = np.array(state.active, bool)
        self.n_active = int(np.count_nonzero(self._active))
        self._flags = np.full(n_items, IDLE, np.uint8)
        self._near, self._spare, self._far = (np.empty(n_items, vertex) for _ in range(3))
        self._n_near = self._n_far = 0
        self._threshold, self._step, self._since = program.identity, 0.0, LITTLE
        self._columns = np.empty(cut.room, vertex)
        self._weights = None if view.out_weights is None else np.empty(cut.room, view.out_weights.dtype)
        timeline = Timeline() if options.trace else None
        loader = loading(timeline.timed(self._copy) if timeline else self._copy)
        super().__init__(view, program, state, options, cut, loader, timeline)
        self._begin()

    def _mark(self) -> None:
        cut = self._cut
        self._mark_items(
            self._view.out.row_offsets, cut.shift, cut.firsts, cut.ends, self._active, self.values,
            self._flags, self._schedule.counts, self._schedule.least,
        )  # fmt: skip

    def settle(self) -> Array:
        self._collect()
        return self._active

    def _collect(self) -> None:
        self.n_active = collect(self._cut.firsts, self._cut.ends, self._flags, self._active)

    def _has_listed(self) -> bool:
        return self._n_near + self._n_far > 0

    def _list(self, block: int) -> None:
        cut, schedule = self._cut, self._schedule
        # The new items may precede those already processed, so the threshold moves back to them.
        self._threshold = schedule.first(self._threshold, schedule.least[block])
        self._n_far = listed(self._view.out.row_offsets, cut.shift, self._flags, self._far, self._n_far)
        self._n_far = enter(block, cut.firsts[block], cut.ends[block], self._flags, self._far, self._n_far)

    def _converge(self, most: int) -> Launched:
        out, cut, schedule = self._view.out, self._cut, self._schedule
        (
            swapped, self._n_near, self._n_far, threshold, self._step, self._since, *done
        ) = self._push(
            out.row_offsets, out.column_indices, self._view.out_weights, self._columns, self._weights,
            cut.shift, schedule.residency.place, cut.n_edges, self._degrees, self.values, self._near,
            self._n_near, self._spare, self._far, self._n_far, self._flags, schedule.counts, schedule.least,
            self._threshold, self._step, self._since,
            SHORT if schedule.is_loading else PUSHED,
        )  # fmt: skip
        self._threshold = self.values.dtype.type(threshold)
        if swapped:
            self._near, self._spare = self._spare, self._near
        return Launched(*done)

    def _copy(self, block: int, place: int) -> int:
        """Copy a block to a place; return its bytes."""
        shift, n_edges = self._cut.shift, int(self._cut.n_edges[block])
        inside = slice(place << shift, (place << shift) + n_edges)
        edges = slice(block << shift, (block << shift) + n_edges)
        self._columns[inside] = self._view.out.column_indices[edges]
        if self._weights is not None:
            self._weights[inside] = self._view.out_weights[edges]
        return n_edges * edge_bytes(self._view)


def takes_blocks(view: GatherView, program: Program, state: RunState, options: RunOptions) -> bool:
    """Return whether a run goes over blocks: as asked, or where blocks measure faster than sweeps.

    Measured on a grid, a road-like lattice, R-MAT 16 to 18, a star and a shuffled path, in the page cache.  A
    push in order of value along mapped rows takes 0.4 to 0.7 of the time of blocks, and sweeps take 0.3 to
    0.8 where most vertices are active.  But the lists of a push need memory in addition to those of a
    notification, and sweeps by notification alone take 1 (R-MAT) to 1000 (path) times as long as blocks.
    """
    if view.pages is None or options.schedule != "auto":
        return view.pages is not None and options.schedule == "paths"
    if options.mode != "auto" or not (options.asynchronous and program.may_push):
        return False
    free = view.pages.budget.free
    if push.fits(view, program, options, free) or least_block_bytes(view, program, options) > free:
        return False
    active = np.flatnonzero(state.active)
    if push.NARROW * len(active) > view.n_vertices:
        return False
    return push.NARROW * out_edges(view.out, active) <= view.out.n_edges


def least_block_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the least memory for a run over blocks: with a single place."""
    return _state_bytes(view, program, options) + least_place_bytes(view)


@contextmanager
def opened(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Iterator[Blocks]:
    """Yield the run, with its memory charged to the budget: up to all that is free, if the edges need it."""
    assert view.pages is not None
    budget, n_bytes = view.pages.budget, _state_bytes(view, program, options)
    cut = cut_for(view, max(budget.free - n_bytes, 0))
    with (
        budget.hold(n_bytes + cut.room * edge_bytes(view), "the vertices' values and blocks of edges"),
        Blocks(view, program, state, options, cut) as blocks,
    ):
        yield blocks


def _state_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    return block_state_bytes(run_shape(view, program, options), MOST_BLOCKS)
