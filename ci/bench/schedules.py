"""(o) B7, B15: programs over edges larger than the memory, by schedule, order of vertices and graph.

The memory limit is what the schedule needs for the vertices and a quarter of the bytes of the edges.  Each
schedule answers the same question, and its answer is compared with that in memory.  `streams` are the bytes
copied, over those of all edges; `in_place` those read where they lie, likewise; `share_of_link` is the rate
of both over that of a copy.  "sweep, active rows alone" reads or copies only pages with rows that something
active leads to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import parse_bytes

from . import graphs
from .checks import verdict
from .libraries import REFUSALS, reason
from .out_of_core import host_link, of_budget
from .pictures import bars
from .program_answers import same_components, same_lengths, same_ranks
from .programs import simple
from .rows import Row, of_times, ratio, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Lab

GRAPHS = ("rmat22", "rmat24", "grid2048", "lattice2048", "facebook")
ORDERS = {
    "natural": {"order": "ids"},
    "degree": {"order": "degree"},
    "locality": {"order": "locality"},
    "shuffled": {"order": "ids"},
}
SWEEPS = {
    "sweep, asynchronous": {"schedule": "sweep", "mode": "pull", "asynchronous": True},
    "sweep, active rows alone": {"schedule": "sweep", "mode": "notify"},
    "sweep": {"schedule": "sweep"},
}
WAYS = {
    "sssp": SWEEPS | {"paths": {"schedule": "paths"}, "auto": {}},
    "components": SWEEPS | {"paths": {"schedule": "paths"}, "auto": {}},
    "pagerank": {"sweep, asynchronous": {"asynchronous": True}, "auto": {}},
}
COLUMNS = (
    "graph", "order", "program", "name", "min_ms", "median_ms", "max_ms", "over_memory", "over_sweep",
    "iterations", "rounds", "streams", "in_place", "edges_per_edge", "share_of_link", "overlap", "budget",
    "peak", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"schedules": COLUMNS}
PARTS = 4  # the limit holds this part of the edges
VERTEX_BYTES = 24  # of a first guess of the memory that vertices need
RUNS = 3
MOST_MS = 5000  # after so many milliseconds no more calls are timed
BASE = "sweep, asynchronous"
PRECISION = 1e-6  # largest sum of the differences of ranks
TOLERANCE = 1e-8


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    link = host_link(lab)
    for name in names:
        directed = graphs.is_directed(name)
        edges = simple(lab, lab.load(name), directed)
        source = lab.roots(edges, directed)[0]
        for order, how in ORDERS.items():
            given = (edges, source) if order != "shuffled" else shuffled(lab, edges, source)
            facts = {"graph": name, "order": order, "edges": len(edges), "seed": lab.seed}
            for row in rows_of(lab, *given, {"directed": directed, **how}, link):
                yield {"benchmark": "schedules", "table": "schedules", **facts, **row}
            del given
        del edges


def shuffled(lab: Lab, edges: Any, source: int) -> tuple[Any, int]:
    """Return the edges with other ids for the vertices, drawn at random, and the source's."""
    src, dst = lab.ends(edges)
    n = int(max(src.max(), dst.max())) + 1
    ids = lab.xp.asarray(np.random.default_rng(lab.seed).permutation(n).astype(np.int32))
    return edges.assign(src=ids[src], dst=ids[dst]), int(ids[source])


def rows_of(lab: Lab, edges: Any, source: int, how: dict[str, Any], link: float) -> Iterator[Row]:
    """Yield the rows of one graph in one order of its vertices."""
    whole = lab.graph(edges, weight="weight", **how)
    wanted, in_memory = {}, {}
    for program in WAYS:
        ask = question(whole, program, source, {})
        ask()
        row, answer = timed(lab, ask)
        wanted[program], in_memory[program] = answer.result, row["median_ms"]
        yield {"program": program, "name": "in memory", **row}
    entries = whole.storage.view("out").stored.n_edges
    del whole
    for program, ways in WAYS.items():
        weight = {"weight": "weight"} if program == "sssp" else {}
        n_bytes = entries * (8 if weight else 4)
        base: float | None = None
        for name, changes in ways.items():
            row = {"program": program, "name": name}
            try:
                ask = partial(question, program=program, source=source, changes=changes)
                graph = limited(lab, edges, n_bytes // PARTS, ask, weight | how)
                times, answer = timed(lab, ask(graph))
                row |= times | of_trace(answer.trace, entries, n_bytes, link) | of_budget(graph)
                faults = [] if SAME[program](wanted[program], answer.result) else ["another answer"]
                row |= verdict(1, faults)
                base = times["median_ms"] if name == BASE else base
                row["over_memory"] = ratio(times["median_ms"], in_memory[program])
                row["over_sweep"] = ratio(times["median_ms"], base)
            except REFUSALS as error:
                row["note"] = f"not measured, {reason(error)}"
            yield row
            graph = None


def limited(
    lab: Lab, edges: Any, part: int, ask: Callable[[Graph], Callable[[], Any]], how: dict[str, Any]
) -> Graph:
    """Return the graph with room for its vertices and a part of the edges, in which the question is answered.

    A question that needs more for the vertices gets what it is refused without, and room for the edges.
    """
    limit = part + VERTEX_BYTES * len(graphs.with_neighbor(*lab.ends(edges), xp=lab.xp))
    while True:
        try:
            graph = lab.graph(edges, memory_limit=limit, **how)
            ask(graph)()
        except TravMemoryError as error:
            named = re.search(r"memory_limit at least (.*)\.$", str(error))
            if named is None or parse_bytes(named[1]) <= limit:
                raise
            limit = parse_bytes(named[1]) + part
        else:
            return graph


def question(graph: Graph, program: str, source: int, changes: dict[str, Any]) -> Callable[[], Any]:
    """Return the call of a program, with its trace."""
    if program == "sssp":
        return lambda: graph.sssp(source, predecessors=False, trace=True, **changes)
    if program == "components":
        return lambda: graph.components(trace=True, **changes)
    settings = {"weighted": False, "tol": TOLERANCE, "max_iter": 500}
    return lambda: graph.pagerank(trace=True, **settings, **changes)


def timed(lab: Lab, call: Callable[[], Any]) -> tuple[Row, Any]:
    """Return the times of a few calls, of one if it is slow, and the last answer; an earlier one compiled."""
    ms: list[float] = []
    while len(ms) < RUNS and sum(ms) < MOST_MS:
        answer, seconds = lab.timed(call)
        ms.append(1e3 * seconds)
    return of_times(ms), answer


def of_trace(trace: Any, entries: int, n_bytes: int, link: float) -> Row:
    """Return what the iterations of a run moved, relative to all its edges."""
    trace = trace.to_pandas() if hasattr(trace, "to_pandas") else trace
    copied, seconds = int(trace["bytes"].sum()), trace["milliseconds"].sum() / 1e3
    in_place = int(trace["in_place"].sum()) if "in_place" in trace else 0
    rounds = int(trace["rounds"].sum()) if "rounds" in trace else len(trace)
    return {
        "iterations": len(trace), "rounds": rounds, "streams": ratio(copied, n_bytes),
        "in_place": ratio(in_place, n_bytes), "edges_per_edge": ratio(int(trace["edges"].sum()), entries),
        "share_of_link": short((copied + in_place) / max(seconds, 1e-9) / link),
        "overlap": short(float(np.mean(trace["overlap"]))),
    }  # fmt: skip


SAME: dict[str, Callable[[Any, Any], bool]] = {
    "sssp": same_lengths,
    "components": lambda ours, others: same_components(ours, others.rename(columns={"component": "labels"})),
    "pagerank": lambda ours, others: same_ranks(ours, others, PRECISION),
}


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    shown = [{**row, "name": f"{row['program']}, {row['order']}: {row['name']}"} for row in rows]
    bars(axes, shown, "median_ms", "median ms")
