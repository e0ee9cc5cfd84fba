"""Graphs in a quarter of the memory that they need: searches and programs over data on the host.

Search: breadth-first search of the graph in memory; in a quarter of that memory; and with every page streamed
in each level, as a vertex program that gathers over all edges.  Streaming: the bytes of PageRank's iterations
over their time, against a copy of pinned memory in the same run.  PageRank: against cuGraph in memory, on the
edges without self-loops and duplicates, which libraries treat differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu import programs
from benchmarks.gpu.checks import Checker
from benchmarks.harness import REFUSALS, Row, of_rates, of_times, ratio, reason, short, verdict
from rapids_trav import engines
from rapids_trav.engines.runs import IterationTrace, RunOptions
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import breadth_first, pagerank
from rapids_trav.storage.build import MemoryLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat24",)
TABLES = {
    "search": (
        "graph", "name", "roots", "min_ms", "median_ms", "max_ms", "gteps_harmonic_mean", "over_paged",
        "budget", "peak", "checked", "wrong", "note",
    ),
    "streaming": (
        "graph", "name", "iterations", "pages", "bytes", "median_ms", "gb_s", "link_gb_s", "share_of_link",
        "overlap", "budget", "peak", "note",
    ),
    "pagerank": (
        "graph", "name", "runs", "min_ms", "median_ms", "max_ms", "over_paged", "checked", "wrong", "note",
    ),
}  # fmt: skip
PARTS = 4  # parts of the graph's memory; the paged one gets one
PLENTY = 2  # this many times that memory suffices for all of it and for searches and programs
FULL_ROOTS = 4  # searches that stream every page
ITERATIONS, RUNS, MOST_ITERATIONS = 10, 3, 500
PRECISION = "float32"  # of the ranks on both sides
LINK_BYTES = 1 << 30
PAGED, IN_MEMORY, FULL = "a quarter of the memory", "in memory", "every page in each level"


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    limit = footprint(lab, edges, directed) // PARTS
    try:
        graph = lab.graph(edges, directed=directed, memory_limit=limit)
    except REFUSALS as error:
        yield "search", {"name": PAGED, "note": f"not measured, {reason(error)}"}
        return
    for row in searches(lab, graph, edges, directed):
        yield "search", row
    for row in streaming(lab, graph):
        yield "streaming", row
    del graph
    for row in ranks(lab, edges, directed):
        yield "pagerank", row


def footprint(lab: Lab, edges: Any, directed: bool) -> int:
    """Return the bytes that a search in memory holds: 12 per vertex and 4 per edge, for each direction."""
    n = len(graphs.with_neighbor(*lab.ends(edges), xp=lab.xp))
    rows = graphs.n_rows(edges)
    structures, entries = (2, rows) if directed else (1, 2 * rows)
    return structures * (12 * n + 4 * entries)


def in_memory(lab: Lab, edges: Any, directed: bool) -> Graph:
    """Build the graph in memory.

    If it does not fit in memory during the build, it is paged with a budget in which all of it stays in
    memory; if that is not available either, an error is raised.
    """
    engine = engines.select("auto", lab.library)
    if MemoryLimits.of(engine, graphs.n_rows(edges), directed).reading is None:
        graph = lab.graph(edges, directed=directed)
        if graph.budget is None:
            return graph
    else:
        limit = PLENTY * footprint(lab, edges, directed)
        if limit < engine.free_bytes():
            graph = lab.graph(edges, directed=directed, memory_limit=limit)
            view = graph.storage.view("out")
            if all(rows.resident and rows.resident.begin == 0 for rows in (view.out, view.into)):
                return graph
    raise MemoryError("the graph does not fit the memory beside its edges")


def how(graph: Graph) -> Row:
    """Return a note if the graph is in memory because all its pages stay there."""
    return {} if graph.budget is None else {"note": "built outside, then all of it in memory"}


def of_budget(graph: Graph) -> Row:
    budget = graph.budget
    return {} if budget is None else {"budget": budget.limit, "peak": budget.peak}


def searches(lab: Lab, graph: Graph, edges: Any, directed: bool) -> Iterator[Row]:
    """Search from the same roots three ways; `over_paged` is the ratio of the medians."""
    roots, checker = lab.roots(edges, directed), Checker(lab, graph, edges)
    ours = lab.ours(graph)
    ms = lab.timings(ours, roots, check=checker)
    times = of_times(ms)
    rates = of_rates(ms, checker.traversed(roots[: len(ms)]))
    yield {"name": PAGED, **times, **rates, **of_budget(graph), **checker.verdict()}
    roots = roots[: len(ms)]
    few = roots[:FULL_ROOTS]
    expected = {root: ours.run(ours.prepare(root)).distance for root in few}

    checker.restart()
    row: Row = {"name": IN_MEMORY}
    try:
        whole = in_memory(lab, edges, directed)
        ms = lab.timings(lab.ours(whole), roots, check=checker)
        row |= of_times(ms) | of_rates(ms, checker.traversed(roots[: len(ms)])) | checker.verdict()
        row |= how(whole)
        row["over_paged"] = ratio(row["median_ms"], times["median_ms"])
    except REFUSALS as error:
        row["note"] = f"not measured, {reason(error)}"
    yield row
    whole = None

    row, ms, faults = {"name": FULL}, [], []
    try:
        search = full_search(lab, graph)
        search(few[0])
        for root in few:
            values, seconds = lab.timed(lambda root=root: search(root))
            ms.append(1e3 * seconds)
            distance = lab.xp.where(values == breadth_first().identity, -1, values)
            if not bool((distance == expected[root]).all()):
                faults.append(f"root {root}: other distances than the search")
        row |= of_times(ms) | of_rates(ms, checker.traversed(few)) | verdict(len(few), faults)
        row |= {"over_paged": ratio(row["median_ms"], times["median_ms"]), **of_budget(graph)}
    except REFUSALS as error:
        row["note"] = f"not measured, {reason(error)}"
    yield row


def full_search(lab: Lab, graph: Graph) -> Callable[[int], Any]:
    """Return breadth-first search as a program that gathers over all edges in each level."""
    view = graph.storage.gather_view("out")
    prepare, xp, n = lab.ours(graph).prepare, lab.xp, graph.n_vertices
    options = RunOptions(mode="pull")

    def search(root: int) -> Any:
        values, active = xp.full(n, breadth_first().identity, np.int32), xp.zeros(n, bool)
        source = prepare(root)
        values[source], active[source] = 0, True
        return graph.engine.run(view, breadth_first(), RunState(values, active), options).values

    return search


def streaming(lab: Lab, graph: Graph) -> Iterator[Row]:
    """Measure the bytes per second of PageRank's iterations, on one engine and on both."""
    link, n = host_link(lab), graph.n_vertices
    state = RunState(lab.xp.full(n, 1 / n), lab.xp.ones(n, bool))
    options = RunOptions(max_iterations=ITERATIONS, parameters=(0.85, 1 / n), trace=True)
    ways = {"streamed": {}, "asynchronous": {"asynchronous": True}, "with the CPU": {}}
    for name, changes in ways.items():
        row: Row = {"name": name}
        try:
            run = graph.engine.run if name != "with the CPU" else getattr(graph.engine, "run_hybrid", None)
            if run is None:
                continue
            view = graph.storage.gather_view("out")
            done = run(view, pagerank(1e-30), state, replace(options, **changes))
            row |= of_trace(done.trace[1:], link) | of_budget(graph)  # the first loads kernels
        except REFUSALS as error:
            row["note"] = f"not measured, {reason(error)}"
        yield row


def of_trace(trace: Sequence[IterationTrace], link: float) -> Row:
    """Return sums and medians of iterations, and the rate beside that of the link."""
    n_bytes, ms = sum(row.bytes for row in trace), [row.milliseconds for row in trace]
    rate = short(n_bytes / max(sum(ms), 1e-9) / 1e6)
    return {
        "iterations": len(trace), "pages": max((row.pages for row in trace), default=0),
        "bytes": n_bytes // max(len(trace), 1), "median_ms": short(float(np.median(ms))),
        "gb_s": rate, "link_gb_s": short(link / 1e9), "share_of_link": ratio(rate, link / 1e9),
        "overlap": short(float(np.mean([row.overlap for row in trace]))),
    }  # fmt: skip


def host_link(lab: Lab) -> float:
    """Return the bytes that a copy of pinned host memory to the device moves in a second."""
    target = lab.xp.empty(LINK_BYTES, np.uint8)
    if not hasattr(target, "set"):
        source = np.zeros(LINK_BYTES, np.uint8)
        return LINK_BYTES / min(lab.timed(lambda: np.copyto(target, source))[1] for _ in range(5))
    import cupyx

    source = cupyx.empty_pinned(LINK_BYTES, np.uint8)
    return LINK_BYTES / min(lab.timed(lambda: target.set(source))[1] for _ in range(5))


def ranks(lab: Lab, edges: Any, directed: bool) -> Iterator[Row]:
    """Time PageRank from the call to the frame: in a quarter of the memory, in memory, and cuGraph's.

    Edges in several frames, which are too many for cuGraph, are not simplified.
    """
    settings = {
        "tol": programs.TOLERANCE, "max_iter": MOST_ITERATIONS, "weighted": False, "dtype": PRECISION,
    }  # fmt: skip
    base: Row = {}
    several = len(graphs.parts(edges)) > 1
    if not several:
        try:
            edges = programs.simple(lab, edges, directed)
        except REFUSALS as error:
            yield {"name": PAGED, "note": f"not measured, {reason(error)}"}
            return
    limit = footprint(lab, edges, directed) // PARTS
    ways = {
        PAGED: lambda: lab.graph(edges, directed=directed, memory_limit=limit),
        IN_MEMORY: lambda: in_memory(lab, edges, directed),
    }
    for name, build in ways.items():
        try:
            graph = build()
            rank = programs.call(name, lambda _, graph=graph: graph.pagerank(programs.ALPHA, **settings))
            row = programs.of_runs(lab.timings(rank, range(RUNS)))
        except REFUSALS as error:
            yield {"name": name, "note": f"not measured, {reason(error)}"}
            continue
        base = base or {**row, "answer": rank.run(0)}
        if name == IN_MEMORY:
            row |= how(graph)
        yield {"name": name, **row, "over_paged": ratio(row["median_ms"], base["median_ms"])}
        del graph
    row, faults = {"name": "cugraph"}, []
    bound = 2 * programs.TOLERANCE * programs.ALPHA / (1 - programs.ALPHA) + programs.PRECISIONS[PRECISION]

    def check(argument: int, answer: Any) -> None:
        if base and not programs.same_ranks(base["answer"], answer, bound):
            faults.append("other ranks than ours")

    try:
        if several:
            raise ValueError(f"{graphs.n_rows(edges):,} edges are more than a cuDF frame holds")
        theirs, ends = programs.CuGraph(edges, directed), (programs.TOLERANCE, MOST_ITERATIONS)
        rank = programs.call("cugraph", lambda _: theirs.pagerank(PRECISION, *ends)[0])
        row |= programs.of_runs(lab.timings(rank, range(RUNS), check=check)) | verdict(RUNS, faults)
        row["over_paged"] = ratio(row["median_ms"], base.get("median_ms"))
    except REFUSALS as error:
        row["note"] = f"not measured, {reason(error)}"
    yield row
