"""The choice of a run over blocks, and the memory that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rapids_trav.engines.blocks.cut import MOST_BLOCKS, cut_for, edge_bytes, least_place_bytes
from rapids_trav.engines.cpu.programs import push
from rapids_trav.engines.cpu.programs.blocks.executor import Blocks
from rapids_trav.engines.cpu.programs.state import out_edges
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.memory.model.program import block_state_bytes
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


def takes_blocks(view: GatherView, program: Program, state: RunState, options: RunOptions) -> bool:
    """Return whether a run goes over blocks: as asked, or where blocks measure faster than sweeps.

    Measured on a grid, a road-like lattice, R-MAT 16 to 18, a star and a shuffled path, in the page cache.  A
    push in order of value along mapped rows takes 0.4 to 0.7 of the time of blocks, and sweeps take 0.3 to
    0.8 where most vertices are active.  But the lists of a push need memory in addition to those of a
    notification, and sweeps by notification alone take 1 (R-MAT) to 1000 (path) times as long as blocks.
    """
    if view.pages is None or options.schedule != "auto":
        return view.pages is not None and options.schedule == "paths"
    if options.mode != "auto" or not (options.asynchronous and program.may_push):
        return False
    free = view.pages.budget.free
    if push.fits(view, program, options, free) or least_block_bytes(view, program, options) > free:
        return False
    active = np.flatnonzero(state.active)
    if push.NARROW * len(active) > view.n_vertices:
        return False
    return push.NARROW * out_edges(view.out, active) <= view.out.n_edges


def least_block_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the least memory for a run over blocks: with a single place."""
    return _state_bytes(view, program, options) + least_place_bytes(view)


@contextmanager
def opened(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Iterator[Blocks]:
    """Yield the run, with its memory charged to the budget: up to all that is free, if the edges need it."""
    assert view.pages is not None
    budget, n_bytes = view.pages.budget, _state_bytes(view, program, options)
    cut = cut_for(view, max(budget.free - n_bytes, 0))
    with (
        budget.hold(n_bytes + cut.room * edge_bytes(view), "the vertices' values and blocks of edges"),
        Blocks(view, program, state, options, cut) as blocks,
    ):
        yield blocks


def _state_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    return block_state_bytes(run_shape(view, program, options), MOST_BLOCKS)
