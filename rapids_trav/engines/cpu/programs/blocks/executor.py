"""A program of min or max over blocks of edges, on the CPU; `engines.blocks.executor` has the steps.

LargeGraph's paths are single edges on every undirected graph, and blocks of paths save no bytes on others
either (docs/systems.md, L2), so blocks hold rows here; the schedule is LargeGraph's (docs/systems.md, L4 to
L10).  While a launch iterates (`kernels`), a helper thread loads one block.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut, edge_bytes
from rapids_trav.engines.blocks.executor import Launched, RunOverBlocks
from rapids_trav.engines.blocks.residency import Copy, Landed, Loading
from rapids_trav.engines.blocks.schedule import Timeline
from rapids_trav.engines.cpu.programs.blocks.kernels import IDLE, block_kernels, collect, enter, listed
from rapids_trav.engines.cpu.programs.near_far import LITTLE
from rapids_trav.engines.cpu.programs.state import writable
from rapids_trav.engines.runs import GatherView, RunOptions
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
        self._kernels = block_kernels(ProgramKey(program))
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
        self._kernels.mark(
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
        ) = self._kernels.converge(
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
