"""The interface that runs a program's iterations, wherever its edges are, and the loop around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.run_progress import RunProgress
from rapids_trav.engines.runs import Run, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


class Executor(Protocol):
    """A running program: over edges in memory, in pages, or in blocks of which some stay.

    It holds the program's values, and decides where the edges are read from.
    """

    @property
    def values(self) -> Array:
        """Return the values of all vertices."""

    @property
    def n_active(self) -> int:
        """Return the number of active vertices."""

    @property
    def residual(self) -> float:
        """Return the sum of the absolute changes, if the program has a tolerance."""

    @property
    def used_total(self) -> float:
        """Return the sum of the program's `total` that the last iteration used."""

    @property
    def counters(self) -> dict[str, int]:
        """Return the counts of mechanisms, as in `Run.counters`."""

    @property
    def policy(self) -> Mapping[str, float]:
        """Return what a resumed run need not measure or decide anew, as in `RunState.policy`."""

    def step(self, progress: RunProgress) -> None:
        """Run and record one iteration, or several if the state is not inspected between them."""

    def settle(self) -> Array:
        """Return a flag for each vertex: whether the last iteration left it active."""

    def restart(self, state: RunState) -> None:
        """Continue from other values and active vertices."""


def until_done(executor: Executor, program: Program, start: RunState, options: RunOptions) -> Run:
    """Iterate from `start` until no vertex is active, it converges, or `max_iterations` are done."""
    progress = RunProgress(start.iteration, options.trace, options.max_iterations)
    progress.converged = program.has_converged(start.residual)
    while executor.n_active and not progress.converged:
        if options.max_iterations is not None and progress.iteration >= options.max_iterations:
            break
        executor.step(progress)
        progress.converged = program.has_converged(executor.residual)
        goes_on = executor.n_active and not progress.converged
        if options.checkpoint is not None:
            counted = (progress.iteration, executor.used_total, executor.residual, executor.policy)
            now = RunState(executor.values, executor.settle(), *counted)
            options.checkpoint(now, not goes_on or progress.iteration == options.max_iterations)
        if options.between is not None and goes_on and progress.iteration >= options.between_from:
            active = executor.settle()
            executor.restart(options.between(RunState(executor.values, active, progress.iteration)))
    converged = progress.converged or not executor.n_active
    return Run(
        executor.values, progress.iteration, converged, executor.residual, progress.trace, executor.counters
    )
