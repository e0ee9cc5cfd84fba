"""Small questions about a graph, from an id to the frame of the answer, and the host's part of a search.

"questions" has the wall time of each question from each root.  The answers of a few roots are compared, after
the clock has stopped, with those that follow from the distances of another variant of the search.

"search" has the default search to arrays by the device's clock, by the wall, and the difference of the two
from the same root: the host's part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.checks import Checker
from benchmarks.gpu.lab import Contender
from benchmarks.gpu.question_answers import Expected
from benchmarks.harness import Row, of_times, verdict

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("facebook", "rmat20", "rmat22")
FIGURES = ("roots", "min_ms", "q1_ms", "median_ms", "q3_ms", "max_ms")
TABLES = {
    "search": ("graph", "name", *FIGURES, "checked", "wrong", "note"),
    "questions": ("graph", "name", *FIGURES, "checked", "wrong", "note"),
}
COMPARED = 2  # roots whose answers are compared
DEVICE, WALL, HOST = "by the device's clock", "by the wall", "the host's part"


@dataclass(frozen=True)
class Question:
    """A question about a graph, and whether its answer is right; both get a root and two targets."""

    ask: Callable[[Graph, int, list[int]], Any]
    is_right: Callable[[Expected, Any, list[int]], bool]


QUESTIONS = {
    "bfs": Question(
        lambda graph, root, _: graph.bfs(root),
        lambda expected, found, _: expected.distances(found),
    ),
    "reached_only": Question(
        lambda graph, root, _: graph.bfs(root, reached_only=True),
        lambda expected, found, _: expected.reached(found),
    ),
    "targets": Question(
        lambda graph, root, targets: graph.bfs(root, targets=targets),
        lambda expected, found, targets: expected.distances_of(found, targets),
    ),
    "deterministic": Question(
        lambda graph, root, _: graph.bfs(root, deterministic=True),
        lambda expected, found, _: expected.distances(found) and expected.least_predecessors(found),
    ),
    "levels": Question(
        lambda graph, root, _: graph.levels(root),
        lambda expected, found, _: expected.levels(found),
    ),
    "paths": Question(
        lambda graph, root, targets: graph.paths(root, targets),
        lambda expected, found, targets: expected.paths(found, targets),
    ),
    "khop(1)": Question(
        lambda graph, root, _: graph.khop(root, 1),
        lambda expected, found, _: expected.neighborhood(found),
    ),
    "components": Question(
        lambda graph, *_: graph.components(),
        lambda expected, found, _: expected.component(found),
    ),
    "pagerank": Question(
        lambda graph, *_: graph.pagerank(),
        lambda expected, found, _: expected.ranks(found),
    ),
}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    graph, roots = lab.graph(edges, directed=directed), lab.roots(edges, directed)
    for table, rows in (("search", search), ("questions", questions)):
        for row in rows(lab, graph, edges, roots):
            yield table, row


def search(lab: Lab, graph: Graph, edges: Any, roots: Sequence[int]) -> Iterator[Row]:
    """Yield the times of the search by both clocks, and the differences."""
    ours, checker = lab.ours(graph), Checker(lab, graph, edges)
    device = lab.device_timings(ours, roots, checker)
    yield {"name": DEVICE, **of_times(device), **checker.verdict()}
    wall = lab.timings(ours, roots)
    yield {"name": WALL, **of_times(wall)}
    yield {"name": HOST, **of_times([one - other for one, other in zip(wall, device, strict=False)])}


def questions(lab: Lab, graph: Graph, edges: Any, roots: Sequence[int]) -> Iterator[Row]:
    """Yield the times of each question, and how many of the compared answers are wrong."""
    following = dict(zip(roots, np.roll(roots, -1).tolist(), strict=True))

    def targets(root: int) -> list[int]:
        return [following[root], following[following[root]]]

    expected = [(root, Expected(lab, graph, edges, root)) for root in roots[:COMPARED]]
    for name, question in QUESTIONS.items():
        contender = Contender(
            name, int, lambda root, _=None, ask=question.ask: ask(graph, root, targets(root))
        )
        times = of_times(lab.timings(contender, roots))
        faults = [
            f"root {root}: another answer than expected"
            for root, one in expected
            if not question.is_right(one, contender.run(root), targets(root))
        ]
        yield {"name": name, **times, **verdict(len(expected), faults)}
