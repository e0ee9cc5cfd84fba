"""R-MAT of growing scale, edge factor 16, against pylibcugraph's direction-optimising search.

GTEPS are those of Graph500: the edge tuples in the root's component, each once, over the time of the search.
Both search from the same roots, and every search is checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks import graphs
from benchmarks.gpu.checks import Agreement, Checker
from benchmarks.gpu.libraries import rival_name
from benchmarks.harness import REFUSALS, Row, of_rates, of_times, ratio, reason

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab

GRAPHS = tuple(f"rmat{scale}" for scale in range(18, 27))
TABLES = {"scales": (
    "graph", "name", "roots", "min_ms", "median_ms", "max_ms", "worst_over_median",
    "gteps_harmonic_mean", "gteps_min", "gteps_median", "gteps_max", "ours_over_theirs", "checked", "wrong",
    "note",
)}  # fmt: skip
ON_DEVICE = "by the device's clock"


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    """Yield rows for this package and for pylibcugraph in two vertex orders.

    All are timed by the wall clock, from the call until the answer is complete.  Ours are also timed by the
    device's clock, without the host's launch time, as other codes report their times.

    Its graph is our adjacency unchanged, and the same edges renumbered by the library, which it prefers but
    which costs more memory: a graph that it refuses has a row that says so.  `ours_over_theirs` is the ratio
    of the harmonic means of the edges traversed in a second.
    """
    edges, directed = lab.load(name), graphs.is_directed(name)
    roots = lab.roots(edges, directed)
    graph = lab.graph(edges, directed=directed)
    ours, checker = lab.ours(graph), Checker(lab, graph, edges)
    ms = lab.timings(ours, roots, check=checker)
    facts: Row = {"vertices": graph.n_vertices, "edges": graph.n_edges}
    mine = of_rates(ms, checker.traversed(roots[: len(ms)]))
    yield "scales", {**facts, "name": ours.name, **of_times(ms), **mine, **checker.verdict()}
    checker.restart()
    ms = lab.device_timings(ours, roots[: len(ms)], checker)
    rates = of_rates(ms, checker.traversed(roots[: len(ms)]))
    yield (
        "scales",
        {**facts, "name": f"{ours.name}, {ON_DEVICE}", **of_times(ms), **rates, **checker.verdict()},
    )

    for renumber in (False, True):
        row = {**facts, "name": rival_name(True, renumber)}
        try:
            rival = lab.rival(graph, optimizing=True, renumber=renumber)
            agreement = Agreement(ours, lab.xp)
            ms = lab.timings(rival, roots[: len(checker.edges)], check=agreement)
        except REFUSALS as error:
            rival = None  # freed before the next one is built
            yield "scales", {**row, "note": f"not measured, {reason(error)}"}
            continue
        theirs = of_rates(ms, checker.traversed(roots[: len(ms)]))
        lead = ratio(mine["gteps_harmonic_mean"], theirs["gteps_harmonic_mean"])
        yield "scales", {**row, **of_times(ms), **theirs, "ours_over_theirs": lead, **agreement.verdict()}
        rival = None
