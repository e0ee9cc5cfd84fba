"""What a run of a vertex program takes beside the engine's own working memory.

Before and while it runs, the values that it starts from, of s bytes each, and a flag for each vertex; what
initial values were made of, for a moment.  Afterwards these are gone, and there are the values that it ended
with, perhaps once more in another order of vertices, and what the answer is made of.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.pages import longest_row
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.definition import Program

POSITION = 8  # bytes of the position of a vertex in a list
HUB_SHARE = 64  # edges of a graph for each byte that its hubs take on a GPU


def question_bytes(program: Program, ranked: bool, given: int = 0, own: int = 0) -> int:
    """For each vertex, at any time.

    Parameters
    ----------
    ranked : bool
        Whether internal ids are in another order than the caller's.
    given, own : int
        What the question takes for the values to start from, and for what it makes of those at the end.
    """
    value = np.dtype(program.dtype).itemsize
    return max(value + 1 + given, value * (1 + ranked) + POSITION + own)


def shortcut_bytes(vertex: int, ranked: bool, engine: str) -> int:
    """For each vertex: the new labels; which changed, and where; and those labels, and what they name.

    A GPU finds positions in two steps, of which each makes a list.
    """
    return POSITION * (1 if engine == "cpu" else 2) + (3 + ranked) * vertex + 2


def tree_bytes(vertex: int, ranked: bool) -> int:
    """For each vertex: the predecessor, flags of what is settled and left, and all in the caller's order."""
    return (1 + ranked) * vertex + 4


def least_of_engine(engine: str, view: GatherView, program: Program, options: RunOptions) -> int:
    """What the engine needs at least for a run whose edges are outside its memory; 0 if they are in it.

    It need not be exact: the engine holds what it takes, and this lets an error name all of it at once.
    """
    if view.pages is None:
        return 0
    column = view.into.column_indices.dtype.itemsize
    edge_bytes = column + (0 if view.weights is None else view.weights.dtype.itemsize)
    row = longest_row(view.into.row_offsets) * edge_bytes + 2 * POSITION
    if engine == "cpu":
        from rapids_trav.engines.cpu.programs.memory import LEAST_PAGE, push_bytes, working_bytes

        whole = view.into.n_edges * edge_bytes + view.n_vertices * POSITION
        row += 2 * min(whole, LEAST_PAGE)
        pushed = push_bytes(view, program, options) if options.mode == "push" else 0
        return working_bytes(view, program, options) + row + pushed
    from rapids_trav.engines.cuda.stream import plan

    vertices = plan.vertex_bytes(program, options, column, POSITION, view.into is view.out)
    vertices += options.between_bytes
    return vertices * view.n_vertices + 2 * plan.FIXED_BYTES + row + view.into.n_edges // HUB_SHARE
