"""B12: what sorting the vertices by degree costs a build, and after how many searches it has paid.

`sort_ms` is the phase that sorts, `build_more_ms` what the whole build takes beyond one without it: sorted
vertices also change the cost of the adjacency.  Searches are timed by the device's clock, from the same
roots.  `searches_to_pay` divides `build_more_ms` by what a search saves, and `searches_to_pay_sort` the sort
alone; they are missing where a search saves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.gpu.ablation import SORTS
from benchmarks.gpu.checks import Checker
from benchmarks.harness import Row, of_rates, of_times, ratio, short

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab

GRAPHS = tuple(f"rmat{scale}" for scale in range(18, 25))
COLUMNS = (
    "graph", "name", "sort_ms", "build_ms", "build_more_ms", "roots", "median_ms", "max_ms",
    "gteps_harmonic_mean", "saved_ms", "searches_to_pay_sort", "searches_to_pay", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"sorting": COLUMNS}
BUILDS = 3
UNSORTED = "none"


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    found = {back_end: one(lab, edges, lab.roots(edges), how) for back_end, how in SORTS.items()}
    for back_end, row in found.items():
        gain = {} if back_end == UNSORTED else gains(row, found[UNSORTED])
        yield "sorting", {"name": back_end, **row, **gain}


def one(lab: Lab, edges: Any, roots: Sequence[int], how: dict[str, Any]) -> Row:
    """Return the medians of a few builds, after one to warm up, and the times of searches."""
    lab.graph(edges, **how)
    times = []
    for _ in range(BUILDS):
        graph = lab.graph(edges, **how)
        times.append((sum(graph.build_times.values()), graph.build_times.get("degree sort", 0.0)))
    build, sort = (1e3 * float(np.median(seconds)) for seconds in zip(*times, strict=True))
    checker = Checker(lab, graph, edges)
    ms = lab.device_timings(lab.ours(graph), roots, checker)
    rates = of_rates(ms, checker.traversed(roots[: len(ms)]))
    return {
        "sort_ms": short(sort), "build_ms": short(build), **of_times(ms), **rates, **checker.verdict()
    }  # fmt: skip


def gains(row: Row, unsorted: Row) -> Row:
    """Return what a sort costs, what it saves in a search, and the number of searches that pay for it."""
    more = row["build_ms"] - unsorted["build_ms"]
    saved = unsorted["median_ms"] - row["median_ms"]
    pays = saved > 0
    return {
        "build_more_ms": short(more),
        "saved_ms": short(saved),
        "searches_to_pay_sort": ratio(row["sort_ms"], saved) if pays else None,
        "searches_to_pay": ratio(max(more, 0.0), saved) if pays else None,
    }
