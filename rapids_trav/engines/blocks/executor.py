"""A program of min or max over edges outside memory, in blocks of which some stay (LargeGraph).

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: an efficient dependency-aware
GPU-accelerated large-scale graph processing", ACM TACO 18(4), 2021 (docs/systems.md, L4 to L10).

Values, flags and lists of all vertices are in memory, with places for some blocks (`residency`).

1. A launch works on all resident blocks until they are quiet, and "rents" rows of other blocks, that is,
   reads them where they are stored, as long as that is cheaper than a copy.
2. Meanwhile blocks are loaded, first the one whose waiting value comes first in order (`schedule`).
3. The items that wait for a block enter the lists when it has arrived.  The run ends when nothing waits and
   nothing is listed; then nothing is being loaded either (L9).

Values only improve, and any order leads to the same result, so no block needs copies of them (L11).  An
iteration is as many launches as do about the work of a sweep: they push along as many edges as there are, or
load as many bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut, edge_bytes
from rapids_trav.engines.blocks.residency import Loading
from rapids_trav.engines.blocks.schedule import ACTIVATED, LISTED, PRICE, BlockSchedule, Moving, Timeline
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import BlockCounts, GatherView, Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


class Launched(NamedTuple):
    """Counts of a launch: its rounds, the edges pushed along, and those of them read in place."""

    rounds: int
    pushed: int
    rented: int


class RunOverBlocks:
    """What the runs over blocks of a CPU and of a GPU have in common; see `engines.iterations.Executor`.

    A subclass calls `_begin` when its arrays are there; it is used as a context manager.
    """

    values: Array
    n_active: int

    def __init__(
        self,
        view: GatherView,
        program: Program,
        start: RunState,
        options: RunOptions,
        cut: Cut,
        loader: Loading,
        timeline: Timeline | None,
        price: int | None = PRICE,
    ) -> None:
        self.residual, self.used_total = start.residual, start.total
        self.policy: Mapping[str, float] = {}
        self._n_edges, self._edge_bytes = view.out.n_edges, edge_bytes(view)
        self._record, self._loader, self._timeline = options.record_page, loader, timeline
        self._schedule = BlockSchedule(cut, program, loader, timeline, options.on_page, price)
        self._total = BlockCounts()

    @property
    def counters(self) -> dict[str, int]:
        """Return the counts of loads, reads in place and rounds since the start."""
        return self._total._asdict()

    def settle(self) -> Array:
        """Return a flag for each vertex: whether it is active now."""
        raise NotImplementedError

    def _mark(self) -> None:
        """Let all active vertices wait."""
        raise NotImplementedError

    def _list(self, block: int) -> None:
        """List the items that wait for a block for the next launch."""
        raise NotImplementedError

    def _has_listed(self) -> bool:
        """Return whether there is work for a launch."""
        raise NotImplementedError

    def _converge(self, most: int) -> Launched:
        """Launch on all that is listed, until it is quiet or about `most` edges were pushed along."""
        raise NotImplementedError

    def _values_on_host(self) -> Array:
        return self.values

    def _collect(self) -> None:
        """Count the active vertices."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Let all active vertices wait; those of resident blocks are listed."""
        self._mark()
        self._enter_residents()

    def _enter_residents(self) -> None:
        for block in np.flatnonzero(self._schedule.residency.place >= 0).tolist():
            self._enter(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Wait for the loads in progress."""
        self._loader.close()

    def step(self, progress: RunProgress) -> None:
        """Run launches that do the work of one sweep, or all the work that is left."""
        active, moved = self.n_active, Moving(self._schedule.residency)
        self._work_off(moved, max(self._n_edges, 1))
        counts = moved.counts(self._edge_bytes)
        self._total = BlockCounts(*map(sum, zip(self._total, counts, strict=True)))
        self._collect()
        spans = self._timeline.taken() if self._timeline else ()
        transfers = Moved(counts.loads, counts.loaded, blocks=counts, block_spans=spans)
        progress.record("blocks", active, moved.pushed, self.residual, transfers)

    def _work_off(self, moved: Moving, most: int) -> None:
        recorded = 0
        while self._is_pending() and moved.pushed < most and moved.loaded < most * self._edge_bytes:
            self._share(moved)
            while self._land(moved, wait=False):
                pass
            self._schedule.begin_loads()
            for block in self._schedule.rented():
                self._enter(block)
            if self._has_listed():
                self._launch(moved, most)
                if moved.loads > recorded and self._record is not None:
                    self._record(0, self._values_on_host())
                    recorded = moved.loads
            else:
                self._wait(moved)

    def _is_pending(self) -> bool:
        return self._has_listed() or self._schedule.waits

    def _share(self, moved: Moving) -> None:
        """Exchange work with another processor, if there is one."""

    def _wait(self, moved: Moving) -> None:
        """Wait for a block: waiting blocks are rented or loaded, and no resident one keeps its place."""
        assert self._schedule.is_loading
        self._land(moved, wait=True)

    def _land(self, moved: Moving, wait: bool) -> bool:
        """Enter the items that wait for the block that has arrived; return whether there was one."""
        block = self._schedule.land(moved, wait)
        if block is not None:
            self._enter(block)
        return block is not None

    def _enter(self, block: int) -> None:
        if self._schedule.has_waiting(block):
            self._list(block)
            self._schedule.entered(block)

    def _launch(self, moved: Moving, most: int) -> None:
        """Iterate over resident and rented rows until they are quiet, or many edges were pushed along."""
        schedule = self._schedule
        begin = self._timeline.now() if self._timeline else 0.0
        listed_before = schedule.counts[:, LISTED] > 0
        done = self._converge(most)
        if self._timeline:
            became_active = (schedule.counts[:, ACTIVATED] > 0) & (schedule.residency.place >= 0)
            self._timeline.worked(np.flatnonzero(listed_before | became_active).tolist(), begin)
        schedule.used()
        moved.launches += 1
        moved.rounds += done.rounds
        moved.pushed += done.pushed
        moved.rented += done.rented
