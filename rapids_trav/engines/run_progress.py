"""The record of the iterations of a vertex program."""

from __future__ import annotations

from time import perf_counter

from rapids_trav.engines.runs import BlockCounts, BlockSpan, IterationTrace
from rapids_trav.utilities.progress import report


class RunProgress:
    """Number of iterations done, of `most`, and a trace of them if it is wanted.

    Unless `silent`, each is reported to the surrounding call.
    """

    def __init__(self, iteration: int, trace: bool, most: int | None = None, silent: bool = False) -> None:
        self.iteration = iteration
        self.converged = False
        self.trace: list[IterationTrace] = []
        self._wanted = trace
        self._most = most
        self._silent = silent
        self._clock = perf_counter()

    @property
    def is_wanted(self) -> bool:
        """Whether there is a trace."""
        return self._wanted

    def record(
        self,
        mode: str,
        active: int,
        edges: int,
        residual: float,
        pages: int = 0,
        n_bytes: int = 0,
        n_iterations: int = 1,
        blocks: BlockCounts | None = None,
        block_spans: tuple[BlockSpan, ...] = (),
    ) -> None:
        """Count an iteration that has just ended, or several if there is no trace."""
        self.iteration += n_iterations
        if not self._silent:
            report_iteration(self.iteration, self._most, residual)
        if self._wanted:
            now = perf_counter()
            spent = 1e3 * (now - self._clock)
            row = (self.iteration, mode, active, edges, pages, n_bytes, spent, 0.0, residual)
            self.trace.append(IterationTrace(*row, blocks=blocks, block_spans=block_spans))
            self._clock = now


def report_iteration(iteration: int, most: int | None, residual: float) -> None:
    """Report an iteration, with the residual unless that is NaN."""
    report(iteration, most, "iterations", f"residual {residual:.3g}" if residual == residual else "")
