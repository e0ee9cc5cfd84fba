"""PageRank, in the conventions of cuGraph.

S. Brin, L. Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.

A walker follows a random out-edge (by weight, if edges have weights) with probability alpha, else jumps to
any vertex; from a vertex without out-edges it always jumps.  Iterated from the uniform distribution until the
sum of the absolute changes is below the tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rapids_trav.errors import TravError, written
from rapids_trav.structures import State

from .programs import pagerank as program_of
from .question import one_of, whole_number
from .run import RunQuestion, answer, execute, gather_view, in_order

if TYPE_CHECKING:
    from rapids_trav.graph import Graph


def pagerank(
    graph: Graph,
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
    _between("alpha", alpha, 0.0, 1.0, "the probability of following an edge")
    _between("tol", tol, 0.0, float("inf"), "the change below which to stop")
    whole_number("max_iter", max_iter, of="iterations")
    xp, n = graph.engine.xp, graph.n_vertices
    question = RunQuestion(
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
    if view.weights is not None:
        refuse_negative(graph, view.weights, "ranks are for weights from 0 on")
        if len(view.weights) and not xp.isfinite(view.weights.max()):
            raise TravError(
                f"weight={graph.weight!r} holds inf, and ranks are for finite weights: leave out such edges "
                f"with where=."
            )
    state = State(xp.full(n, 1.0 / max(n, 1), dtype=dtype), xp.ones(n, dtype=bool))
    done = execute(graph, view, program, state, question)
    if not done.converged:
        raise TravError(
            f"pagerank has not converged in max_iter={max_iter} iterations: the ranks still change by "
            f"{done.residual:.3g} in all, and tol is {tol:g}; give a larger max_iter or tol."
        )
    columns = graph.id_columns("vertex") | {"pagerank": in_order(graph, done.values)}
    return answer(graph, columns, done, question)


def refuse_negative(graph: Graph, weights: Any, why: str) -> None:
    """Refuse weights of which one is below 0."""
    if len(weights) and (smallest := weights.min()) < 0:
        raise TravError(
            f"weight={graph.weight!r} holds {written(smallest)}, and {why}: leave out such edges with where= "
            f"or shift the weights."
        )


def _between(what: str, value: Any, low: float, high: float, meaning: str) -> None:
    try:
        inside = low < float(value) < high
    except (TypeError, ValueError):
        inside = False
    if not inside:
        least = f"above {low:g}" if high == float("inf") else f"between {low:g} and {high:g}"
        raise TravError(f"{what}={written(value)} is not {meaning}: give a number {least}.")
