"""Ids that are strings: the build and whole calls, against cuGraph's, and those of the same integer ids.

The ids of a generated graph become `user<id>`.  Calls are from an id to the frame of the answer: `bfs`, `bfs`
without predecessors, whose strings need not be gathered, and `reached_only`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks import graphs
from benchmarks.gpu.lab import Contender
from benchmarks.gpu.variants import BUILDS, COMPARED, builds, compared
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("facebook", "rmat20")
CALLS: dict[str, dict[str, Any]] = {
    "bfs": {}, "bfs, no predecessors": {"predecessors": False}, "bfs, reached_only": {"reached_only": True},
}  # fmt: skip
TABLES = {
    "build": ("graph", "ids", *BUILDS[1:]),
    "calls": (
        "graph", "ids", "name", "roots", "min_ms", "median_ms", "max_ms", "over_integers", "over_ours",
        "checked", "wrong", "note",
    ),
}  # fmt: skip


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    roots = lab.roots(edges, directed)
    named = edges.assign(**{end: "user" + edges[end].astype("str") for end in ("src", "dst")})
    integers: dict[str, float] = {}
    for ids, frame, sources in (
        ("integers", edges, roots),
        ("strings", named, [f"user{root}" for root in roots]),
    ):
        for row in builds(lab, frame, directed):
            yield "build", {"ids": ids, **row}
        for row in calls(lab, frame, directed, sources, integers):
            yield "calls", {"ids": ids, **row}


def calls(
    lab: Lab, edges: Any, directed: bool, roots: Sequence[Any], integers: dict[str, float]
) -> Iterator[Row]:
    """Yield our calls and cuGraph's `bfs`; fills `integers`, the first medians of each call, by its name."""
    graph = lab.graph(edges, directed=directed)
    ours: dict[str, Contender] = {name: call(graph, name, how) for name, how in CALLS.items()}
    medians = {}
    for name, one in ours.items():
        times = of_times(lab.timings(one, roots))
        medians[name] = times["median_ms"]
        over = ratio(medians[name], integers.setdefault(name, medians[name]))
        yield {"name": f"rapids_trav {name}", **times, "over_integers": over}
    try:
        theirs = replace(lab.cugraph_call(lab.cugraph(edges, directed)), prepare=lambda root: root)
        times = of_times(lab.timings(theirs, roots))
        agreed = compared(ours["bfs"], theirs, roots[:COMPARED])
    except (*REFUSALS, TypeError) as error:
        yield {"name": "cugraph bfs", "note": f"not measured, {reason(error)}"}
        return
    over = ratio(times["median_ms"], integers.setdefault("cugraph", times["median_ms"]))
    lead = ratio(times["median_ms"], medians["bfs"])
    yield {"name": "cugraph bfs", **times, "over_integers": over, "over_ours": lead, **agreed}


def call(graph: Graph, name: str, how: dict[str, Any]) -> Contender:
    return Contender(
        name, lambda root: root, lambda root, limit=None: graph.bfs(root, depth_limit=limit, **how)
    )
