"""B6: effect of copies of each vertex of a shard on gathering, in PageRank's iterations.

Compared are no copies (a factor of 1), fixed factors, Garaph's formula or its cost model for each shard, and
gathering row by row without shards; in memory and, without fixed factors, page by page in a quarter of the
memory.  Evenness is that of the clock cycles of the shards' pieces in one iteration.  Setup is the time of a
run without its iterations: the cutting of shards, or the listing of rows by length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.out_of_core import PARTS, footprint, of_budget
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason, short, verdict
from rapids_trav import datasets
from rapids_trav.engines.runs import GatherView, IterationTrace, Run, RunOptions
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import pagerank

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.programs.definition import Program

GRAPHS = (*(f"rmat{scale}" for scale in range(20, 25)), *datasets.names())
DTYPES = ("float32", "float64")
FIXED = (1, 2, 4, 8, 16, 32)
ROWS, FORMULA, MODEL = "row by row", "by formula", "by the cost model"
NAMES: dict[str, dict[str, Any]] = {
    ROWS: {"gather": "rows"},
    **{f"{factor} of each": {"gather": "replicas", "replication": factor} for factor in FIXED},
    FORMULA: {"gather": "replicas", "replication": "formula"},
    MODEL: {"gather": "replicas", "replication": "auto"},
}
NONE = "1 of each"
COLUMNS = (
    "graph", "dtype", "name", "iterations", "median_ms", "min_ms", "max_ms", "gedges_a_second", "setup_ms",
    "shards", "pieces", "mean_factor", "worst_over_mean_piece", "deviation_over_mean_piece", "checked",
    "wrong", "note",
)  # fmt: skip
TABLES = {
    "replication": COLUMNS,
    "pages": (
        "graph", "dtype", "name", "iterations", "median_ms", "min_ms", "max_ms", "gedges_a_second",
        "setup_ms", "pages", "bytes", "overlap", "budget", "peak", "checked", "wrong", "note",
    ),
    "claims": ("graph", "dtype", "claim", "ratio"),
}  # fmt: skip
PAGED = (ROWS, NONE, FORMULA)  # what is compared page by page
ITERATIONS, RUNS, WARM = 20, 3, 1
NEVER = 1e-30  # a tolerance that is never met
TOLERANCES = {"float32": 1e-4, "float64": 1e-9}  # for sums in another order within one iteration


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges, directed = lab.load(name), graphs.is_directed(name)
    yield from within(lab, edges, directed, None)
    yield from within(lab, edges, directed, footprint(lab, edges, directed) // PARTS)


def within(lab: Lab, edges: Any, directed: bool, limit: int | None) -> Iterator[tuple[str, Row]]:
    """Yield rows in memory or, within a limit, with pages that are streamed in each iteration."""
    table, names, claims_of = ("replication", tuple(NAMES), claims)
    if limit is not None:
        table, names, claims_of = ("pages", PAGED, claims_of_pages)
    for dtype in DTYPES:
        try:
            graph = lab.graph(edges, directed=directed, memory_limit=limit)
            view, n = graph.storage.gather_view("out"), graph.n_vertices
        except REFUSALS as error:
            if limit is None:
                raise
            yield table, {"dtype": dtype, "note": f"not measured, {reason(error)}"}
            continue
        state = RunState(lab.xp.full(n, 1 / n, dtype=dtype), lab.xp.ones(n, dtype=bool))
        rows = []
        for row in setups(lab, graph.engine, view, pagerank(NEVER, dtype), state, names):
            rows.append(row | of_budget(graph))
            yield table, {"dtype": dtype, **rows[-1]}
        for claim in claims_of(rows):
            yield "claims", {"dtype": dtype, **claim}
        del graph, view


def setups(
    lab: Lab,
    engine: Any,
    view: GatherView,
    program: Program,
    state: RunState,
    names: Sequence[str],
) -> Iterator[Row]:
    """Yield a row for each way to gather; the others must reproduce the ranks of the first."""
    n = view.n_vertices
    options = RunOptions(max_iterations=ITERATIONS, parameters=(0.85, 1 / n), mode="pull", trace=True)
    ranks = None
    for name in names:
        chosen = replace(options, **NAMES[name])
        try:
            row, done = iterations(lab, engine, view, program, state, chosen)
            if view.pages is not None:
                shards = of_pages(done.trace[WARM:])
            else:
                shards = evenness(lab, view, program, state, chosen) if name != ROWS else {}
        except REFUSALS as error:
            yield {"name": name, "note": f"not measured, {reason(error)}"}
            continue
        ranks = done.values if ranks is None else ranks
        tolerance = TOLERANCES[program.dtype]
        same = bool(lab.xp.allclose(done.values, ranks, rtol=tolerance, atol=0))
        faults = [] if same else ["other ranks than the first"]
        yield {"name": name, **row, **shards, **verdict(1, faults)}


def iterations(
    lab: Lab, engine: Any, view: GatherView, program: Program, state: RunState, options: RunOptions
) -> tuple[Row, Run]:
    """Return statistics of the iterations, except the first, of a few runs after one to warm up."""
    engine.run(view, program, state, options)
    ms: list[float] = []
    setup: list[float] = []
    for _ in range(RUNS):
        done, seconds = lab.timed(lambda: engine.run(view, program, state, options))
        own = [row.milliseconds for row in done.trace]
        ms += own[WARM:]
        setup.append(1e3 * seconds - sum(own))
    times = of_times(ms)
    rate = short(view.into.n_edges / times["median_ms"] / 1e6)
    counts = {"iterations": times.pop("roots"), "setup_ms": short(float(np.median(setup)))}
    return {**times, "gedges_a_second": rate, **counts}, done


def evenness(lab: Lab, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Row:
    """Return the shards of a run, and the evenness of their pieces' times in its second iteration."""
    from rapids_trav.engines.cuda.programs.resident import ResidentExecutor

    work = ResidentExecutor(view, program, state, options)
    work.pull()
    shards = work.shards.shards
    work.shards.cycles = lab.xp.zeros(shards.n_pieces, np.int64)
    work.pull()
    return of_pieces(work.shards.cycles.get(), shards.factors)


def of_pages(trace: Sequence[IterationTrace]) -> Row:
    """Return what iterations move, and the share of it that is hidden behind computing."""
    return {
        "pages": max((row.pages for row in trace), default=0),
        "bytes": sum(row.bytes for row in trace) // max(len(trace), 1),
        "overlap": short(float(np.mean([row.overlap for row in trace]))),
    }


def of_pieces(cycles: np.ndarray, factors: np.ndarray) -> Row:
    mean = float(cycles.mean())
    return {
        "shards": len(factors),
        "pieces": len(cycles),
        "mean_factor": short(float(factors.mean())),
        "worst_over_mean_piece": short(float(cycles.max()) / mean),
        "deviation_over_mean_piece": short(float(cycles.std()) / mean),
    }


def claims(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield B6 as ratios; above 1, the second of the two is better."""
    found = {row["name"]: row for row in rows if "median_ms" in row}
    ms = {name: row["median_ms"] for name, row in found.items()}
    fixed = [name for name in ms if name not in (ROWS, FORMULA)]
    best = min(fixed, key=ms.__getitem__, default=None)
    spread = {name: row.get("deviation_over_mean_piece") for name, row in found.items()}
    for claim, over, under in (
        ("time, none over formula", ms.get(NONE), ms.get(FORMULA)),
        (f"time, best fixed ({best}) over formula", ms.get(best), ms.get(FORMULA)),
        ("time, rows over formula", ms.get(ROWS), ms.get(FORMULA)),
        (f"time, rows over best fixed ({best})", ms.get(ROWS), ms.get(best)),
        ("spread of pieces, none over formula", spread.get(NONE), spread.get(FORMULA)),
    ):
        yield {"claim": claim, "ratio": ratio(over, under)}


def claims_of_pages(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield B6 page by page."""
    ms = {row["name"]: row["median_ms"] for row in rows if "median_ms" in row}
    for name, over in (("none", NONE), ("rows", ROWS)):
        claim = f"time page by page, {name} over formula"
        yield {"claim": claim, "ratio": ratio(ms.get(over), ms.get(FORMULA))}
