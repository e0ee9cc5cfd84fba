"""PageRank, in the conventions of cuGraph.

S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.

A walker follows a random out-edge (by weight, if edges have weights) with probability alpha, else jumps to
any vertex; from a vertex without out-edges it always jumps.  Iterated from the uniform distribution until the
sum of the absolute changes is below the tolerance.

If the changes of an iteration add up to less than tol, the ranks are off by less than tol * alpha /
(1 - alpha) in all.  So they are in an asynchronous run, where a vertex sees some of its neighbours as they
were and some as they have become: were all to gather once more, the changes would add up to alpha * tol at
most, and alpha is what an iteration shrinks any distance by.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import whole_number
from rapids_trav.algorithms.run import answer, execute, gather_view, in_order, running
from rapids_trav.algorithms.run_request import RunRequest
from rapids_trav.algorithms.weights import check_rank_weights
from rapids_trav.engines.runs import Run
from rapids_trav.errors import TravError, written
from rapids_trav.memory.model.program import question_bytes
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import pagerank as program_of
from rapids_trav.utilities.checks import one_of


def pagerank(
    graph: TraversableGraph,
    alpha: float = 0.85,
    *,
    tol: float = 1e-5,
    max_iter: int = 100,
    weighted: bool | None = None,
    dtype: str = "float64",
    asynchronous: bool = False,
    **asked: Any,
) -> Any:
    """Frame of the ranks that `Graph.pagerank` documents."""
    check_settings(alpha, tol, max_iter)
    xp, n = graph.engine.xp, graph.n_vertices
    question = RunRequest(
        weighted=graph.weight is not None if weighted is None else weighted,
        parameters=(float(alpha), 1.0 / max(n, 1)),
        max_iterations=max_iter,
        asynchronous=asynchronous,
        **asked,
    )
    dtype = getattr(dtype, "__name__", dtype)  # np.float32 as well
    one_of("dtype", dtype, ("float64", "float32"))
    program = program_of(float(tol), dtype)
    view = gather_view(graph, program, question)
    with running(
        graph, view, program, question, question_bytes(np.dtype(dtype).itemsize, graph.ids.rank is not None)
    ):
        if view.weights is not None:
            check_rank_weights(graph, view, question.where, dtype, float(1.0 - alpha) / max(n, 1))
        state = RunState(xp.full(n, 1.0 / max(n, 1), dtype=dtype), xp.ones(n, dtype=bool))
        done = execute(graph, view, program, state, question)
        del state
        _check_converged(done, max_iter, tol)
        columns = graph.id_columns("vertex") | {"pagerank": in_order(graph, done.values)}
        return answer(graph, columns, done, question)


def _check_converged(done: Run, max_iter: int, tol: float) -> None:
    if not done.converged:
        raise TravError(
            f"pagerank has not converged in max_iter={max_iter} iterations: the ranks still change by "
            f"{done.residual:.3g} in all, and tol is {tol:g}; give a larger max_iter or tol."
        )


def check_settings(alpha: Any, tol: Any, max_iter: Any) -> None:
    """Refuse settings with which there are no ranks, on the command line before the edges are read."""
    _between("alpha", alpha, 0.0, 1.0, "the probability of following an edge")
    _between("tol", tol, 0.0, float("inf"), "the change below which to stop")
    if whole_number("max_iter", max_iter, of="iterations", first=1) == 0:
        raise TravError("max_iter=0 allows no iteration: give at least 1.")


def _between(what: str, value: Any, low: float, high: float, meaning: str) -> None:
    try:
        inside = isinstance(value, Real) and not isinstance(value, bool) and low < float(value) < high
    except OverflowError:
        inside = False
    if not inside:
        least = f"above {low:g}" if high == float("inf") else f"between {low:g} and {high:g}"
        raise TravError(f"{what}={written(value)} is not {meaning}: give a number {least}.")
