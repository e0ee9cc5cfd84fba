"""B11: vertex-centric against edge-centric searches by kind of graph: time, bytes, longest thread.

A thread of "push" and "frontier" follows all edges of a vertex, one of "pull" looks at a vertex's edges up to
the first parent, and one of "edge" at a single edge.  `stored_bytes` are those of the rows, or of the list of
edges with both ends that "edge" needs.  `longest_thread` is the largest number of edges that one thread
examines in a level, `mean_thread` the mean over those threads that have a vertex (or an edge) to look at, and
`busy_share` their share of the threads that are launched.  Times are the device's, waits for the host after
each level included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.gpu.checks import Checker
from benchmarks.harness import Row, of_times, ratio, short
from rapids_trav.engines.interface import BfsOptions, Search, View

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat18", "grid512", "star262144", "path1024")
VARIANTS = ("push", "pull", "frontier", "edge")
COLUMNS = (
    "graph", "vertices", "edges", "name", "roots", "levels", "min_ms", "median_ms", "max_ms", "over_edge",
    "stored_bytes", "edges_examined", "traced_bytes", "longest_thread", "mean_thread", "longest_over_mean",
    "busy_share", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"kinds": COLUMNS}
ROOTS = 8


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    graph, roots = lab.graph(edges), lab.roots(edges)[:ROOTS]
    checker = Checker(lab, graph, edges)
    rows = [one(lab, graph, checker, roots, variant) for variant in searched(lab)]
    base = next((row["median_ms"] for row in rows if row["name"] == "edge"), None)
    sizes = {"vertices": graph.n_vertices, "edges": graph.n_edges}
    for row in rows:
        yield "kinds", {**sizes, **row, "over_edge": ratio(row["median_ms"], base)}


def searched(lab: Lab) -> list[str]:
    return [variant for variant in VARIANTS if variant in lab.variants]


def one(lab: Lab, graph: Graph, checker: Checker, roots: Sequence[int], variant: str) -> Row:
    view = graph.storage.view("out")
    checker.restart()
    ms = lab.device_timings(lab.ours(graph, BfsOptions(variant=variant), name=variant), roots, checker)
    traced = lab.ours(graph, BfsOptions(variant=variant, trace=True))
    found = traced.run(source := traced.prepare(roots[0]))
    stored = view.coo if variant == "edge" else view.out
    n_bytes = stored.nbytes if variant == "edge" else stored.row_offsets.nbytes + stored.column_indices.nbytes
    return {
        "name": variant, **of_times(ms), "levels": len(found.trace), "stored_bytes": n_bytes,
        "edges_examined": sum(level.edges for level in found.trace),
        "traced_bytes": sum(level.bytes for level in found.trace),
        **threads(lab.xp, variant, view, found, source), **checker.verdict(),
    }  # fmt: skip


def threads(xp: Any, variant: str, view: View, found: Search, source: Any) -> Row:
    """Return how the edges that a search from one vertex examined were shared among threads."""
    n_levels, distance, out = len(found.trace), found.distance, view.out
    degree = xp.diff(out.row_offsets)
    launched = n_levels * (out.n_edges if variant == "edge" else out.n_vertices)
    if variant == "edge":
        busy, longest = launched, 1
    elif variant == "pull":
        # Until it is reached, a vertex with edges has a busy thread in each level: a thread that reads the
        # whole row in all of them but the last.
        turns = xp.where(distance < 0, n_levels, distance)
        busy = int(turns[degree > 0].sum())
        longest = max(_most(degree[(distance < 0) | (distance > 1)]), _most(_first_hits(xp, out, source)))
    else:
        busy = sum(level.frontier for level in found.trace)
        launched = busy if variant == "frontier" else launched
        longest = _most(degree[distance >= 0])
    mean = short(sum(level.edges for level in found.trace) / max(busy, 1))
    shares = {"longest_over_mean": ratio(longest, mean), "busy_share": ratio(busy, launched)}
    return {"longest_thread": longest, "mean_thread": mean, **shares}


def _first_hits(xp: Any, out: Any, source: Any) -> Any:
    """Return the edges that each neighbour of the source looks at until it finds it."""
    places = xp.flatnonzero(out.column_indices == source[0])
    rows = xp.searchsorted(out.row_offsets, places.astype(out.row_offsets.dtype), side="right") - 1
    first = rows != source[0]
    first[1:] &= rows[1:] != rows[:-1]  # of several equal edges
    return (places - out.row_offsets[rows] + 1)[first]


def _most(values: Any) -> int:
    return int(values.max()) if len(values) else 0
