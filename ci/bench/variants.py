"""Every variant of this package's search and both settings of pylibcugraph's; the whole call; the build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rapids_trav.engines.interface import BfsOptions

from . import build, graphs, whole_call
from .libraries import REFUSALS, reason, rival_name
from .pictures import bars
from .rows import Row, of_times

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Lab

GRAPHS = ("rmat20", "rmat22", "rmat24", "grid4096")
COLUMNS = (
    "graph", "name", "roots", "median_ms", "q1_ms", "q3_ms", "min_ms", "max_ms", "harmonic_mean_ms", "note",
)  # fmt: skip
TABLES = {"build": build.COLUMNS, "traversal": COLUMNS, "whole call": whole_call.COLUMNS}


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        edges, directed = lab.load(name), graphs.is_directed(name)
        builds = list(build.one(lab, edges, directed))
        graph = lab.graph(edges, directed=directed)
        roots = lab.roots(edges, directed)
        rows = chain(
            (("build", row) for row in builds),
            (("traversal", row) for row in traversals(lab, graph, roots)),
            (("whole call", row) for row in whole_call.one(lab, graph, edges, roots)),
        )
        for table, row in rows:
            yield {"benchmark": "variants", "table": table, "graph": name, "seed": lab.seed, **row}
        del graph, edges, rows


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


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    bars(axes, [row for row in rows if row["table"] == "traversal"], "median_ms", "median ms")
