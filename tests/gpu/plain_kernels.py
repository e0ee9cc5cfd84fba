"""Steps of a run with the plain kernels, which are the reference for the fast ones."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda.programs.state import ProgramState, Tally
from rapids_trav.engines.cuda.runtime.arguments import arguments_of

PlainArguments = arguments_of("gas_rows.cu", "PlainArguments")


def plain_pull(state: ProgramState) -> Tally:
    """Gather with one thread for each row; new messages are written beside the old ones."""
    view, row = state.view, state.tallies.fresh()
    arguments = PlainArguments(
        row_offsets=view.into.row_offsets,
        column_indices=view.into.column_indices,
        weights=view.weights,
        messages=state.messages,
        first_row=0,
        n_rows=state.n,
        marks=None,
        **state.vertices(row),
    )
    state.rows_kernels.launch("gather_plain", state.n, arguments)
    return state.tallies.read(row)


def plain_push(state: ProgramState) -> tuple[Tally, cupy.ndarray]:
    """Push with one thread for each active vertex; also return the next queue, light vertices in front."""
    state.enqueue()
    out, row = state.view.out, state.tallies.fresh()
    claimed, following = cupy.zeros(state.n // 32 + 1, np.uint32), cupy.empty_like(state.queue)
    state.kernels("gas_push.cu").launch(
        "push_plain", state.n_active, out.row_offsets, out.column_indices, state.n, state.queue,
        state.queue_sizes, state.out_weights, state.messages, state.values, claimed, following, row,
    )  # fmt: skip
    return state.tallies.read(row), following


def queued(following: cupy.ndarray, tally: Tally) -> set[int]:
    """Return the vertices of a queue."""
    vertices = following.get()
    return {*vertices[: tally.light].tolist(), *vertices[len(vertices) - tally.heavy :].tolist()}
