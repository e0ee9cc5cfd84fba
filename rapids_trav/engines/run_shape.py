"""The numbers that determine the memory of a run, taken from its view, program and options."""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.memory.model.program import RunShape
from rapids_trav.programs.definition import Program, n_arguments


def uses_degrees(program: Program) -> bool:
    """Return whether a function of the program takes the degree of a vertex."""
    return any(f is not None and n_arguments(f) == 2 for f in (program.scatter, program.total))


def run_shape(view: GatherView, program: Program, options: RunOptions) -> RunShape:
    """Return the numbers from which `memory.model.program` computes the memory of the run."""
    return RunShape(
        n_vertices=view.n_vertices,
        n_edges=view.into.n_edges,
        vertex=view.into.column_indices.dtype.itemsize,
        value=np.dtype(program.dtype).itemsize,
        weight=0 if view.weights is None else view.weights.dtype.itemsize,
        symmetric=view.into is view.out,
        asynchronous=bool(options.asynchronous),
        scatters=program.scatter is not None,
        notifies=program.may_notify and options.mode in ("auto", "notify"),
        uses_degrees=uses_degrees(program),
        copies_degrees=isinstance(view.degrees, np.ndarray) and not view.degrees.flags.writeable,
        counts_degrees=view.degrees.dtype.kind != "i" and options.mode != "push",
        shards=options.gather != "rows",
    )
