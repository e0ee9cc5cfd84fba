"""Steps of a run by the plain kernels, which the fast ones must agree with."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda.programs.resident import ResidentWork
from rapids_trav.engines.cuda.programs.tally import Tally


def plain_pull(work: ResidentWork) -> Tally:
    """A thread for each row; new messages are left beside the old."""
    view, row = work._view, work._tallies.fresh()
    work._rows_kernels.launch(
        "gather_plain", work.n, view.into.row_offsets, view.into.column_indices, view.weights, work._messages,
        0, work.n, None, *work._vertices(row),
    )  # fmt: skip
    return work._tallies.read(row)


def plain_push(work: ResidentWork) -> tuple[Tally, cupy.ndarray]:
    """A thread for each active vertex; with the queue of the next ones, light from the front."""
    work._enqueue()
    out, row = work._view.out, work._tallies.fresh()
    claimed, following = cupy.zeros(work.n // 32 + 1, np.uint32), cupy.empty_like(work._queue)
    work._kernels("gas_push.cu").launch(
        "push_plain", work.n_active, out.row_offsets, out.column_indices, work.n, work._queue,
        work._queue_sizes, work._out_weights, work._messages, work.values, claimed, following, row,
    )  # fmt: skip
    return work._tallies.read(row), following


def queued(following: cupy.ndarray, tally: Tally) -> set[int]:
    """The vertices of a queue."""
    vertices = following.get()
    return {*vertices[: tally.light].tolist(), *vertices[len(vertices) - tally.heavy :].tolist()}
