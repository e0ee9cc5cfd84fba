"""The choice of the executor of a vertex program: edges in the GPU's memory, in blocks, or in a stream."""

from __future__ import annotations

from rapids_trav.engines.cuda.programs.resident import ResidentExecutor
from rapids_trav.engines.iterations import iterate
from rapids_trav.engines.runs import GatherView, Run, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


def run(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate the program until no vertex is active, it converges, or `max_iterations` are done."""
    if view.pages is None:
        return iterate(ResidentExecutor(view, program, state, options), program, state, options)
    from rapids_trav.engines.cuda.blocks.plan import takes_blocks
    from rapids_trav.engines.cuda.blocks.room import opened
    from rapids_trav.engines.cuda.stream.streamed import StreamedExecutor

    if takes_blocks(view, program, options):
        with opened(view, program, state, options) as blocks:
            return iterate(blocks, program, state, options)
    with StreamedExecutor(view, program, state, options) as work:
        return iterate(work, program, state, options)


def run_shared(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate on the GPU and the CPU, which share pages or, with `schedule="paths"`, blocks."""
    from rapids_trav.engines.cuda.blocks.plan import takes_blocks
    from rapids_trav.engines.cuda.blocks.room import opened
    from rapids_trav.engines.cuda.hybrid.shared import HybridExecutor

    if options.schedule == "paths" and takes_blocks(view, program, options):
        with opened(view, program, state, options, shared=True) as blocks:
            return iterate(blocks, program, state, options)
    with HybridExecutor(view, program, state, options) as work:
        return iterate(work, program, state, options)
