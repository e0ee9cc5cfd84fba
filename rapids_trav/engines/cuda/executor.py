"""The choice of the executor of a vertex program: edges in the GPU's memory, in blocks, or in a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cupy

from rapids_trav.engines.blocks.cut import MOST_BLOCKS, cut, whole_shift
from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor, opened
from rapids_trav.engines.cuda.blocks.plan import converges_in_memory, state_bytes, takes_blocks
from rapids_trav.engines.cuda.programs.resident import ResidentExecutor
from rapids_trav.engines.cuda.runtime.memory import free_bytes
from rapids_trav.engines.iterations import iterate
from rapids_trav.engines.runs import GatherView, Run, RunOptions, uses_degrees
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

# Iterations after which many more are expected, each of them short, as on grids and roads.
LONG = 32


def run(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate the program until no vertex is active, it converges, or `max_iterations` are done."""
    if view.pages is None:
        return _in_memory(view, program, state, options)
    from rapids_trav.engines.cuda.stream.streamed import StreamedExecutor

    if takes_blocks(view, program, options):
        with opened(view, program, state, options) as blocks:
            return iterate(blocks, program, state, options)
    with StreamedExecutor(view, program, state, options) as work:
        return iterate(work, program, state, options)


def _in_memory(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate over edges in the GPU's memory; a long run goes on with many rounds in each launch."""
    sweeps = ResidentExecutor(view, program, state, options)
    view = replace(view, out_weights=sweeps.state.out_weights)
    if not converges_in_memory(view, program, options):
        return iterate(sweeps, program, state, options)
    first = iterate(sweeps, program, state, options, pause=state.iteration + LONG)
    if first.converged:
        return first
    now = RunState(first.values, sweeps.settle(), first.iterations)
    if free_bytes() < state_bytes(view, program, options, view.out.row_offsets.itemsize):
        rest = iterate(sweeps, program, now, options)
    else:
        degrees: Any = view.degrees if uses_degrees(program) else None
        view = replace(view, degrees=degrees)
        blocks = cut(view.out.row_offsets, whole_shift(view.out.n_edges), MOST_BLOCKS, cupy)
        with BlocksExecutor(view, program, now, options, blocks) as executor:
            rest = iterate(executor, program, now, options)
    return replace(rest, trace=[*first.trace, *rest.trace])
