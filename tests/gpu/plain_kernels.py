"""Steps of a run by the plain kernels, which the fast ones must agree with."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda.programs.state import ProgramState
from rapids_trav.engines.cuda.programs.tally import Tally


def plain_pull(state: ProgramState) -> Tally:
    """A thread for each row; new messages are left beside the old."""
    view, row = state.view, state.tallies.fresh()
    state.rows_kernels.launch(
        "gather_plain", state.n, view.into.row_offsets, view.into.column_indices, view.weights,
        state.messages, 0, state.n, None, *state.vertices(row),
    )  # fmt: skip
    return state.tallies.read(row)


def plain_push(state: ProgramState) -> tuple[Tally, cupy.ndarray]:
    """A thread for each active vertex; with the queue of the next ones, light from the front."""
    state.enqueue()
    out, row = state.view.out, state.tallies.fresh()
    claimed, following = cupy.zeros(state.n // 32 + 1, np.uint32), cupy.empty_like(state.queue)
    state.kernels("gas_push.cu").launch(
        "push_plain", state.n_active, out.row_offsets, out.column_indices, state.n, state.queue,
        state.queue_sizes, state.out_weights, state.messages, state.values, claimed, following, row,
    )  # fmt: skip
    return state.tallies.read(row), following


def queued(following: cupy.ndarray, tally: Tally) -> set[int]:
    """The vertices of a queue."""
    vertices = following.get()
    return {*vertices[: tally.light].tolist(), *vertices[len(vertices) - tally.heavy :].tolist()}
