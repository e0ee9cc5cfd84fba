"""A graph larger than the card, of edges that are stored nowhere: built, searched, validated.

Its edges are generated again, a block at a time, whenever they are read.  Its adjacency, 4 bytes for each
edge and direction, is in pinned host memory; the card holds what `memory_limit` allows.  Searches are checked
by the five rules of Graph500 from the adjacency in blocks, as many searches as time allows.  GTEPS count the
edges of the root's component, where a self-loop counts half.  Components are compared with a search.  cuGraph
needs both ends of every edge in frames on the card: the attempt to put them there is the last row.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.variants import phase_times
from benchmarks.harness import (
    REFUSALS,
    Row,
    attempted,
    collector_off,
    of_rates,
    of_times,
    reason,
    short,
    verdict,
)
from rapids_trav.algorithms.validation import broken_rules

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat29x22",)
TABLES = {
    "build": (
        "graph", "name", "vertices", "edges", "seconds", "renumber_ms", "degree_sort_ms", "adjacency_ms",
        "adjacency_bytes", "card_bytes", "peak_bytes", "budget", "device_bytes", "host_bytes", "note",
    ),
    "search": (
        "graph", "name", "roots", "min_ms", "median_ms", "max_ms", "gteps_harmonic_mean", "levels",
        "search_bytes", "check_seconds", "checked", "wrong", "note",
    ),
    "components": ("graph", "name", "seconds", "largest", "checked", "wrong", "note"),
    "rival": ("graph", "name", "seconds", "edge_list_bytes", "card_bytes", "note"),
}  # fmt: skip
LIMIT = 48 * 10**9  # bytes of GPU memory
PARTS = 2  # parts of the adjacency; the limit of a smaller graph is one part
CHECK_SECONDS = 90  # after this time no more searches are checked
ROWS = 1 << 24  # rows read at once
Edges = Callable[[], Iterable[Any]]


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    gc.collect()
    edges, n_edges = graphs.made(name, lab.library)
    limit = min(LIMIT, 8 * n_edges // PARTS)
    try:
        graph, seconds, peak = lab.peak_bytes(lambda: lab.graph(edges, memory_limit=limit))
    except REFUSALS as error:
        yield "build", {"name": "rapids_trav", "note": f"not built, {reason(error)}"}
        return
    yield "build", {**built(graph, seconds), **card(lab), "peak_bytes": peak}
    for table, part in (("search", searches), ("components", components)):
        yield table, attempted({"name": "rapids_trav"}, partial(part, lab, graph))
    del graph
    gc.collect()
    yield "rival", {"name": "cugraph", **card(lab), **rival(lab, edges, n_edges)}


def card(lab: Lab) -> Row:
    """Return the bytes of the card, if there is one."""
    cuda = getattr(lab.xp, "cuda", None)
    return {} if cuda is None else {"card_bytes": cuda.runtime.memGetInfo()[1]}


def built(graph: Graph, seconds: float) -> Row:
    """Return the duration of the build, and the bytes in each memory."""
    places = {"device": 0, "host": 0}
    for _, n_bytes, place in graph.storage.memory():
        places[place] = places.get(place, 0) + n_bytes
    return {
        "name": "rapids_trav", "vertices": graph.n_vertices, "edges": graph.n_edges,
        "seconds": short(seconds), **phase_times(graph),
        "adjacency_bytes": graph.storage.view("out").stored.column_indices.nbytes,
        "budget": None if graph.budget is None else graph.budget.limit,
        "device_bytes": places["device"] + graph.ids.nbytes, "host_bytes": places["host"],
    }  # fmt: skip


def searches(lab: Lab, graph: Graph) -> Row:
    """Search each root once; check the result while there is time, then discard it."""
    ours, roots, view = lab.ours(graph), draw_roots(lab, graph), graph.storage.view("out")
    peak = lab.peak_bytes(lambda: ours.run(ours.prepare(roots[0])))[2]  # the first search compiles
    ms, edges, levels, checks, faults = [], [], [], [], []
    for root in roots:
        source = ours.prepare(root)
        with collector_off():
            found, seconds = lab.timed(lambda source=source: ours.run(source))
        ms.append(1e3 * seconds)
        edges.append(traversed(lab, view.out.row_offsets, found.distance))
        levels.append(int(found.distance.max()))
        if sum(checks) < CHECK_SECONDS:
            start = time.perf_counter()
            arrays = (source, found.distance, found.predecessor)
            broken = broken_rules(graph.engine, view, *arrays, budget=graph.budget)
            checks.append(time.perf_counter() - start)
            faults += [f"root {root}: {rule}" for rule in broken[:1]]
        del found
    return {
        **of_times(ms), **of_rates(ms, edges), "levels": max(levels), "search_bytes": peak,
        "check_seconds": short(float(np.median(checks))), **verdict(len(checks), faults),
    }  # fmt: skip


def draw_roots(lab: Lab, graph: Graph) -> list[int]:
    """Draw ids of random vertices with an edge to another one; few vertices have none."""
    rows, n = graph.storage.view("out").stored, graph.n_vertices
    drawn = np.random.default_rng(lab.seed).choice(n, min(2 * lab.n_roots, n), replace=False)

    def has_neighbor(vertex: int) -> bool:
        begin, end = int(rows.row_offsets[vertex]), int(rows.row_offsets[vertex + 1])
        return bool((rows.column_indices[begin:end] != vertex).any())

    chosen = [vertex for vertex in drawn.tolist() if has_neighbor(vertex)][: lab.n_roots]
    return lab.xp.asarray(graph.ids.decode(lab.xp.asarray(chosen))[0]).tolist()


def traversed(lab: Lab, row_offsets: Any, distance: Any) -> int:
    """Count the edges between reached vertices, each once."""
    entries = 0
    for first in range(0, len(distance), ROWS):
        degree = lab.xp.diff(row_offsets[first : first + ROWS + 1])
        entries += int(degree[distance[first : first + ROWS] >= 0].sum(dtype=np.int64))
    return entries // 2


def components(lab: Lab, graph: Graph) -> Row:
    """Time `components` once, from the call to the frame, and compare one component with a search from it."""
    frame, seconds = lab.timed(graph.components)
    component = lab.xp.asarray(frame["component"])
    component = component if graph.ids.order is None else component[graph.ids.order]
    ours = lab.ours(graph)
    source = ours.prepare(draw_roots(lab, graph)[0])
    reached = ours.run(source).distance >= 0
    same = bool(((component == component[source]) == reached).all())
    faults = [] if same else ["other vertices than a search reaches"]
    return {"seconds": short(seconds), "largest": int(reached.sum()), **verdict(1, faults)}


def rival(lab: Lab, edges: Edges, n_edges: int) -> Row:
    """Try to build cuGraph's graph, from both ends of all edges on the card."""
    row: Row = {"edge_list_bytes": 8 * n_edges}
    try:
        ends = lab.xp.empty((2, n_edges), np.int32)
        filled = 0
        for frame in edges():
            for end, name in zip(ends, ("src", "dst"), strict=True):
                end[filled : filled + len(frame)] = lab.xp.asarray(frame[name])
            filled += len(frame)
        whole = import_module(lab.library).DataFrame({"src": ends[0], "dst": ends[1]})
        _, seconds = lab.timed(lambda: lab.cugraph(whole))
        return row | {"seconds": short(seconds), "note": "fits: a larger graph is meant"}
    except (*REFUSALS, OverflowError) as error:
        return row | {"note": f"not built, {reason(error)}"}
