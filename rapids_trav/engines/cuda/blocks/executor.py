"""A program of min or max over blocks of edges, on a GPU; `engines.blocks.executor` has the steps.

A launch (`kernels/gas_blocks.cu`) iterates over all blocks on the device until they have no active vertices,
while a stream copies blocks.  When half of the blocks under way have arrived, the launch ends, and the next
begins with the items that wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.executor import Launched, RunOverBlocks
from rapids_trav.engines.blocks.schedule import Timeline
from rapids_trav.engines.cuda.blocks.loader import CopyingLoader, Resident
from rapids_trav.engines.cuda.blocks.parts import Part
from rapids_trav.engines.cuda.blocks.state import BlocksState
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

# Cost of an edge that is read in host memory, in edges of a copy.  On an H100 rows of R-MAT 22 take 1 ns an
# edge of 8 bytes, a copy 0.15 ns, and nothing else is done meanwhile.  With 2, 32 and no reading in place at
# all, `sssp` takes 361, 216 and 218 ms at scale 24.
PRICE = PROGRAM_TUNABLES["gas_blocks.cu"]["PRICE"]


class BlocksExecutor(RunOverBlocks):
    """A running program over blocks of edges; used as a context manager.

    Parameters
    ----------
    view : GatherView
        The offsets of its out-edges are on the device.
    parts : sequence of Part, optional
        The arrays on the host of which a place holds a block's entries; None: the edges are on the device.
    """

    def __init__(
        self,
        view: GatherView,
        program: Program,
        start: RunState,
        options: RunOptions,
        cut: Cut,
        parts: Sequence[Part] | None = None,
    ) -> None:
        timeline = Timeline() if options.trace else None
        loader = Resident(view) if parts is None else CopyingLoader(parts, cut.n_places, timeline)
        self.state = BlocksState(view, program, start, cut, loader)
        self.values = self.state.values
        price = None if self.state.reached is None else PRICE
        super().__init__(view, program, start, options, cut, loader, timeline, price)
        self._start_loads = loader.start
        if parts is None:
            self._schedule.residency.fill()
        self._begin()

    def settle(self) -> Array:
        return self.state.active

    def _mark(self) -> None:
        self.state.mark()
        self.n_active = self.state.n_active
        self._read()

    def _list(self, block: int) -> None:
        self.state.enter(block)

    def _has_listed(self) -> bool:
        return not self.state.is_quiet

    def _converge(self, most: int) -> Launched:
        self.state.launch(self._schedule.residency.place, most, self._schedule.may_load)
        self._start_loads()
        done = self.state.wait()
        self._read()
        return done

    def _values_on_host(self) -> Array:
        return self.state.values.get()

    def _collect(self) -> None:
        self.state.collect()
        self.n_active = self.state.n_active

    def _read(self) -> None:
        """Bring the schedule's counts up to date, but for what the next launch enters."""
        self._schedule.counts, self._schedule.least = self.state.read()
        for block in self.state.entered:
            self._schedule.entered(block)
