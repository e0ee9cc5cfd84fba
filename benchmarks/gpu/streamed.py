"""`graph.bfs_stream`: many searches whose GPU does not wait for the host, against calls of `graph.bfs`.

The sum of the device's times is what a GPU that never waited would take.  Beside it are the wall times of all
roots, of which each is the median of some rounds: searches of the engine, to arrays, and whole calls, from an
id to a frame, each of them streamed and one after another.  Answers are dropped as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.checks import Checker
from benchmarks.gpu.lab import DEFAULT
from benchmarks.harness import Row, ratio, short, verdict
from rapids_trav.algorithms.bfs_stream import AHEAD

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat20", "rmat22", "rmat24")
ROUNDS = 5
COMPARED = 4  # roots whose streamed answers are compared row by row
DEVICE = "traversals, by the device's clock"
COLUMNS = (
    "graph", "name", "roots", "total_ms", "min_ms", "max_ms", "ms_a_search", "over_device", "checked",
    "wrong", "note",
)  # fmt: skip
TABLES = {"streamed": COLUMNS}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    graph = lab.graph(edges, directed=directed)
    for row in one(lab, graph, edges, lab.roots(edges, directed)):
        yield "streamed", row


def one(lab: Lab, graph: Graph, edges: Any, roots: Sequence[int]) -> Iterator[Row]:
    """Yield the sum of the device's times, and the wall time of each way to search from all roots."""
    checker = Checker(lab, graph, edges)
    device = sum(lab.device_timings(lab.ours(graph), roots, checker))
    yield _row(DEVICE, roots, [device], device) | checker.verdict()
    for name, search_all in ways(lab, graph, roots).items():
        search_all()
        times = [1e3 * lab.timed(search_all)[1] for _ in range(ROUNDS)]
        checked = compared(graph, roots[:COMPARED]) if name == "graph.bfs_stream" else {}
        yield _row(name, roots, times, device) | checked


def ways(lab: Lab, graph: Graph, roots: Sequence[int]) -> dict[str, Callable[[], None]]:
    """Return functions that search from all roots, by name."""
    ours, view, queue = lab.ours(graph), graph.storage.view("out"), graph.engine.bfs_stream
    sources = [ours.prepare(root) for root in roots]

    def engine() -> None:
        for source in sources:
            ours.run(source)

    def engine_streamed() -> None:
        for _ in queue(view, iter(sources), DEFAULT, AHEAD):
            pass

    def calls() -> None:
        for root in roots:
            graph.bfs(root)

    def calls_streamed() -> None:
        for _ in graph.bfs_stream(roots):
            pass

    of_engine = {"engine.bfs": engine} | ({} if queue is None else {"engine.bfs_stream": engine_streamed})
    return of_engine | {"graph.bfs": calls, "graph.bfs_stream": calls_streamed}


def compared(graph: Graph, roots: Sequence[int]) -> Row:
    faults = [
        f"root {root}: other distances than graph.bfs"
        for root, frame in graph.bfs_stream(roots)
        if not frame["distance"].equals(graph.bfs(root)["distance"])
    ]
    return verdict(len(roots), faults)


def _row(name: str, roots: Sequence[int], times: Sequence[float], device: float) -> Row:
    total = float(np.median(times))
    figures = {
        "total_ms": total, "min_ms": min(times), "max_ms": max(times), "ms_a_search": total / len(roots),
    }  # fmt: skip
    figures = {column: short(figure) for column, figure in figures.items()}
    return {"name": name, "roots": len(roots), **figures, "over_device": ratio(total, device)}
