"""When a run goes over blocks, and the memory that it then takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rapids_trav.engines.cpu.programs.blocks.cut import MOST_BLOCKS, cut_for, edge_bytes, least_place_bytes
from rapids_trav.engines.cpu.programs.blocks.executor import Blocks
from rapids_trav.engines.run_shape import run_shape
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.memory.model.program import block_state_bytes
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

PLACES = "places for blocks of edges"


def takes_blocks(view: GatherView, options: RunOptions) -> bool:
    """Return whether a run goes over blocks: where it is asked to, since sweeps of pages are faster.

    On files in the page cache, that is; see the measurements in the test of `auto`.
    """
    return options.schedule == "paths" and view.pages is not None


def least_block_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return with how much memory such a run does: one place."""
    return _state_bytes(view, program, options) + least_place_bytes(view)


@contextmanager
def opened(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Iterator[Blocks]:
    """Yield the run, with what it takes charged to the budget: all that is free, if the edges need it."""
    assert view.pages is not None
    budget, least = view.pages.budget, least_place_bytes(view)
    with budget.hold(_state_bytes(view, program, options), "the vertices' values", least):
        cut = cut_for(view, budget.free)
        n_bytes = cut.room * edge_bytes(view)
        with budget.hold(n_bytes, PLACES):
            blocks = Blocks(view, program, state, options, cut)
            try:
                yield blocks
            finally:
                blocks.close()


def _state_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    return block_state_bytes(run_shape(view, program, options), MOST_BLOCKS)
