"""The loop of vertex programs: one for every engine, wherever the edges are.

G. Malewicz et al., "Pregel: a system for large-scale graph processing", SIGMOD 2010: iterations go on until
no vertex is active.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Protocol

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.runs import IterationTrace, Moved, Run, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState
from rapids_trav.utilities.progress import report

NOTHING_MOVED = Moved()


class RunProgress:
    """Number of iterations done, of `most`, each of which is reported, and a trace if it is wanted."""

    def __init__(self, iteration: int, trace: bool, most: int | None = None) -> None:
        self.iteration = iteration
        self.trace: list[IterationTrace] = []
        self.is_wanted = trace
        self._most = most
        self.begin()

    def begin(self) -> None:
        """Begin to time an iteration."""
        self._begin = perf_counter()

    def record(
        self,
        mode: str,
        active: int,
        edges: int,
        residual: float,
        moved: Moved = NOTHING_MOVED,
        n_iterations: int = 1,
    ) -> None:
        """Count an iteration that has just ended, or several if there is no trace."""
        self.iteration += n_iterations
        known = residual == residual  # not NaN
        report(self.iteration, self._most, "iterations", f"residual {residual:.3g}" if known else "")
        if self.is_wanted:
            self.trace.append(
                IterationTrace(
                    self.iteration, mode, active, edges, moved.pages, moved.n_bytes,
                    1e3 * (perf_counter() - self._begin), moved.overlap, residual, moved.spans, moved.blocks,
                    moved.block_spans,
                )
            )  # fmt: skip
            self.begin()


class Executor(Protocol):
    """A running program: over edges in memory, in pages, or in blocks of which some stay.

    It holds the program's values, and decides where the edges are read from.
    """

    residual: float  # sum of the absolute changes, if the program has a tolerance
    used_total: float  # the program's `total` that the last iteration used

    @property
    def values(self) -> Array: ...  # after the last iteration
    @property
    def n_active(self) -> int: ...
    @property
    def counters(self) -> dict[str, int]: ...  # as in `Run.counters`
    @property
    def policy(self) -> Mapping[str, float]: ...  # what a resumed run need not measure or decide anew

    def step(self, progress: RunProgress) -> None:
        """Run and record one iteration, or several if the state is not inspected between them."""

    def settle(self) -> Array:
        """Return a flag for each vertex: whether the last iteration left it active."""


def iterate(
    executor: Executor, program: Program, start: RunState, options: RunOptions, pause: int | None = None
) -> Run:
    """Iterate from `start` until no vertex is active, it converges, or `max_iterations` are done.

    With `pause`, return after that iteration, too.
    """
    progress = RunProgress(start.iteration, options.trace, options.max_iterations)
    converged = program.has_converged(start.residual)
    most = options.max_iterations
    end = min((number for number in (most, pause) if number is not None), default=None)
    while executor.n_active and not converged and (end is None or progress.iteration < end):
        progress.begin()
        executor.step(progress)
        converged = program.has_converged(executor.residual)
        goes_on = executor.n_active and not converged
        if options.checkpoint is not None:
            active = executor.settle()
            counted = (progress.iteration, executor.used_total, executor.residual, executor.policy)
            now = RunState(executor.values, active, *counted)
            options.checkpoint(now, not goes_on or progress.iteration == most)
    return Run(
        executor.values, progress.iteration, converged or not executor.n_active, executor.residual,
        progress.trace, executor.counters,
    )  # fmt: skip
