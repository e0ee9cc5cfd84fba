"""With how much memory a vertex program runs, whatever else there is."""

from __future__ import annotations

from rapids_trav.engines.interface import Place
from rapids_trav.engines.run_shape import run_shape
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.memory.model.program import OFFSET_BYTES, resident_bytes
from rapids_trav.programs.definition import Program

PIECE_EDGES = 1 << 14  # of a long row on a GPU, or more


def least_of_run(place: Place, view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the bytes that are enough for a run by an engine whose arrays lie there.

    A run may do with less, by smaller pages; with these, and with any more, it does.
    """
    if place == "host":
        from rapids_trav.engines.cpu.programs.run import least_bytes

        return least_bytes(view, program, options)
    if view.pages is None:
        return resident_bytes(run_shape(view, program, options), shards=options.gather != "rows")
    from rapids_trav.engines.cuda.stream import plan

    return plan.least_bytes(view, program, options, OFFSET_BYTES, PIECE_EDGES)
