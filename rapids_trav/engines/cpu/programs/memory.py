"""What a vertex program has in memory while it runs on the CPU, told before it is there."""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program

NOTIFIED_BYTES = 20  # of a vertex: a mark, and its place among the active ones and among those notified
LISTED_BYTES = 64  # of a notified vertex in hand: where its edges begin and end, and the same of the last
LEAST_PAGE = 1 << 14  # bytes of a page where there is room for them: many small ones take long
LISTED_PART = 8  # one vertex in so many is in hand at once ...
LISTED_LEAST = 1 << 6  # ... and so many in any case


def listed_at_once(n_vertices: int) -> int:
    """Notified vertices whose edges are listed at once."""
    return max(n_vertices // LISTED_PART, LISTED_LEAST)


def may_be_notified(program: Program, options: RunOptions) -> bool:
    """Whether an iteration may gather for the notified vertices alone."""
    return program.may_notify and options.mode in ("auto", "notify")


def working_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Values and messages, flags of the active vertices, and what an iteration that notifies lists."""
    n, value = view.n_vertices, np.dtype(program.dtype).itemsize
    arrays = 1 if options.asynchronous else 2
    arrays *= 1 if program.scatter is None else 2
    held = arrays * value + 1
    held += 8 if view.degrees.dtype.kind != "i" else 0  # how many edges leave it, beside their weights' sum
    held += 0 if view.degrees.flags.writeable else 8
    listed = 0
    if may_be_notified(program, options):
        taken_over = 0 if options.asynchronous else value
        listed = (NOTIFIED_BYTES + taken_over) * n + LISTED_BYTES * min(listed_at_once(n), n)
    return held * n + max(listed, options.between_bytes * n)  # one after another


def push_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """The lists of a push and, in rounds, a message and a former value of each vertex."""
    buffers = 0 if options.asynchronous else 2 * np.dtype(program.dtype).itemsize
    # What is active is listed once more when the lists are read.
    return view.n_vertices * (3 * view.out.column_indices.dtype.itemsize + 1 + buffers + 8)
