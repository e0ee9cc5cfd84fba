"""B7, B15: programs over edges larger than the memory, by schedule, order of vertices and graph.

The memory limit is what the program needs for the vertices and a quarter of the bytes of its edges.  A graph
is built once for each order, in memory and outside it, and the limit changes between programs.  Each schedule
answers the same question, and its answer is compared with that in memory.

`pages` are those of the iteration that copied the most, commonly the first, in which none has stayed yet.
`streams` are the bytes copied, over those of all edges; `in_place` those read where they lie, likewise;
`bytes_an_edge` the bytes copied for each entry in an iteration; `share_of_link` the rate of both over that of
a copy.  `card_busy` and `link_busy` are the shares of the time in which a launch worked and a block was under
way.  `peak` is what RMM counts in a call, without the answer, and what the graph holds: it is to be within
`budget`.  `host_bytes` are those that the graph holds in host memory, pinned where there is a GPU.

Where a path is long, a sweep of all pages in each iteration takes minutes.  It is stopped after some seconds,
and its row has `lower_bound`: the time is less than it would take to the end, and so is all that is over it.

"sweep, asynchronous" is what there was before blocks and packed columns: every page in each iteration, as it
is.  "sweep, active rows" reads or copies only
pages with rows that something active leads to.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.out_of_core import host_link
from benchmarks.gpu.programs import same_components, same_lengths, same_ranks
from benchmarks.gpu.schedule_trace import of_trace
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason
from rapids_trav.errors import TravMemoryError
from rapids_trav.programs.shipped import connected_components, shortest_paths
from rapids_trav.utilities.sizes import parse_bytes

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat22", "rmat24", "grid2048", "lattice2048", "chains20", "facebook")
ORDERS = {
    "natural": {"order": "ids"},
    "degree": {"order": "degree"},
    "locality": {"order": "locality"},
    "shuffled": {"order": "ids"},
}
PARTS = 4  # the limit holds this part of the edges
OUTSIDE_BYTES = {"entry": 16, "vertex": 64}  # of a limit with which the edges are outside, but quickly built
RUNS = 3
MOST_MS = 3000  # after so many milliseconds no more calls are timed
PROBE = 8  # iterations of the first of two short runs, which tell the time of a sweep
MOST_OVER = 200  # times the time in memory, after which a sweep is stopped as well
LATE: Row = {"note": "not measured, no time is left"}
PRECISION = 1e-6  # largest sum of the differences of ranks
TOLERANCE, FINE_TOLERANCE = 1e-7, 1e-8  # of ranks that are timed, and of those compared with


@dataclass(frozen=True)
class Way:
    """How a program runs.

    Attributes
    ----------
    changes : dict
        Options of the question.
    plain : bool
        Whether it is asked of `Graph.run`, whose iterations can be limited, without shortcuts and trees.
    sweeps : bool
        Whether it may take minutes, so that it is stopped early.
    """

    changes: dict[str, Any] = field(default_factory=dict)
    plain: bool = False
    sweeps: bool = False


BASE, PATHS, AUTO, MEMORY = "sweep, asynchronous", "paths", "auto", "in memory"
EACH_PAGE = {"schedule": "sweep", "mode": "pull", "asynchronous": True}
BLOCKS = {
    PATHS: Way({"schedule": "paths"}),
    "paths, with the CPU": Way({"schedule": "paths", "processor": "hybrid"}),
    AUTO: Way(),
}
WAYS: dict[str, dict[str, Way]] = {
    "sssp": {
        BASE: Way({**EACH_PAGE, "tuning": {"compress": False}}, plain=True, sweeps=True),
        "sweep, packed": Way({**EACH_PAGE, "tuning": {"compress": True}}, plain=True, sweeps=True),
        "sweep, active rows": Way({"schedule": "sweep", "mode": "notify"}, plain=True, sweeps=True),
    }
    | BLOCKS,
    "components": {
        BASE: Way({**EACH_PAGE, "tuning": {"compress": False}}, plain=True, sweeps=True),
        "sweep, active rows": Way({"schedule": "sweep", "mode": "notify"}, plain=True, sweeps=True),
        AUTO: Way(),
    },
    "pagerank": {
        BASE: Way({"asynchronous": True, "tuning": {"compress": False}}),
        "sweep": Way({"tuning": {"compress": False}}),
        "sweep, packed": Way({"tuning": {"compress": True}}),
        "sweep, with the CPU": Way({"processor": "hybrid"}),
        AUTO: Way(),
    },
}
COLUMNS = (
    "graph", "order", "program", "name", "min_ms", "median_ms", "max_ms", "lower_bound", "over_memory",
    "over_sweep", "over_best", "iterations", "rounds", "pages", "launches", "streams", "in_place",
    "bytes_an_edge", "edges_per_edge", "share_of_link", "link_busy", "card_busy", "overlap", "budget", "peak",
    "host_bytes", "checked", "wrong", "note",
)  # fmt: skip
TABLES = {"schedules": COLUMNS}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    chosen = [order for order in ORDERS if any(wanted(lab, name, order, program) for program in WAYS)]
    if not chosen:
        return
    edges, directed = with_weights(lab, lab.load(name)), graphs.is_directed(name)
    source, link = lab.roots(edges, directed)[0], host_link(lab)
    for order in chosen:
        given = (edges, source) if order != "shuffled" else shuffled(lab, edges, source)
        asked = {program: wanted(lab, name, order, program) for program in WAYS}
        how = {"directed": directed, **ORDERS[order]}
        for row in Series(lab, *given, how, asked, link, lab.end).rows():
            yield "schedules", {"order": order, "edges": len(edges), **row}
        del given


def wanted(lab: Lab, graph: str, order: str, program: str) -> list[str]:
    """Return the names of the selected ways of a program."""
    return [
        name
        for name in WAYS[program]
        if any(fnmatchcase(f"{graph}/{order}/{program}/{name}", pattern) for pattern in lab.selected)
    ]


def with_weights(lab: Lab, edges: Any) -> Any:
    """Return the edges with a weight from 1/256 to 255/256, the same for repeated and for mirrored edges."""
    src, dst = lab.ends(edges)
    weight = lab.xp.empty(len(src), np.float32)
    for begin in range(0, len(src), graphs.CHUNK):
        part = slice(begin, begin + graphs.CHUNK)
        low, high = (
            choose(src[part], dst[part]).astype(np.uint32) for choose in (lab.xp.minimum, lab.xp.maximum)
        )
        mixed = (low * np.uint32(2654435761)) ^ (high * np.uint32(2246822519))
        mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(2246822519)
        mixed ^= mixed >> np.uint32(13)
        weight[part] = (mixed % np.uint32(255) + np.uint32(1)).astype(np.float32) / np.float32(256)
    return edges.assign(weight=weight)


def shuffled(lab: Lab, edges: Any, source: int) -> tuple[Any, int]:
    """Return the edges with other ids for the vertices, drawn at random, and the source's."""
    src, dst = lab.ends(edges)
    n = int(max(src.max(), dst.max())) + 1
    ids = lab.xp.asarray(np.random.default_rng(lab.seed).permutation(n).astype(np.int32))
    return edges.assign(src=ids[src], dst=ids[dst]), int(ids[source])


class Series:
    """The rows of one graph in one order of its vertices.

    Parameters
    ----------
    asked : dict
        For each program the names of its ways.
    link : float
        Bytes a second of a copy.
    end : float
        Time from which no more rows are begun.
    """

    def __init__(
        self,
        lab: Lab,
        edges: Any,
        source: int,
        how: dict[str, Any],
        asked: dict[str, list[str]],
        link: float,
        end: float,
    ) -> None:
        self._lab, self._edges, self._source, self._how = lab, edges, source, how
        self._asked = {program: names for program, names in asked.items() if names}
        self._link, self._end = link, end
        self._answers: dict[str, Any] = {}
        self._ms: dict[str, float] = {}

    def rows(self) -> Iterator[Row]:
        yield from self._in_memory()
        if self._is_late:
            return
        weighted = "sssp" in self._asked
        graph = self._outside(weighted)
        measured: dict[str, dict[str, Row]] = {}
        limits: dict[str, int] = {}
        for program, names in self._asked.items():
            measured[program] = self._set_limit(graph, program, names)
            limits[program] = graph.budget.limit
        for sweeps in (False, True):  # which take longest, so they come last
            for program, names in self._asked.items():
                graph.budget.limit = limits[program]
                for name in names:
                    way = WAYS[program][name]
                    if name not in measured[program] and way.sweeps is sweeps:
                        measured[program][name] = self._measured(graph, program, way)
        for program, names in self._asked.items():
            for name in names:
                compared = self._compared(program, name, measured[program])
                yield {"program": program, "name": name, **measured[program][name], **compared}

    @property
    def _is_late(self) -> bool:
        return time.perf_counter() > self._end

    def _in_memory(self) -> Iterator[Row]:
        """Yield the times in memory; keep the medians, and the answers with which others are compared.

        Weights take more than programs without them leave, so there is a graph for each kind.
        """
        for programs, weight in (["sssp"], {"weight": "weight"}), (["components", "pagerank"], {}):
            graph: Graph | None = None
            for program in [name for name in programs if name in self._asked]:
                try:
                    if self._is_late:
                        row = LATE
                    else:
                        graph = graph or self._lab.graph(self._edges, **weight, **self._how)
                        row = self._whole(graph, program)
                except REFUSALS as error:
                    row = {"note": f"not measured, {reason(error)}"}
                yield {"program": program, "name": MEMORY, **row}
            del graph

    def _whole(self, graph: Graph, program: str) -> Row:
        fine = Way({"tol": FINE_TOLERANCE} if program == "pagerank" else {})
        self._answers[program] = question(graph, program, self._source, fine)
        times = of_times(self._times(lambda: question(graph, program, self._source, Way())))
        self._ms[program] = times["median_ms"]
        return times

    def _outside(self, weighted: bool) -> Graph:
        """Return the graph with its edges outside the memory, and all that the programs read."""
        entries = len(self._edges) * (1 if self._how["directed"] else 2)
        n = len(graphs.with_neighbor(*self._lab.ends(self._edges), xp=self._lab.xp))
        limit = OUTSIDE_BYTES["entry"] * entries + OUTSIDE_BYTES["vertex"] * n
        weight = {"weight": "weight"} if weighted else {}
        graph = self._lab.graph(self._edges, memory_limit=limit, **weight, **self._how)
        graph.storage.gather_view("out", None, weighted, True)
        return graph

    def _set_limit(self, graph: Graph, program: str, names: Sequence[str]) -> dict[str, Row]:
        """Set one limit for all ways of a program, of which each runs once; return rows of those refused."""
        part = bytes_of(graph, program) // PARTS
        graph.budget.limit = 1  # refusals name what the vertices need
        refused: dict[str, Row] = {}
        for name in names:
            way = WAYS[program][name]
            if self._is_late:
                refused[name] = LATE
                continue
            most = PROBE if way.sweeps else None
            try:
                within(graph, part, partial(question, graph, program, self._source, way, most=most))
            except REFUSALS as error:
                refused[name] = {"note": f"not measured, {reason(error)}"}
        return refused

    def _measured(self, graph: Graph, program: str, way: Way) -> Row:
        if self._is_late:
            return LATE
        entries, n_bytes = graph.storage.view("out").stored.n_edges, bytes_of(graph, program)

        def ask(most: int | None = None, trace: bool = False) -> Any:
            return question(graph, program, self._source, way, trace=trace, most=most)

        try:
            most = self._most(program, ask) if way.sweeps else None
            at_rest = graph.budget.used
            traced, seconds, peak = self._lab.peak_bytes(lambda: ask(most, trace=True))
            bound = most is not None and len(traced.trace) >= most
            slow = bound or 1e3 * seconds > MOST_MS
            ms = [1e3 * seconds] if slow else self._times(lambda: ask(most))
        except REFUSALS as error:
            return {"note": f"not measured, {reason(error)}"}
        row = of_times(ms) | of_trace(traced.trace, entries, n_bytes, self._link)
        row |= {
            "budget": graph.budget.limit,
            "peak": at_rest + peak - size_of(traced.result),
            "host_bytes": host_bytes(graph),
        }
        if bound:
            return row | {"lower_bound": True}
        expected = self._answers.setdefault(program, traced.result)
        return row | {"checked": 1, "wrong": int(not SAME[program](expected, traced.result))}

    def _most(self, program: str, ask: Callable[..., Any]) -> int:
        """Return the iterations of a sweep that fit its time, at least those of a probe.

        A second probe tells the time of an iteration apart from what each run takes.
        """
        _, first = self._lab.timed(lambda: ask(PROBE))
        _, second = self._lab.timed(lambda: ask(2 * PROBE))
        limit = min(self._lab.sweep_seconds, MOST_OVER / 1e3 * self._ms.get(program, math.inf))
        per_probe = max(second - first, second / 16)  # the first may have been slow for other reasons
        return 2 * PROBE + max(0, int((limit - second) * PROBE / per_probe))

    def _times(self, call: Callable[[], Any]) -> list[float]:
        """Return the milliseconds of a few calls, of one if it is slow."""
        ms: list[float] = []
        while len(ms) < RUNS and sum(ms) < MOST_MS:
            _, seconds = self._lab.timed(call)
            ms.append(1e3 * seconds)
        return ms

    def _compared(self, program: str, name: str, measured: dict[str, Row]) -> Row:
        """Return the ratios to the times in memory, of full sweeps and of the best other way.

        A sweep that was stopped makes `over_sweep` larger than it would be, so it is left to `readme_tables`.
        """
        ms = measured[name].get("median_ms")
        others = [
            row["median_ms"]
            for other, row in measured.items()
            if other != name and "median_ms" in row and "lower_bound" not in row
        ]
        found: Row = {"over_memory": ratio(ms, self._ms.get(program))}
        if not measured.get(BASE, {}).get("lower_bound"):
            found["over_sweep"] = ratio(ms, measured.get(BASE, {}).get("median_ms"))
        if name == AUTO and others:
            found["over_best"] = ratio(ms, min(others))
        return found


def question(
    graph: Graph, program: str, source: int, way: Way, *, trace: bool = False, most: int | None = None
) -> Any:
    """Return the answer of a program, with its trace if asked for."""
    if way.plain and program == "sssp":
        found = graph.run(
            shortest_paths(), initial={source: 0}, weighted=True, max_iterations=most, trace=trace,
            **way.changes,
        )  # fmt: skip
        return renamed(found, "distance")
    if way.plain:
        found = graph.run(
            connected_components(), initial=np.arange(graph.n_vertices), direction="both",
            max_iterations=most, trace=trace, **way.changes,
        )  # fmt: skip
        return renamed(found, "component")
    if program == "sssp":
        return graph.sssp(source, predecessors=False, trace=trace, **way.changes)
    if program == "components":
        return graph.components(trace=trace, **way.changes)
    settings = {"weighted": False, "tol": TOLERANCE, "max_iter": 500}
    return graph.pagerank(trace=trace, **settings | way.changes)


def renamed(found: Any, name: str) -> Any:
    """Return an answer of `Graph.run`, with or without a trace, with another name for its values."""
    if hasattr(found, "trace"):
        return found._replace(result=found.result.rename(columns={"value": name}))
    return found.rename(columns={"value": name})


def bytes_of(graph: Graph, program: str) -> int:
    """Return the bytes of all edges that a program reads: columns, and weights in 32 bits."""
    return graph.storage.view("out").stored.n_edges * (8 if program == "sssp" else 4)


def within(graph: Graph, part: int, call: Callable[[], Any]) -> None:
    """Make a call, raising the limit of a graph to what the vertices need, with a part of the edges."""
    while True:
        try:
            call()
        except TravMemoryError as error:
            named = re.search(r"memory_limit at least (.*)\.$", str(error))
            if named is None or parse_bytes(named[1]) <= graph.budget.limit:
                raise
            graph.budget.limit = parse_bytes(named[1]) + part
        else:
            return


def size_of(frame: Any) -> int:
    """Return the bytes of an answer."""
    return int(frame.memory_usage(index=False, deep=True).sum())


def host_bytes(graph: Graph) -> int:
    """Return the bytes that a graph holds in host memory."""
    held = graph.memory()
    return int(held["bytes"][held["place"] == "host"].sum())


SAME: dict[str, Callable[[Any, Any], bool]] = {
    "sssp": same_lengths,
    "components": partial(same_components, column="component"),
    "pagerank": partial(same_ranks, bound=PRECISION),
}
