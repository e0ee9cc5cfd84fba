"""(j) PageRank, components and shortest paths, from the call to the frame, against cuGraph on the same edges.

Self-loops and duplicates are left out beforehand, since libraries differ over them.  Each cuGraph function
gets the graph that it prefers: stored transposed for PageRank, without weights where it needs none.
Unweighted, cuGraph ranks in float32 and we in float64; a row of float32 stands beside.  Time of an iteration:
the difference between a long and a short run, over that of their iterations.  cuGraph's sssp always finds
predecessors; a row without stands beside ours.  Weights are multiples of 1/256, of which every sum is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_trav import datasets
from rapids_trav.algorithms import programs

from . import graphs
from .checks import verdict
from .lab import Contender
from .libraries import REFUSALS, reason
from .pictures import bars
from .rows import Row, of_times, ratio, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Lab

GRAPHS = (*datasets.names(), "rmat20", "rmat22", "rmat24")
COLUMNS = (
    "graph", "program", "name", "runs", "median_ms", "min_ms", "max_ms", "iteration_ms", "over_ours",
    "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"programs": COLUMNS}
ALPHA, TOLERANCE, NEVER = 0.85, 1e-6, 1e-30
SHORT, LONG = 10, 50  # iterations
RUNS, SOURCES = 5, 8


@dataclass(frozen=True)
class Match:
    """One question to several of ours and one of theirs; `same(ours, theirs)` compares two answers."""

    program: str
    ours: Sequence[Contender]
    theirs: Contender
    arguments: Sequence[int]
    same: Callable[[Any, Any], bool]


class CuGraph:
    """cuGraph's functions on the graphs that they prefer, each built when it is first needed."""

    def __init__(self, edges: Any, directed: bool) -> None:
        self._edges, self._directed = edges, directed

    def _graph(self, directed: bool, weight: str | None = None, transposed: bool = False) -> Any:
        import cugraph

        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(
            self._edges, source="src", destination="dst", weight=weight, store_transposed=transposed
        )
        return graph

    @cached_property
    def _transposed(self) -> Any:
        return self._graph(self._directed, transposed=True)

    @cached_property
    def _undirected(self) -> Any:
        return self._graph(directed=False)

    @cached_property
    def _weighted(self) -> Any:
        return self._graph(self._directed, weight="weight")

    def pagerank(self, tolerance: float, most: int) -> Any:
        import cugraph

        ranks, _ = cugraph.pagerank(
            self._transposed, ALPHA, max_iter=most, tol=tolerance, fail_on_nonconvergence=False
        )
        return ranks

    def components(self) -> Any:
        import cugraph

        return cugraph.weakly_connected_components(self._undirected)

    def sssp(self, source: int) -> Any:
        import cugraph

        return cugraph.sssp(self._weighted, source)


def measure(lab: Lab, names: Sequence[str], library: Callable[[Any, bool], Any] = CuGraph) -> Iterator[Row]:
    for name in names:
        directed = graphs.is_directed(name)
        edges = simple(lab, lab.load(name), directed)
        graph, theirs = lab.graph(edges, directed=directed, weight="weight"), library(edges, directed)
        sources = lab.roots(edges, directed)[:SOURCES]
        facts = {"graph": name, "vertices": graph.n_vertices, "edges": graph.n_edges, "seed": lab.seed}
        for row in (
            *matched(lab, ranks(graph, theirs)),
            *an_iteration(lab, graph, theirs),
            *matched(lab, components(graph, theirs)),
            *matched(lab, shortest(graph, theirs, sources)),
        ):
            yield {"benchmark": "programs", "table": "programs", **facts, **row}
        del graph, theirs, edges


def simple(lab: Lab, edges: Any, directed: bool) -> Any:
    """Each edge between two vertices once, with a weight."""
    edges = edges[edges["src"] != edges["dst"]]
    src, dst = edges["src"], edges["dst"]
    if not directed:
        edges = edges.assign(src=src.where(src < dst, dst), dst=dst.where(src < dst, src))
    edges = edges.drop_duplicates(["src", "dst"]).reset_index(drop=True)
    parts = np.random.default_rng(lab.seed).integers(1, 256, len(edges), dtype=np.uint8)
    edges["weight"] = lab.xp.asarray(parts).astype(np.float32) / 256
    return edges


def matched(lab: Lab, match: Match) -> Iterator[Row]:
    """A row for each of ours, then theirs, whose answers are compared with those of our first."""
    best: Row = {}
    for ours in match.ours:
        row = of_runs(lab.timings(ours, match.arguments))
        best = best or row
        yield {"program": match.program, "name": ours.name, **row}
    row = {"program": match.program, "name": match.theirs.name}
    faults = []

    def check(argument: int, answer: Any) -> None:
        if not match.same(match.ours[0].run(argument), answer):
            faults.append(f"argument {argument}: another answer than ours")

    try:
        ms = lab.timings(match.theirs, match.arguments, check=check)
    except REFUSALS as error:
        yield {**row, "note": f"not measured, {reason(error)}"}
        return
    row |= of_runs(ms)
    yield {**row, "over_ours": ratio(row["median_ms"], best["median_ms"]), **verdict(len(ms), faults)}


def of_runs(ms: Sequence[float]) -> Row:
    times = of_times(ms)
    return {"runs": times.pop("roots"), **times}


def call(name: str, function: Callable[..., Any]) -> Contender:
    return Contender(name, int, lambda argument, limit=None: function(argument))


def ranks(graph: Graph, theirs: Any) -> Match:
    return Match(
        "pagerank",
        [call("rapids_trav", lambda _: graph.pagerank(ALPHA, tol=TOLERANCE, max_iter=500, weighted=False))],
        call("cugraph", lambda _: theirs.pagerank(TOLERANCE, 500)),
        range(RUNS),
        same_ranks,
    )


def components(graph: Graph, theirs: Any) -> Match:
    return Match(
        "components",
        [call("rapids_trav", lambda _: graph.components())],
        call("cugraph", lambda _: theirs.components()),
        range(RUNS),
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


def an_iteration(lab: Lab, graph: Graph, theirs: Any) -> Iterator[Row]:
    """Time of one iteration of PageRank."""
    n = graph.n_vertices

    def ours(dtype: str) -> Callable[[int], Any]:
        program = programs.pagerank(NEVER, dtype)
        settings = {"initial": 1 / n, "parameters": (ALPHA, 1 / n)}
        return lambda most: graph.run(program, max_iterations=most, **settings)

    contenders = [(f"rapids_trav {dtype}", ours(dtype)) for dtype in ("float64", "float32")]
    contenders.append(("cugraph", lambda most: theirs.pagerank(NEVER, most)))
    base = None
    for name, run in contenders:
        row = {"program": "pagerank, an iteration", "name": name}
        try:
            quick, slow = (np.median(lab.timings(call(name, run), [most] * RUNS)) for most in (SHORT, LONG))
        except REFUSALS as error:
            yield {**row, "note": f"not measured, {reason(error)}"}
            continue
        each = short((slow - quick) / (LONG - SHORT))
        base = base or each
        yield {**row, "iteration_ms": each, "over_ours": ratio(each, base)}


def ordered(frame: Any, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices ascending, and the numbers of a column, infinite where null."""
    frame = frame.sort_values("vertex")
    numbers = frame[column]
    numbers = numbers.fillna(np.inf) if numbers.dtype.kind == "f" else numbers
    return frame["vertex"].to_numpy(), numbers.to_numpy()


def same_ranks(ours: Any, theirs: Any) -> bool:
    """Both are within alpha / (1 - alpha) tolerances of the end, and one has seven digits."""
    (vertex, rank), (other, their) = ordered(ours, "pagerank"), ordered(theirs, "pagerank")
    bound = 2 * TOLERANCE * ALPHA / (1 - ALPHA) + 1e-4
    return np.array_equal(vertex, other) and float(np.abs(rank - their).sum()) < bound


def same_components(ours: Any, theirs: Any) -> bool:
    """The same vertices hang together, whatever the components are called."""
    (vertex, component), (other, label) = ordered(ours, "component"), ordered(theirs, "labels")
    if not np.array_equal(vertex, other):
        return False
    (names, place), (labels, label_place) = (
        np.unique(values, return_inverse=True) for values in (component, label)
    )
    pairs = np.unique(place.astype(np.int64) * len(labels) + label_place)
    return len(names) == len(labels) == len(pairs)


def same_lengths(ours: Any, theirs: Any) -> bool:
    """cuGraph marks what it does not reach with the largest number."""
    (vertex, length), (other, their) = ordered(ours, "distance"), ordered(theirs, "distance")
    their = np.where(their == np.finfo(their.dtype).max, np.inf, their)
    return np.array_equal(vertex, other) and np.array_equal(length.astype(np.float64), their)


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    bars(axes, [{**row, "name": f"{row['program']} {row['name']}"} for row in rows], "median_ms", "median ms")
