"""PageRank, with the conventions of cuGraph.

S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.

A random walker follows an out-edge (chosen by weight, if edges have weights) with probability alpha, else
jumps to any vertex.  From a vertex without out-edges it always jumps.  The iteration starts from the uniform
distribution and ends when the sum of the absolute changes is below the tolerance.

If the changes of an iteration add up to less than tol, the total error of the ranks is less than
tol * alpha / (1 - alpha).  This also holds for an asynchronous run, in which a vertex reads the old values of
some neighbours and the new values of others: if all vertices gathered once more, the changes would add up to
at most alpha * tol, and an iteration reduces any distance by the factor alpha.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import PagerankOptions
from rapids_trav.algorithms.request import resolve
from rapids_trav.algorithms.run import Answer, answer, execute, gather_view, running
from rapids_trav.algorithms.sssp import check_rank_weights
from rapids_trav.errors import TravError
from rapids_trav.memory.model.program import question_bytes
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import pagerank as program_of
from rapids_trav.utilities.progress import streamed


def pagerank(graph: TraversableGraph, options: PagerankOptions) -> Answer:
    """Return the frame that `Graph.pagerank` documents."""
    n = graph.n_vertices
    question = options.as_program(n, weighted=graph.weight is not None)
    question = question.changed(where=resolve(graph, options.where))
    dtype, tol = options.type_of_ranks, options.tol
    program = program_of(float(tol), dtype)
    view = gather_view(graph, program, question)
    with running(
        graph, view, program, question, question_bytes(np.dtype(dtype).itemsize, graph.ids.rank is not None)
    ):
        if view.weights is not None:
            check_rank_weights(graph, view, dtype, float(1.0 - options.alpha) / max(n, 1))
        state = RunState(graph.values.filled(1.0 / max(n, 1), dtype), graph.values.flags())
        done = execute(graph, view, program, state, question, on_page=streamed())
        del state
        if not done.converged:
            raise TravError(
                f"pagerank has not converged in max_iter={options.max_iter} iterations: the ranks still "
                f"change by {done.residual:.3g} in all, and tol is {tol:g}; give a larger max_iter or tol."
            )
        columns = graph.id_columns("vertex") | {"pagerank": graph.values.in_order(done.values)}
        return answer(graph, columns, done, question.trace)
