"""How even searches are: the worst root over the median at each scale, and what both are made of.

`worst_over_median` is that of the device's times from all roots.  "Made of" has the root of median time and
the worst one, traced: its degree, levels, and the time, the edges and the number of levels of each kind of
step.  "Levels" has their levels one by one.  A traced search takes longer than a timed one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.gpu.checks import Checker
from benchmarks.harness import Row, of_rates, of_times, short
from rapids_trav.engines.interface import BfsOptions, LevelTrace, Search

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = tuple(f"rmat{scale}" for scale in range(20, 27))
TABLES = {
    "evenness": (
        "graph", "name", "roots", "min_ms", "median_ms", "max_ms", "worst_over_median",
        "gteps_harmonic_mean", "gteps_min", "gteps_max", "checked", "wrong", "note",
    ),
    "made of": (
        "graph", "name", "root", "ms", "over_median", "degree", "reached", "levels", "traced_ms", "pushed",
        "push_ms", "push_edges", "pulled", "pull_ms", "pull_edges", "slowest_level", "slowest_ms",
    ),
    "levels": ("graph", "name", "level", "direction", "frontier", "edges", "ms"),
}  # fmt: skip


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    graph, roots = lab.graph(edges), lab.roots(edges)
    checker, ours = Checker(lab, graph, edges), lab.ours(graph)
    ms = lab.device_timings(ours, roots, checker)
    rates = of_rates(ms, checker.traversed(roots[: len(ms)]))
    yield "evenness", {"name": ours.name, **of_times(ms), **rates, **checker.verdict()}
    yield from extremes(lab, graph, roots, ms)


def extremes(lab: Lab, graph: Graph, roots: Sequence[int], ms: Sequence[float]) -> Iterator[tuple[str, Row]]:
    """Yield rows of the root of median time and of the worst one."""
    order = np.argsort(ms)
    traced = lab.ours(graph, BfsOptions(trace=True))
    traced.run(traced.prepare(roots[0]))  # to compile
    for name, place in (("median root", order[(len(ms) - 1) // 2]), ("worst root", order[-1])):
        source = traced.prepare(roots[place])
        found = traced.run(source)
        offsets = graph.storage.view("out").out.row_offsets
        degree = int(offsets[source + 1][0]) - int(offsets[source][0])
        times = {"ms": short(ms[place]), "over_median": short(ms[place] / float(np.median(ms)))}
        yield "made of", {"name": name, "root": roots[place], **times, "degree": degree, **made_of(found)}
        for level in found.trace:
            yield "levels", {"name": name, **of_level(level)}


def made_of(found: Search) -> Row:
    """Return the sums of a traced search by direction, and its slowest level."""
    row: Row = {"reached": int((found.distance >= 0).sum()), "levels": len(found.trace)}
    row["traced_ms"] = short(sum(level.milliseconds for level in found.trace))
    for direction in ("push", "pull"):
        levels = [level for level in found.trace if level.direction == direction]
        row[f"{direction}ed"] = len(levels)
        row[f"{direction}_ms"] = short(sum(level.milliseconds for level in levels))
        row[f"{direction}_edges"] = sum(level.edges for level in levels)
    slowest = max(found.trace, key=lambda level: level.milliseconds)
    return row | {"slowest_level": slowest.level, "slowest_ms": short(slowest.milliseconds)}


def of_level(level: LevelTrace) -> Row:
    facts = {name: getattr(level, name) for name in ("level", "direction", "frontier", "edges")}
    return {**facts, "ms": short(level.milliseconds)}
