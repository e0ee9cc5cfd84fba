"""(e) From an id to the frame of the answer, against `cugraph.bfs`, and over the traversal alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks import graphs
from benchmarks.gpu.checks import same_answers
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason, verdict
from rapids_trav import datasets

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Contender, Lab

GRAPHS = (*datasets.names(), "rmat20", "rmat22", "rmat24")
COLUMNS = (
    "graph", "name", "roots", "min_ms", "q1_ms", "median_ms", "q3_ms", "max_ms", "over_traversal",
    "over_graph.bfs", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"whole-call": COLUMNS}
COMPARED = 2  # roots whose answers are compared row by row


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    graph = lab.graph(edges, directed=graphs.is_directed(name))
    for row in one(lab, graph, edges, lab.roots(edges, graph.directed)):
        yield "whole-call", row


def one(lab: Lab, graph: Any, edges: Any, roots: Sequence[int]) -> Iterator[Row]:
    """Yield the traversal alone, our call and cuGraph's on one graph."""
    alone = of_times(lab.timings(lab.ours(graph), roots))
    yield {"name": "rapids_trav traversal alone", **alone}
    call = lab.whole_call(graph)
    whole = of_times(lab.timings(call, roots))
    share = ratio(whole["median_ms"], alone["median_ms"])
    yield {"name": "rapids_trav graph.bfs", **whole, "over_traversal": share}
    try:
        theirs = lab.cugraph_call(lab.cugraph(edges, graph.directed))
        times = of_times(lab.timings(theirs, roots))
        agreed = compared(call, theirs, roots[:COMPARED])
    except REFUSALS as error:
        yield {"name": "cugraph.bfs", "note": f"not measured, {reason(error)}"}
        return
    lead = ratio(times["median_ms"], whole["median_ms"])
    yield {"name": "cugraph.bfs", **times, "over_graph.bfs": lead, **agreed}


def compared(ours: Contender, theirs: Contender, roots: Sequence[int]) -> Row:
    faults = [
        f"root {root}: other distances than graph.bfs"
        for root in roots
        if not same_answers(ours.run(ours.prepare(root)), theirs.run(theirs.prepare(root)))
    ]
    return verdict(len(roots), faults)
