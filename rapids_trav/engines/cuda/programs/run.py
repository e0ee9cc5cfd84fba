"""Vertex programs on the GPU: gather, apply and scatter, iteration by iteration.

L. Ma et al., "Garaph: Efficient GPU-accelerated Graph Processing on a Single Machine with Balanced
Replication", USENIX ATC 2017.

1. The program's functions are compiled into the kernels (`link.py`).
2. In each iteration either all vertices gather (pull), or only the out-neighbours of active vertices gather
   (notify), or active vertices send out their values (push).  The share of the edges that lead out of active
   vertices decides.
3. By one small read the host learns how many vertices are active, and how much the values changed.

Minima, maxima and integers are exact, and every step gives the same results as the CPU.  A float sum is
reduced in a fixed order for each vertex, the same in every run, except with gather="replicas"
(`shard_gather.py`), whose atomic additions have no fixed order; `total` and the residual are summed in no
fixed order either.
"""

from __future__ import annotations

from time import perf_counter

from rapids_trav.engines.interface import Executor
from rapids_trav.engines.run_progress import report_iteration
from rapids_trav.engines.runs import IterationTrace, Run, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.gather_mode import gather_mode
from rapids_trav.programs.run_state import RunState

# A pushed edge costs as much as this many gathered ones: it is an atomic operation at a random address.
PUSH_COST = 8


def choose_mode(
    asked: str, program: Program, may_push: bool, scout: int, n_edges: int, penalty: int | None = None
) -> str:
    """Choose the mode of the next iteration; `scout` of the edges lead out of active vertices.

    `penalty` is the cost of reading scattered edges; None if they are in memory.
    """
    if asked == "pull" or not program.may_notify:
        return "pull"
    if asked == "push" and may_push:
        return "push"
    if asked in ("notify", "push"):
        return "notify"
    if may_push:
        return "push" if PUSH_COST * scout <= n_edges else "pull"
    return gather_mode(scout, n_edges) if penalty is None else gather_mode(scout, n_edges, True, penalty)


def iterate(executor: Executor, program: Program, start: RunState, options: RunOptions) -> Run:
    """Iterate the program on any executor, starting from `start`, until it ends."""
    iteration, residual = start.iteration, start.residual
    state = executor.state
    converged = program.has_converged(residual)
    trace: list[IterationTrace] = []
    while not converged and state.n_active:
        if options.max_iterations is not None and iteration >= options.max_iterations:
            break
        begin = perf_counter()
        iteration += 1
        n_active, total = state.n_active, state.tally.total
        scout, n_edges = state.tally.scout, state.n_edges
        mode = choose_mode(options.mode, program, executor.may_push, scout, n_edges, executor.penalty)
        mode = executor.step(mode)
        if program.tolerance is not None:
            residual = state.tally.residual
            converged = program.has_converged(residual)
        if options.trace:
            milliseconds = 1e3 * (perf_counter() - begin)
            moved = executor.moved
            trace.append(
                IterationTrace(
                    iteration, mode, n_active, state.tally.edges, moved.pages, moved.n_bytes, milliseconds,
                    moved.overlap, residual, moved.spans, moved.blocks, moved.block_spans,
                )
            )  # fmt: skip
        report_iteration(iteration, options.max_iterations, residual)
        goes_on = state.n_active and not converged
        if options.checkpoint is not None:
            executor.settle()
            now = RunState(state.values, state.active, iteration, total, residual, executor.policy)
            options.checkpoint(now, not goes_on or iteration == options.max_iterations)
        if options.between is not None and goes_on and iteration >= options.between_from:
            executor.settle()
            executor.restart(options.between(RunState(state.values, state.active, iteration, total)))
    executor.settle()
    return Run(state.values, iteration, converged or not state.n_active, residual, trace, executor.counters)
