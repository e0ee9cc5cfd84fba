"""(c) Graphs of thousands of levels, where the time per level dominates.

Roots are drawn from a component with more than half of the vertices.  pylibcugraph is so slow here that it is
searched from one root, after a warm-up of a few levels, and on a path of a million vertices only with
`--slow`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import Agreement, Checker, reached
from .libraries import REFUSALS, reason, rival_name
from .pictures import bars
from .rows import Row, of_times, ratio, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Contender, Lab

GRAPHS = ("grid4096", "path1000000", "geometric20", "lattice4096")
COLUMNS = (
    "graph", "vertices", "edges", "name", "roots", "levels", "median_ms", "min_ms", "max_ms", "us_a_level",
    "ours_over_theirs", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"diameter": COLUMNS}
WARM_DEPTH = 64
ROOTS = 16  # at most; a search takes tens of milliseconds
ROOTS_ON_PATH = 3  # a search takes seconds
TRIES = 20


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        for row in one(lab, name):
            yield {"benchmark": "diameter", "table": "diameter", "graph": name, **row}


def one(lab: Lab, name: str) -> Iterator[Row]:
    edges = lab.load(name)
    graph = lab.graph(edges)
    ours, checker = lab.ours(graph), Checker(lab, graph, edges)
    most = ROOTS_ON_PATH if name.startswith("path") else ROOTS
    roots = in_large_component(lab, graph, ours, lab.roots(edges), min(most, lab.n_roots))
    facts: Row = {"vertices": graph.n_vertices, "edges": graph.n_edges, "seed": lab.seed}
    ms = lab.timings(ours, roots, check=checker, warm_depth=WARM_DEPTH)
    mine = per_level(ms, [checker.levels[root] for root in roots[: len(ms)]])
    yield {**facts, "name": ours.name, **of_times(ms), **mine, **checker.verdict()}

    for optimizing in (True, False):
        row = {**facts, "name": rival_name(optimizing)}
        if name.startswith("path") and not lab.slow:
            yield {**row, "note": "not measured, takes minutes: --slow"}
            continue
        agreement, levels = Agreement(ours, lab.xp), []

        def check(root: int, result: Any, agreement: Agreement = agreement, levels: list = levels) -> None:
            agreement(root, result)
            levels.append(int(reached(lab.xp, result[0]).max()))

        try:
            rival = lab.rival(graph, optimizing=optimizing)
            ms = lab.timings(rival, roots[:1], check=check, warm_depth=WARM_DEPTH)
        except REFUSALS as error:
            yield {**row, "note": f"not measured, {reason(error)}"}
            continue
        theirs = per_level(ms, levels)
        lead = ratio(theirs["us_a_level"], mine["us_a_level"])
        yield {**row, **of_times(ms), **theirs, "ours_over_theirs": lead, **agreement.verdict()}


def in_large_component(
    lab: Lab, graph: Graph, ours: Contender, drawn: Sequence[int], count: int
) -> list[int]:
    """Draw roots from the component of the first drawn root that reaches more than half of the vertices."""
    for root in drawn[:TRIES]:
        inside = lab.xp.flatnonzero(ours.run(ours.prepare(root)).distance >= 0)
        if 2 * len(inside) > graph.n_vertices:
            chosen = np.random.default_rng(lab.seed).choice(
                len(inside), min(count, len(inside)), replace=False
            )
            ids = graph.ids.decode(inside[lab.xp.asarray(chosen)])[0]
            return lab.xp.asarray(ids).tolist()
    raise SystemExit("No component of the graph has half of its vertices: another seed may find one.")


def per_level(ms: Sequence[float], levels: Sequence[int]) -> Row:
    """Return the median number of levels, and the median over the roots of the microseconds of a level."""
    each = [1e3 * t / max(n, 1) for t, n in zip(ms, levels, strict=True)]
    return {"levels": int(np.median(levels)), "us_a_level": short(np.median(each))}


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    bars(axes, rows, "us_a_level", "microseconds a level")
