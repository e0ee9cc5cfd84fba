"""A program of min or max over edges outside the GPU's memory, in blocks, some of which stay (LargeGraph).

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: an efficient dependency-aware
GPU-accelerated large-scale graph processing", ACM TACO 18(4), 2021 (docs/systems.md, L4 to L10).

1. Values and queues of all vertices are on the device, with places for some blocks.
2. A launch iterates over all blocks on the device until they have no active vertices
   (`kernels/gas_blocks.cu`); it reads rows of other blocks in host memory as long as that is cheaper than a
   copy.
3. Meanwhile a stream copies blocks, beginning with the block whose waiting value comes first in order
   (`engines.blocks.schedule`).  When half of the blocks under way have arrived, the launch ends, and the next
   begins with the items that wait for them.
4. With `processor="hybrid"`, the CPU meanwhile follows waiting rows of blocks for which the link has no time,
   and offers the resulting values to their neighbours (`engines.cpu.programs.blocks.lending`).

Values only improve, and any order leads to the same result.  An iteration consists of the launches that
together do about the work of one sweep over all edges.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.engines.blocks.cut import Cut, edge_bytes
from rapids_trav.engines.blocks.schedule import ACTIVATED, LISTED, BlockSchedule, Moving, Timeline
from rapids_trav.engines.cpu.programs.blocks.lending import Lending
from rapids_trav.engines.cuda.blocks.lent import Lent, LentLists
from rapids_trav.engines.cuda.blocks.loader import CopyingLoader, Resident
from rapids_trav.engines.cuda.blocks.parts import Part
from rapids_trav.engines.cuda.blocks.state import BlocksState
from rapids_trav.engines.cuda.programs.run import DeviceExecutor
from rapids_trav.engines.cuda.programs.tally import Tally
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES
from rapids_trav.engines.runs import BlockCounts, GatherView, Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

# Cost of an edge that is read in host memory, in edges of a copy.  On an H100 rows of R-MAT 22 take 1 ns an
# edge of 8 bytes, a copy 0.15 ns, and nothing else is done meanwhile.  With 2, 32 and no reading in place at
# all, `sssp` takes 361, 216 and 218 ms at scale 24.
PRICE = PROGRAM_TUNABLES["gas_blocks.cu"]["PRICE"]


class BlocksExecutor(DeviceExecutor[BlocksState]):
    """A running program over blocks of edges; used as a context manager.

    Parameters
    ----------
    view : GatherView
        The offsets of its out-edges are on the device.
    parts : sequence of Part, optional
        The arrays on the host of which a place holds a block's entries; None: the edges are on the device.
    cpu : Lending, optional
        The CPU beside the GPU.
    """

    may_push = True

    def __init__(
        self,
        view: GatherView,
        program: Program,
        start: RunState,
        options: RunOptions,
        cut: Cut,
        parts: Sequence[Part] | None = None,
        cpu: Lending | None = None,
    ) -> None:
        super().__init__(program, start, options)
        self._edge_bytes = edge_bytes(view)
        self._timeline = Timeline() if options.trace else None
        self._loader = Resident(view) if parts is None else CopyingLoader(parts, cut.n_places, self._timeline)
        self.state = BlocksState(view, program, start, cut, self._loader)
        self._cpu, self._lent_edges = cpu, 0
        self._lists = None if cpu is None else LentLists(self.state.view, program, self.state.arguments)
        price = None if self.state.reached is None else PRICE
        self._schedule = BlockSchedule(cut, program, self._loader, self._timeline, options.on_page, price)
        if parts is None:
            self._schedule.residency.fill()
        self._total = BlockCounts()
        self._record = options.record_page
        self._mark()

    def __enter__(self) -> BlocksExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        """Wait for the copies in progress."""
        self._loader.close()

    @property
    def counters(self) -> dict[str, int]:
        """Return the counts of loads, reads in place and rounds since the start, and the CPU's edges."""
        lent = {} if self._cpu is None else {"lent": self._lent_edges}
        return self._total._asdict() | lent

    def _mark(self) -> None:
        """Let all active vertices wait; the next launch takes those of blocks on the device."""
        schedule = self._schedule
        schedule.reset()
        self.state.mark()
        self._read()
        for block in np.flatnonzero(schedule.residency.place >= 0).tolist():
            self._enter(block)

    def sweep(self, mode: str) -> str:
        """Run launches that do the work of one sweep, or all the work that is left; return "blocks"."""
        state, schedule = self.state, self._schedule
        most = max(state.n_edges, 1)
        before, moved, recorded = self._total, Moving(schedule.residency), 0
        while self._is_pending() and moved.pushed < most and moved.loaded < most * self._edge_bytes:
            self._share(moved)
            while self._land(moved, wait=False):
                pass
            schedule.begin_loads()
            for block in schedule.rented():
                self._enter(block)
            if not state.is_quiet:
                self._launch(moved, most)
                if moved.loads > recorded and self._record is not None:
                    self._record(0, state.values.get())
                    recorded = moved.loads
            elif schedule.is_loading:
                self._land(moved, wait=True)
            else:  # otherwise waiting blocks are rented or loaded: no block on the device keeps its place
                self._take(moved)
        if self._is_lent:
            self._take(moved)  # an iteration ends with all that is active on the device
        counts = moved.counts(self._edge_bytes)
        self._total = BlockCounts(*map(sum, zip(before, counts, strict=True)))
        state.collect()
        state.tally = Tally(state.n_active, 0, moved.pushed, 0, 0, 0.0, state.tally.total)
        spans = self._timeline.taken() if self._timeline else ()
        self.moved = Moved(counts.loads, counts.loaded, blocks=counts, block_spans=spans)
        return "blocks"

    def _is_pending(self) -> bool:
        return not self.state.is_quiet or self._schedule.waits or self._is_lent

    @property
    def _is_lent(self) -> bool:
        return self._cpu is not None and self._cpu.is_busy

    def _share(self, moved: Moving) -> None:
        """Take what the CPU has done, and give it a block for which the link has no time."""
        if self._cpu is None or self._lists is None:
            return
        self._take(moved, wait=False)
        block = None if self._cpu.is_busy else self._schedule.left_over()
        if block is not None:
            self._cpu.lend(block, *self.state.lend(self._lists, block))
            self._read()
            self._schedule.used()

    def _take(self, moved: Moving, wait: bool = True) -> None:
        """Improve values by what the CPU offers; what becomes active on the device enters."""
        assert self._cpu is not None and self._lists is not None
        found = self._cpu.offers(wait)
        if found is None:
            return
        targets, offers, n_edges = found
        self.state.take(self._lists, Lent(targets, offers))
        self._read()
        self._schedule.used()
        moved.pushed += n_edges
        self._lent_edges += n_edges
        for block in np.flatnonzero(self._schedule.residency.place >= 0).tolist():
            self._enter(block)

    def _land(self, moved: Moving, wait: bool) -> bool:
        """Give a block that has arrived its place; return whether there was one."""
        block = self._schedule.land(moved, wait)
        if block is not None:
            self._enter(block)
        return block is not None

    def _enter(self, block: int) -> None:
        """Let the next launch take what waits for a block."""
        if self._schedule.has_waiting(block):
            self.state.enter(block)
            self._schedule.entered(block)

    def _launch(self, moved: Moving, most: int) -> None:
        schedule = self._schedule
        place = schedule.residency.place
        begin = self._timeline.now() if self._timeline else 0.0
        listed_before = schedule.counts[:, LISTED] > 0
        self.state.launch(place, most, schedule.may_load)
        self._loader.start()
        done = self.state.wait()
        self._read()
        if self._timeline:
            became_active = (schedule.counts[:, ACTIVATED] > 0) & (place >= 0)
            self._timeline.worked(np.flatnonzero(listed_before | became_active).tolist(), begin)
        schedule.used()
        moved.launches += 1
        moved.rounds += done.rounds
        moved.pushed += done.pushed
        moved.rented += done.rented

    def _read(self) -> None:
        """Bring the schedule's counts up to date, but for what the next launch enters."""
        self._schedule.counts, self._schedule.least = self.state.read()
        for block in self.state.entered:
            self._schedule.entered(block)
