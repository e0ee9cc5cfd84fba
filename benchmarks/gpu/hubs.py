"""B13: the hub cache by its threshold: hits, bytes held, and time.

A bottom-up step keeps the frontier's bits of the vertices with at least `threshold` edges in each block's
shared memory.  `held_vertices` and `held_bytes` are what a block holds, which has an upper limit; `hits` are
the look-ups that it answers, `looked_up` all of them, on the average of a few traced searches.  `over_none`
compares harmonic means with those without a cache; times are the device's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.gpu.checks import Checker
from benchmarks.harness import Row, of_rates, of_times, ratio, short
from rapids_trav.engines.interface import BfsOptions

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat22", "rmat24")
THRESHOLDS = (None, 0, 10, 30, 100, 300, 1000, 3000, 10000)
NONE = "no cache"
TRACED = 8  # searches whose hits are counted
COLUMNS = (
    "graph", "name", "threshold", "held_vertices", "held_bytes", "roots", "min_ms", "median_ms", "max_ms",
    "gteps_harmonic_mean", "over_none", "hits", "looked_up", "hit_share", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"hubs": COLUMNS}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    graph, roots = lab.graph(edges), lab.roots(edges)
    checker, base = Checker(lab, graph, edges), None
    for threshold in THRESHOLDS:
        row = one(lab, graph, checker, roots, threshold)
        base = row["gteps_harmonic_mean"] if threshold is None else base
        yield "hubs", {**row, "over_none": ratio(row["gteps_harmonic_mean"], base)}


def one(lab: Lab, graph: Graph, checker: Checker, roots: Sequence[int], threshold: int | None) -> Row:
    options = BfsOptions(hub_degree=threshold)
    name = NONE if threshold is None else f"from {threshold} edges"
    checker.restart()
    ms = lab.device_timings(lab.ours(graph, options, name=name), roots, checker)
    words = graph.storage.view("out").out.prepared.get("hub words", {})
    held = 0 if threshold is None else 32 * words.get(threshold, 0)
    return {
        "name": name, "threshold": threshold, "held_vertices": min(held, graph.n_vertices),
        "held_bytes": held // 8, **of_times(ms), **of_rates(ms, checker.traversed(roots[: len(ms)])),
        **look_ups(lab, graph, options, roots[:TRACED]), **checker.verdict(),
    }  # fmt: skip


def look_ups(lab: Lab, graph: Graph, options: BfsOptions, roots: Sequence[int]) -> Row:
    """Return the mean numbers of look-ups of bottom-up steps, and of those that the cache answered."""
    traced = lab.ours(graph, replace(options, trace=True))
    found = [traced.run(traced.prepare(root)) for root in roots]
    hits = sum(search.counters.get("hub_hits", 0) for search in found)
    asked = sum(row.edges for search in found for row in search.trace if row.direction == "pull")
    share = short(hits / asked) if asked else None
    return {"hits": hits // len(found), "looked_up": asked // len(found), "hit_share": share}
