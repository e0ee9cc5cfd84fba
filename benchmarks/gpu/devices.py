"""One GPU beside several of the same host, which hold and search a graph together.

Times are those of the device's clock: of one GPU between events, of several from where all have begun to
the end of the last kernel.  Searches follow each other and are checked when the clock has stopped.  The link
between GPUs falls asleep when it is idle, and a search wakes it before it begins: `paused_over` is the time
after an idle fifth of a second, over the time of the same roots without.  `wall_ms` is the client's, with
the whole answer on one GPU.  `over_one` is the ratio of the harmonic means of the edges traversed in a
second; where it is below 1, `FEW_ENTRIES` and `FEW_A_VERTEX` of `engines/multigpu/devices.py` should keep the
graph on one GPU.  `predicted_ms` is the time that `launch_law` predicts from that of one GPU, and the table
"launch levels" has the levels of the first root: what each took from other GPUs, and how long.  Weak scaling
compares a scale on one GPU with the next on two.  pylibcugraph searches on one GPU, timed by the wall clock;
cuGraph's search on several is in benchmarks/workers.

Graphs from scale 29 on are generated on the cards (`dealt`); only with `--slow`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu import dealt, launch_law
from benchmarks.gpu.checks import Agreement, Checker
from benchmarks.gpu.lab import DEFAULT, Contender
from benchmarks.gpu.libraries import rival_name
from benchmarks.harness import REFUSALS, Row, of_rates, of_times, ratio, reason, short
from rapids_trav.engines.searches import LevelTrace
from rapids_trav.graph import Graph

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab

GRAPHS = ("rmat20", "rmat22", "rmat24", "rmat26", "rmat27", "rmat28", "grid4096", "rmat29", "rmat30")
AT_ONCE = 4  # searches that follow each other before their answers are checked
PAUSE = 0.2  # seconds
PAUSED_ROOTS = 8
GENERATED_SCALE = 29  # graphs from this scale on are not stored as frames
TABLES = {
    "devices": (
        "graph", "vertices", "edges", "name", "layout", "roots", "median_ms", "min_ms", "max_ms",
        "paused_over", "wall_ms", "gteps_harmonic_mean", "levels", "us_a_level", "over_one", "predicted_ms",
        "over_predicted", "checked", "wrong", "note",
    ),
    "launch levels": ("graph", "name", "root", *launch_law.COLUMNS),
    "generated": (
        "graph", "vertices", "edges", "name", "layout", "build_seconds", "rows_bytes", "roots", "median_ms",
        "min_ms", "max_ms", "gteps_harmonic_mean", "levels", "checked", "wrong", "note",
    ),
}  # fmt: skip


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    gc.collect()
    rmat = graphs.of_rmat(name)
    generated = rmat is not None and rmat[0] >= GENERATED_SCALE
    for row in dealt.measure(lab, name) if generated else compare(lab, name):
        yield row.pop("table", "generated" if generated else "devices"), row


def compare(lab: Lab, name: str) -> Iterator[Row]:
    """Yield a row for one GPU, one for pylibcugraph there, and one for each larger number of GPUs."""
    edges = lab.load(name)
    roots, one = lab.roots(edges), None
    for count in counts(lab.n_devices):
        row: Row = {"name": "1 GPU" if count == 1 else f"{count} GPUs"}
        try:
            graph = lab.graph(edges) if count == 1 else spread(lab, edges, count)
            found = searched(lab, graph, edges, roots)
        except REFUSALS as error:
            graph = None
            yield {**row, "note": f"not measured, {reason(error)}"}
            continue
        if count == 1:
            one = found
            yield {**row, **found, "over_one": 1.0}
            yield rival(lab, graph, roots, found)
        else:
            levels = traced(lab, graph, roots[0])
            yield {**row, **found, **beside_one(found, one, levels, count)}
            yield from launch_law.rows(levels, graph.n_vertices, count, {**row, "root": roots[0]})
        graph = None  # freed before the next one is built
        gc.collect()


def beside_one(found: Row, one: Row | None, levels: Sequence[LevelTrace], count: int) -> Row:
    """Return how several GPUs compare with one, if it holds the graph, and with the prediction from it."""
    if one is None:
        return {"over_one": None}
    predicted = launch_law.predicted_ms(one["median_ms"], levels, found["vertices"], count)
    return {
        "over_one": ratio(found["gteps_harmonic_mean"], one["gteps_harmonic_mean"]),
        "predicted_ms": short(predicted),
        "over_predicted": ratio(found["median_ms"], predicted),
    }


def traced(lab: Lab, graph: Graph, root: int) -> list[LevelTrace]:
    """Return the levels of a search on several GPUs."""
    ours = of_graph(lab, graph, trace=True)
    ours.run(ours.prepare(root))  # to compile
    return ours.run(ours.prepare(root)).trace


def counts(most: int) -> list[int]:
    """Return 1, 2, 4, ... up to `most`."""
    return [1 << k for k in range(most.bit_length())]


def spread(lab: Lab, edges: Any, count: int) -> Graph:
    """Build the graph on several GPUs, even if one would be faster."""
    return Graph.from_edges(edges, "src", "dst", engine=lab.several(count))


def searched(lab: Lab, graph: Graph, edges: Any, roots: Sequence[int]) -> Row:
    """Return statistics of searches on one GPU or several, all of them checked."""
    ours, checker = of_graph(lab, graph), Checker(lab, graph, edges)
    names = [name for name, *_ in graph.storage.memory()]
    wall, ms = [], []
    at_once = min(AT_ONCE, ours.most_held)
    for first in range(0, len(roots), at_once):
        some = roots[first : first + at_once]
        sources = [ours.prepare(root) for root in some]
        ours.run(sources[-1])  # to compile, and to end a pause
        timed = [lab.timed(partial(ours.run, source)) for source in sources]
        for root, (found, seconds) in zip(some, timed, strict=True):
            wall.append(1e3 * seconds)
            if found.device_seconds is not None:
                ms.append(1e3 * found.device_seconds)
            checker(root, found)
        del timed, found
    verdict, levels = checker.verdict(), [checker.levels[root] for root in roots]
    paused = ratio(paused_ms(lab, ours, roots[:PAUSED_ROOTS]), np.median(ms[:PAUSED_ROOTS])) if ms else None
    if not ms:
        ms = lab.device_timings(ours, roots, checker)
    return {
        "vertices": graph.n_vertices,
        "edges": graph.n_edges,
        "layout": next((name for name in names if name.startswith("rows by")), None),
        **of_times(ms),
        "paused_over": paused,
        "wall_ms": short(np.median(wall)),
        **of_rates(ms, checker.traversed(roots)),
        **per_level(ms, levels),
        **verdict,
    }


def per_level(ms: Sequence[float], levels: Sequence[int]) -> Row:
    """Return the median number of levels, and the median over the roots of the microseconds of a level."""
    each = [1e3 * t / max(n, 1) for t, n in zip(ms, levels, strict=True)]
    return {"levels": int(np.median(levels)), "us_a_level": short(np.median(each))}


def paused_ms(lab: Lab, ours: Contender, roots: Sequence[int]) -> float:
    """Return the median time of searches by several GPUs, each after a pause."""
    ms = []
    for root in roots:
        source = ours.prepare(root)
        lab.synchronize()
        time.sleep(PAUSE)
        ms.append(1e3 * ours.run(source).device_seconds)
    return float(np.median(ms))


def of_graph(lab: Lab, graph: Graph, trace: bool = False) -> Contender:
    """Return the search from an internal id to arrays; it reads no rows but those that it searches."""
    view, encode, label = graph.storage.view("out"), graph.ids.encoder(), graph.ids.dtypes[0]
    vertex = np.int32 if graph.n_vertices < 2**31 else np.int64

    def prepare(root: int) -> Any:
        return encode([lab.xp.asarray([root], dtype=label)]).astype(vertex)

    def run(source: Any, depth_limit: int | None = None) -> Any:
        return graph.engine.search(view, source, replace(DEFAULT, depth_limit=depth_limit, trace=trace))

    return Contender("rapids_trav", prepare, run, 8 * graph.n_vertices)


def rival(lab: Lab, graph: Graph, roots: Sequence[int], ours: Row) -> Row:
    """Return the row of pylibcugraph's search on one GPU, from fewer roots if it is slow."""
    row: Row = {"name": rival_name(True, True), "vertices": graph.n_vertices, "edges": graph.n_edges}
    agreement = Agreement(lab.ours(graph), lab.xp)
    try:
        theirs = lab.rival(graph, optimizing=True, renumber=True)
        ms = lab.timings(theirs, roots, check=agreement)
    except REFUSALS as error:
        return {**row, "note": f"not measured, {reason(error)}"}
    return {**row, **of_times(ms), **agreement.verdict(), "over_one": ratio(ours["median_ms"], np.median(ms))}
