"""Every variant of this package's search and both settings of pylibcugraph's; the whole call; the build.

The whole call is from an id to the frame of the answer, against `cugraph.bfs`, and over the traversal alone;
the build from the edge frame to a graph that can be searched: time, phases and peak memory, against cuGraph.
Both sides allocate from one RMM pool with statistics; each builds once unmeasured, to compile and load its
kernels.  The peak is the memory held at once beyond the input, which is the bytes of the two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks import graphs
from benchmarks.gpu.checks import same_answers
from benchmarks.gpu.libraries import rival_name
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason, short, verdict
from rapids_trav.engines.interface import BfsOptions

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Contender, Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat20", "rmat22", "rmat24", "grid4096")
TRAVERSALS = (
    "graph", "name", "roots", "median_ms", "q1_ms", "q3_ms", "min_ms", "max_ms", "harmonic_mean_ms", "note",
)  # fmt: skip
CALLS = (
    "graph", "name", "roots", "min_ms", "q1_ms", "median_ms", "q3_ms", "max_ms", "over_traversal",
    "over_graph.bfs", "checked", "wrong", "note",
)  # fmt: skip
BUILDS = (
    "graph", "name", "median_ms", "min_ms", "peak_over_input", "peak_bytes", "input_bytes", "renumber_ms",
    "degree_sort_ms", "adjacency_ms", "over_ours", "note",
)  # fmt: skip
TABLES = {"build": BUILDS, "traversal": TRAVERSALS, "whole call": CALLS}
COMPARED = 2  # roots whose answers are compared row by row
REPEATS = 3


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    for row in builds(lab, edges, directed):
        yield "build", row
    graph, roots = lab.graph(edges, directed=directed), lab.roots(edges, directed)
    for row in traversals(lab, graph, roots):
        yield "traversal", row
    for row in calls(lab, graph, edges, roots):
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


def calls(lab: Lab, graph: Any, edges: Any, roots: Sequence[int]) -> Iterator[Row]:
    """Yield the traversal alone, our call and cuGraph's on one graph."""
    alone = of_times(lab.timings(lab.ours(graph), roots))
    yield {"name": "rapids_trav traversal alone", **alone}
    call = lab.whole_call(graph)
    whole = of_times(lab.timings(call, roots))
    share = ratio(whole["median_ms"], alone["median_ms"])
    yield {"name": "rapids_trav graph.bfs", **whole, "over_traversal": share}
    try:
        theirs = lab.cugraph_call(lab.cugraph(edges, graph.directed))
        times = of_times(lab.timings(theirs, roots))
        agreed = compared(call, theirs, roots[:COMPARED])
    except REFUSALS as error:
        yield {"name": "cugraph.bfs", "note": f"not measured, {reason(error)}"}
        return
    lead = ratio(times["median_ms"], whole["median_ms"])
    yield {"name": "cugraph.bfs", **times, "over_graph.bfs": lead, **agreed}


def compared(ours: Contender, theirs: Contender, roots: Sequence[int]) -> Row:
    faults = [
        f"root {root}: other distances than graph.bfs"
        for root in roots
        if not same_answers(ours.run(ours.prepare(root)), theirs.run(theirs.prepare(root)))
    ]
    return verdict(len(roots), faults)


def builds(lab: Lab, edges: Any, directed: bool) -> Iterator[Row]:
    """Yield this package's build and cuGraph's of one frame."""
    input_bytes = int(edges.memory_usage(index=False).sum())
    ours = repeated(lab, lambda: lab.graph(edges, directed=directed), input_bytes)
    yield {"name": "rapids_trav", **ours}
    try:
        theirs = repeated(lab, lambda: lab.cugraph(edges, directed), input_bytes)
    except REFUSALS as error:
        yield {"name": "cugraph", "note": f"not measured, {reason(error)}"}
        return
    yield {"name": "cugraph", **theirs, "over_ours": ratio(theirs["median_ms"], ours["median_ms"])}


def repeated(lab: Lab, build: Callable[[], Any], input_bytes: int) -> Row:
    """Return times and peak of a few builds, each dropped before the next, and the phases of the last."""
    build()
    ms, peak, phases = [], 0, {}
    for _ in range(REPEATS):
        graph, seconds, held = lab.peak_bytes(build)
        ms.append(1e3 * seconds)
        peak = max(peak, held)
        phases = phase_times(graph)
        del graph
    memory = {
        "peak_over_input": short(peak / input_bytes), "peak_bytes": peak, "input_bytes": input_bytes,
    }  # fmt: skip
    return {**of_times(ms), **memory, **phases}


def phase_times(graph: Any) -> Row:
    """Return the milliseconds of each phase that this package's graph has timed; cuGraph's has none."""
    seconds = getattr(graph, "build_times", {})
    return {f"{phase.replace(' ', '_')}_ms": short(1e3 * s) for phase, s in seconds.items()}
