"""Memory that suffices for the run of a vertex program."""

from __future__ import annotations

from rapids_trav.engines.interface import Place
from rapids_trav.engines.run_shape import run_shape
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.memory.model.build import OFFSET_BYTES
from rapids_trav.memory.model.program import resident_bytes
from rapids_trav.programs.definition import Program

PIECE_EDGES = 1 << 14  # edges of a piece of a long row on a GPU, at least


def least_of_run(place: Place, view: GatherView, program: Program, options: RunOptions) -> int:
    """Return bytes that suffice for a run on an engine whose arrays are in `place`.

    Any larger amount suffices as well.  A smaller one may, with smaller pages.
    """
    if place == "host":
        from rapids_trav.engines.cpu.programs.run import least_bytes

        return least_bytes(view, program, options)
    if view.pages is None:
        return resident_bytes(run_shape(view, program, options))
    if options.schedule == "paths":
        from rapids_trav.engines.cuda.blocks import plan as blocks

        return blocks.least_bytes(view, program, options)
    from rapids_trav.engines.cuda.stream import plan

    return plan.least_bytes(view, program, options, OFFSET_BYTES, PIECE_EDGES)
