"""Every variant of this package's search and both settings of pylibcugraph's; the whole call; the build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchmarks import graphs
from benchmarks.gpu import build, whole_call
from benchmarks.gpu.libraries import rival_name
from benchmarks.harness import REFUSALS, Row, of_times, reason
from rapids_trav.engines.interface import BfsOptions

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat20", "rmat22", "rmat24", "grid4096")
COLUMNS = (
    "graph", "name", "roots", "median_ms", "q1_ms", "q3_ms", "min_ms", "max_ms", "harmonic_mean_ms", "note",
)  # fmt: skip
TABLES = {"build": build.COLUMNS, "traversal": COLUMNS, "whole call": whole_call.COLUMNS}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    for row in build.one(lab, edges, directed):
        yield "build", row
    graph, roots = lab.graph(edges, directed=directed), lab.roots(edges, directed)
    for row in traversals(lab, graph, roots):
        yield "traversal", row
    for row in whole_call.one(lab, graph, edges, roots):
        yield "whole call", row


def traversals(lab: Lab, graph: Graph, roots: Sequence[int]) -> Iterator[Row]:
    """Yield rows of searches from arrays to arrays; slow variants get fewer roots.

    Some variants examine every edge on every level.
    """
    for variant in lab.variants:
        contender = lab.ours(graph, BfsOptions(variant=variant), name=variant)
        yield {"name": variant, **of_times(lab.timings(contender, roots))}
    for optimizing in (False,) if graph.directed else (True, False):
        name = rival_name(optimizing, renumber=True)  # as cuGraph itself would renumber it
        try:
            rival = lab.rival(graph, optimizing=optimizing, renumber=True)
            yield {"name": name, **of_times(lab.timings(rival, roots))}
        except REFUSALS as error:
            yield {"name": name, "note": f"not measured, {reason(error)}"}
