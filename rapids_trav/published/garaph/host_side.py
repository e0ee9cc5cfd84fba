"""The CPU's side of a run that is shared with the GPU: all vertices in host memory, and the CPU's pages.

The arrays are pinned, so that the results of each side can be copied to the other on a stream.
"""

from __future__ import annotations

from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.programs import run
from rapids_trav.engines.cpu.programs.pages import ResidentEdges
from rapids_trav.engines.cpu.programs.state import ProgramWork
from rapids_trav.engines.cuda.programs.tally import Tally
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

_WRITTEN = ("values", "new_values", "messages", "new_messages", "active")
# One thread in this many gathers while the GPU does.  On 16 cores, 4 threads reached 0.75 of the rate of 8,
# and 15 were slower than 8: they read the memory at random addresses, which also delayed the copies of pages.
_BESIDE_GPU = 4
_PINNED_RATE = 1.5e9  # bytes a second: the driver pins them on one thread


class HostSide:
    """A run of the CPU engine over pages where they are stored; must be closed."""

    def __init__(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> None:
        # One core is left to launch the GPU's pages.
        self._team = Threads(max(Threads().size - 1, 1)).__enter__()
        view = replace(view, pages=None)
        on_host = RunState(
            cupy.asnumpy(state.values), cupy.asnumpy(state.active), state.iteration, state.total
        )
        self.work = ProgramWork(view, program, on_host, options, self._team)
        self._pieces = ResidentEdges(view)
        made = {name: getattr(self.work, name) for name in _WRITTEN}
        pinned = {id(array): _pinned(array) for array in made.values()}  # names may share an array
        for name, array in made.items():
            setattr(self.work, name, pinned[id(array)])
        run.gather(self.work, self._pieces.page(0, 0), n_parts=2)  # compiles before anything is timed

    @staticmethod
    def seconds(n_vertices: int, program: Program) -> float:
        """Return about the time in which a side is made, without compilation."""
        return n_vertices * (1 + 4 * np.dtype(program.dtype).itemsize) / _PINNED_RATE

    def take_counts(self, tally: Tally) -> None:
        """Take over the counts of an iteration that the GPU has ended."""
        self.work.n_active, self.work.active_edges = tally.active, tally.scout
        self.work.next_total = tally.total

    def close(self) -> None:
        self._team.__exit__()

    def begin(self) -> None:
        """Begin an iteration that both sides share."""
        self.work.used_total = self.work.next_total

    def gather(self, first: int, after: int) -> tuple[Array, int]:
        """Gather and apply the rows `first` to `after - 1`; return the CPU engine's counts and the edges.

        Some of the threads take one part each: starting a part takes the interpreter lock, for which the
        thread that launches the GPU's pages would wait.
        """
        piece = self._pieces.page(first, after)
        n_edges = int(piece.starts[-1] - piece.starts[0])
        n_parts = min(max(self._team.size // _BESIDE_GPU, 1), 1 + n_edges // run.EDGES_PER_PART)
        return run.gather(self.work, piece, n_parts), n_edges

    def alone(self, mode: str) -> int:
        """Run a whole iteration, "pull" or "notify"; return its edges."""
        n_edges, _ = run.sweep(self.work, self._pieces, mode)
        return n_edges

    def written(self, first: int, after: int) -> list[tuple[str, np.ndarray]]:
        """Return what an iteration writes for these vertices: values, messages and flags."""
        work = self.work
        return [
            ("values", work.new_values[first:after]),
            ("messages", work.new_messages[first:after]),
            ("flags", work.active[first:after]),
        ]

    def stands(self) -> list[tuple[str, np.ndarray]]:
        """Return the arrays that are current after an iteration."""
        work = self.work
        return [("values", work.values), ("messages", work.messages), ("flags", work.active)]


def _pinned(array: np.ndarray) -> np.ndarray:
    copy = empty_pinned(len(array), array.dtype)
    copy[:] = array
    return copy
