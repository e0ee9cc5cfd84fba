"""PageRank, components and shortest paths, from the call to the frame, against cuGraph on the same edges.

Self-loops and duplicates are removed beforehand, since libraries treat them differently.  Each cuGraph
function gets the graph that it prefers: stored transposed for PageRank, without weights where it needs none.

PageRank is compared in one precision at a time.  cuGraph ranks in the type of the weights: in float32 without
any, and in float64 where each edge has a float64 weight of 1, which it then reads; rows state the type of the
result.  Both sides stop when the absolute changes of an iteration add up to less than the tolerance, so both
should take the same number of iterations.  cuGraph does not report its number; it is found by bisection over
`max_iter`.  Time of an iteration: the difference between a long and a short run, over that of their
iterations.

cuGraph's sssp always finds predecessors; a row of ours without them is shown as well.  Weights are multiples
of 1/256, whose sums are all exact.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.lab import Contender
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason, short, verdict
from rapids_trav.programs import shipped

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("facebook", "rmat20", "rmat22")
COLUMNS = (
    "graph", "program", "name", "dtype", "runs", "median_ms", "min_ms", "max_ms", "iterations",
    "iteration_ms", "over_ours", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"programs": COLUMNS}
TOLERANCE, NEVER = 1e-6, 1e-30
MOST = 500  # iterations
ALPHA = 0.85
SHORT, LONG = 10, 50
RUNS = 5
PRECISIONS = {"float32": 1e-4, "float64": 1e-9}  # and the total effect of rounding on the ranks


@dataclass(frozen=True)
class Match:
    """One query to several of our contenders and one rival; `same(ours, theirs)` compares two answers.

    `facts` has, by the name of the contender, the other columns of its row.
    """

    program: str
    ours: Sequence[Contender]
    theirs: Contender
    arguments: Sequence[int]
    same: Callable[[Any, Any], bool]
    facts: dict[str, Callable[[], Row]] = field(default_factory=dict)


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    directed = graphs.is_directed(name)
    edges = simple(lab, lab.load(name), directed)
    graph, theirs = lab.graph(edges, directed=directed, weight="weight"), CuGraph(edges, directed)
    facts = {"vertices": graph.n_vertices, "edges": graph.n_edges}
    for row in rows_of(lab, graph, theirs, lab.roots(edges, directed)[:RUNS]):
        yield "programs", {**facts, **row}


def rows_of(lab: Lab, graph: Graph, theirs: Any, sources: Sequence[int]) -> Iterator[Row]:
    for dtype in PRECISIONS:
        yield from matched(lab, ranks(graph, theirs, dtype))
        yield from an_iteration(lab, graph, theirs, dtype)
    yield from matched(lab, components(graph, theirs))
    yield from matched(lab, shortest(graph, theirs, sources))


def simple(lab: Lab, edges: Any, directed: bool) -> Any:
    """Return each edge between two vertices once, with a weight."""
    edges = edges[edges["src"] != edges["dst"]]
    src, dst = edges["src"], edges["dst"]
    if not directed:
        edges = edges.assign(src=src.where(src < dst, dst), dst=dst.where(src < dst, src))
    edges = edges.drop_duplicates(["src", "dst"]).reset_index(drop=True)
    parts = np.random.default_rng(lab.seed).integers(1, 256, len(edges), dtype=np.uint8)
    edges["weight"] = lab.xp.asarray(parts).astype(np.float32) / 256
    return edges


def matched(lab: Lab, match: Match) -> Iterator[Row]:
    """Yield a row for each of ours, then theirs, whose answers are compared with those of our first."""
    best: Row = {}
    for ours in match.ours:
        row = of_runs(lab.timings(ours, match.arguments))
        best = best or row
        yield {"program": match.program, "name": ours.name, **row, **more(match, ours)}
    row = {"program": match.program, "name": match.theirs.name}
    seen: dict[int, bool] = {}

    def check(argument: int, answer: Any) -> None:
        if argument not in seen:
            seen[argument] = match.same(match.ours[0].run(argument), answer)

    try:
        row |= of_runs(lab.timings(match.theirs, match.arguments, check=check)) | more(match, match.theirs)
    except REFUSALS as error:
        yield {**row, "note": f"not measured, {reason(error)}"}
        return
    faults = [f"argument {argument}: another answer than ours" for argument, same in seen.items() if not same]
    yield {**row, "over_ours": ratio(row["median_ms"], best["median_ms"]), **verdict(len(seen), faults)}


def more(match: Match, contender: Contender) -> Row:
    facts = match.facts.get(contender.name)
    return {} if facts is None else facts()


def of_runs(ms: Sequence[float]) -> Row:
    times = of_times(ms)
    return {"runs": times.pop("roots"), **times}


def call(name: str, function: Callable[..., Any]) -> Contender:
    return Contender(name, int, lambda argument, limit=None: function(argument))


def ranks(graph: Graph, theirs: Any, dtype: str) -> Match:
    # Both are within alpha / (1 - alpha) tolerances of the limit, and rounded.
    bound = 2 * TOLERANCE * ALPHA / (1 - ALPHA) + PRECISIONS[dtype]
    asked = {"tol": TOLERANCE, "max_iter": MOST, "weighted": False, "dtype": dtype}

    def our_facts() -> Row:
        traced = graph.pagerank(ALPHA, trace=True, **asked)
        return {"dtype": str(traced.result["pagerank"].dtype), "iterations": len(traced.trace)}

    def their_facts() -> Row:
        def in_time(needed: int) -> bool:
            return theirs.pagerank(dtype, TOLERANCE, needed + 1)[1]

        found, _ = theirs.pagerank(dtype, TOLERANCE, MOST)
        needed = bisect_left(range(MOST), True, key=in_time)
        return {"dtype": str(found["pagerank"].dtype), "iterations": needed}

    return Match(
        "pagerank",
        [call("rapids_trav", lambda _: graph.pagerank(ALPHA, **asked))],
        call("cugraph", lambda _: theirs.pagerank(dtype, TOLERANCE, MOST)[0]),
        [0] * RUNS,
        lambda ours, others: same_ranks(ours, others, bound),
        {"rapids_trav": our_facts, "cugraph": their_facts},
    )


def components(graph: Graph, theirs: Any) -> Match:
    return Match(
        "components",
        [call("rapids_trav", lambda _: graph.components())],
        call("cugraph", lambda _: theirs.components()),
        [0] * RUNS,
        same_components,
    )


def shortest(graph: Graph, theirs: Any, sources: Sequence[int]) -> Match:
    return Match(
        "sssp",
        [
            call("rapids_trav", graph.sssp),
            call("rapids_trav, distances alone", lambda source: graph.sssp(source, predecessors=False)),
        ],
        call("cugraph", theirs.sssp),
        sources,
        same_lengths,
    )


def an_iteration(lab: Lab, graph: Graph, theirs: Any, dtype: str) -> Iterator[Row]:
    """Yield the time of one iteration of PageRank."""
    n, program = graph.n_vertices, shipped.pagerank(NEVER, dtype)
    settings = {"initial": 1 / n, "parameters": (ALPHA, 1 / n)}
    contenders = {
        "rapids_trav": lambda most: graph.run(program, max_iterations=most, **settings),
        "cugraph": lambda most: theirs.pagerank(dtype, NEVER, most),
    }
    base = None
    for name, run in contenders.items():
        row = {"program": "pagerank, an iteration", "name": name, "dtype": dtype}
        try:
            quick, slow = (np.median(lab.timings(call(name, run), [most] * RUNS)) for most in (SHORT, LONG))
        except REFUSALS as error:
            yield {**row, "note": f"not measured, {reason(error)}"}
            continue
        each = short((slow - quick) / (LONG - SHORT))
        base = base or each
        yield {**row, "iteration_ms": each, "over_ours": ratio(each, base)}


def ordered(frame: Any, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices in ascending order, and the numbers of a column, infinite where null."""
    frame = frame.sort_values("vertex")
    numbers = frame[column]
    numbers = numbers.fillna(np.inf) if numbers.dtype.kind == "f" else numbers
    return frame["vertex"].to_numpy(), numbers.to_numpy()


def same_ranks(ours: Any, theirs: Any, bound: float) -> bool:
    """Return whether the sum of the absolute differences is below the bound."""
    (vertex, rank), (other, their) = ordered(ours, "pagerank"), ordered(theirs, "pagerank")
    return np.array_equal(vertex, other) and float(np.abs(rank.astype(np.float64) - their).sum()) < bound


def same_components(ours: Any, theirs: Any, column: str = "labels") -> bool:
    """Return whether the components are the same sets of vertices, regardless of their labels."""
    (vertex, component), (other, label) = ordered(ours, "component"), ordered(theirs, column)
    if not np.array_equal(vertex, other):
        return False
    (names, place), (labels, label_place) = (
        np.unique(values, return_inverse=True) for values in (component, label)
    )
    pairs = np.unique(place.astype(np.int64) * len(labels) + label_place)
    return len(names) == len(labels) == len(pairs)


def same_lengths(ours: Any, theirs: Any) -> bool:
    """Return whether distances agree; cuGraph marks unreached vertices with the largest number."""
    (vertex, length), (other, their) = ordered(ours, "distance"), ordered(theirs, "distance")
    their = np.where(their == np.finfo(their.dtype).max, np.inf, their)
    return np.array_equal(vertex, other) and np.array_equal(length.astype(np.float64), their)


class CuGraph:
    """cuGraph's functions on the graphs that they prefer, each built at first use."""

    def __init__(self, edges: Any, directed: bool) -> None:
        self._edges, self._directed = edges.assign(one=1.0), directed

    def _graph(self, directed: bool, weight: str | None = None, transposed: bool = False) -> Any:
        import cugraph

        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(
            self._edges, source="src", destination="dst", weight=weight, store_transposed=transposed
        )
        return graph

    @cached_property
    def _transposed(self) -> dict[str, Any]:
        """Transposed graphs by the type of the ranks."""
        return {
            "float32": self._graph(self._directed, transposed=True),
            "float64": self._graph(self._directed, weight="one", transposed=True),
        }

    @cached_property
    def _undirected(self) -> Any:
        return self._graph(directed=False)

    @cached_property
    def _weighted(self) -> Any:
        return self._graph(self._directed, weight="weight")

    def pagerank(self, dtype: str, tolerance: float, most: int) -> tuple[Any, bool]:
        """Return the ranks, and whether they took fewer than `most` iterations."""
        import cugraph

        graph = self._transposed[dtype]
        return cugraph.pagerank(graph, ALPHA, max_iter=most, tol=tolerance, fail_on_nonconvergence=False)

    def components(self) -> Any:
        import cugraph

        return cugraph.weakly_connected_components(self._undirected)

    def sssp(self, source: int) -> Any:
        import cugraph

        return cugraph.sssp(self._weighted, source)
