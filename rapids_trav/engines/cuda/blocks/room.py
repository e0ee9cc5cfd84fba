"""The memory of a run over blocks on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.blocks.cut import PLACES, cut_for, least_place_bytes
from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor
from rapids_trav.engines.cuda.blocks.parts import chosen_parts, place_bytes
from rapids_trav.engines.cuda.blocks.plan import LEAST_BLOCK, state_bytes
from rapids_trav.engines.cuda.build.in_memory import edge_type
from rapids_trav.engines.cuda.stream.buffers import VERTICES, offsets_on_device
from rapids_trav.engines.cuda.stream.packing import FRAMED, packed_columns
from rapids_trav.engines.runs import GatherView, RunOptions, uses_degrees
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


@contextmanager
def opened(
    view: GatherView,
    program: Program,
    state: RunState,
    options: RunOptions,
    run: Callable[..., BlocksExecutor] = BlocksExecutor,
    more_bytes: int = 0,
) -> Iterator[BlocksExecutor]:
    """Yield the run, with its memory charged to the budget: up to all that is free, if the edges need it.

    `run` makes it, as `BlocksExecutor` does, and takes `more_bytes` of memory than that.
    """
    assert view.pages is not None
    budget = view.pages.budget
    n_bytes = state_bytes(view, program, options, edge_type(view.out.n_edges).itemsize) + more_bytes
    budget.foresee(lambda: n_bytes + least_place_bytes(view, LEAST_BLOCK))
    with budget.hold(n_bytes, VERTICES), ExitStack() as held:
        plain = cut_for(view, budget.free, LEAST_BLOCK)
        frame = partial(packed_columns, view.out, budget, FRAMED)
        cut, parts = chosen_parts(view, options, plain, frame)
        held.enter_context(budget.hold(cut.n_places * place_bytes(parts), PLACES))
        yield held.enter_context(run(_on_device(view, program), program, state, options, cut, parts))


def _on_device(view: GatherView, program: Program) -> GatherView:
    """Return the view with the offsets of its out-edges on the device, and no degrees unless needed."""
    assert view.pages is not None
    offsets = offsets_on_device(view.out, edge_type(view.out.n_edges), view.pages.budget.free)
    degrees: Any = view.degrees if uses_degrees(program) else None
    return replace(view, out=Adjacency(offsets, view.out.column_indices), degrees=degrees)
