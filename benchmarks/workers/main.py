"""Benchmarks of graphs on the workers of a Dask cluster of this machine, compared with cuGraph.

    python -m benchmarks workers --workers 2 --scale 22 --scale 24          on GPUs, one for each worker
    python -m benchmarks workers --cpu --workers 4 --scale 14               on processes without GPUs
    python -m benchmarks workers --part claims --part exchange --json benchmarks/rows/gpu-dask.jsonl

Parts, in the order in which they run:

    calls       build of a Dask frame, and `graph.bfs(root)` from the client to the answer on the workers,
                against cugraph.dask on the same frame: time, and peak memory over the input
    claims      B1: claims by atomics, against sorting and keeping one of each
    exchange    B2: the shorter form of each message, against lists alone and bitmaps alone
    direction   top-down alone, against bottom-up too
    launch      the same, against one launch on each GPU, also by the GPUs' clock
    phases      milliseconds of the phases of each level, of the slowest worker
    grids       one row, one column, and the squarest grid of workers
    scaling     B9: the same graph on 1, 2, 4, ... workers, and one that grows with them
    formula     lists, bitmaps and auto give one answer and send what benchmarks/scale/model.py counts, at
                --formula-scale

Graphs are R-MAT, edge factor 16, generated on the workers.  Searches are timed between barriers of all
workers, and whole calls by the client's clock, after an untimed one; timed answers are validated after the
clock has stopped.  Rows are appended to --json as they are measured; a part that needs a missing package,
fails, or would begin after --budget seconds has a row that says so.  Exits with 1 if a search was wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from benchmarks import harness as tables
from benchmarks import provenance
from benchmarks.harness import Recorder, Row, reason, short
from benchmarks.workers import calls as dask_calls
from benchmarks.workers import searches as dask_searches
from benchmarks.workers.lab import DaskLab, start_cluster, within

PARTS = ("calls", "claims", "exchange", "direction", "launch", "phases", "grids", "scaling", "formula")
LIMIT = 300.0  # seconds that a part may take
_GRAPH = ("graph", "workers", "grid")
_TIMES = (*_GRAPH, "name", "roots", "min_ms", "median_ms", "max_ms")
_RATES = (*_TIMES, "gteps_harmonic_mean", "mb_a_rank")
_VERDICT = ("checked", "compared", "wrong", "note")
_PHASES = tuple(f"{phase}_ms" for phase in dask_searches.PHASES)
_SCALING = (
    *_GRAPH, "median_ms", "gteps_harmonic_mean", "mb_a_rank", "scaling_efficiency", "longest_phase", *_PHASES,
    "construction_s", "wrong", "note",
)  # fmt: skip
TABLES = {
    "build": (
        "graph", "workers", "name", "median_ms", "renumber_ms", "degree_sort_ms", "adjacency_ms",
        "peak_over_input", "peak_bytes", "input_bytes", "over_ours", "note",
    ),
    "whole calls": (*_TIMES, "returned_ms", "levels_ms", "over_ours", *_VERDICT),
    "claims": (*_RATES, "over_default", *_VERDICT),
    "exchange": (*_RATES, "over_default", "bytes_over_default", "lists_over_bitmaps", *_VERDICT),
    "direction": (*_RATES, "over_default", *_VERDICT),
    "launch": (*_RATES, "device_ms", "device_gteps", "over_default", *_VERDICT),
    "phases": (
        *_GRAPH, "name", "level", "way", "frontier", "edges", "edges_most", "candidates", "mb_a_rank",
        *_PHASES,
    ),
    "grids": (*_RATES, "imbalance", *_VERDICT),
    "strong scaling": _SCALING,
    "weak scaling": _SCALING,
    "formula": ("graph", "workers", "grid", "name", "mb_a_rank", *_VERDICT),
    "not measured": ("graph", "workers", "name", "note"),
    "summary": ("graph", "workers", "name", "value"),
}  # fmt: skip
# Figures of the last table: label, table, row, column.
FIGURES = (
    ("whole call, ms", "whole calls", dask_calls.OURS, "median_ms"),
    ("cugraph.dask.bfs over it", "whole calls", dask_calls.THEIRS, "over_ours"),
    ("build, ms", "build", "trav.graph", "median_ms"),
    ("peak of the build over the input", "build", "trav.graph", "peak_over_input"),
    ("... cuGraph's", "build", dask_calls.THEIRS, "peak_over_input"),
    ("search between barriers, GTEPS", "claims", dask_searches.DEFAULT, "gteps_harmonic_mean"),
    ("B1: sort-unique over atomics, time", "claims", "sort-unique", "over_default"),
    ("B2: lists over bitmaps, time", "exchange", "bitmaps", "lists_over_bitmaps"),
    ("B2: lists over auto, time", "exchange", "lists", "over_default"),
    ("B2: lists over auto, bytes", "exchange", "lists", "bytes_over_default"),
    ("B2: bitmaps over auto, time", "exchange", "bitmaps", "over_default"),
    ("bottom-up too over top-down alone, time", "direction", "bottom-up too", "over_default"),
    ("one launch over messages, time", "launch", dask_searches.LAUNCH, "over_default"),
    ("one launch, GTEPS by the GPUs' clock", "launch", dask_searches.LAUNCH, "device_gteps"),
    ("B9: strong scaling, efficiency", "strong scaling", dask_searches.DEFAULT, "scaling_efficiency"),
    ("B9: weak scaling, efficiency", "weak scaling", dask_searches.DEFAULT, "scaling_efficiency"),
)


def steps(
    lab: DaskLab, parts: Sequence[str], scales: Sequence[int], formula_scale: int
) -> Iterator[tuple[str, int, Callable[[], Iterator[Row]]]]:
    """Yield name, scale and rows of each step; steps of one graph are consecutive."""
    of_graph = [part for part in PARTS if part in parts and part not in ("calls", "scaling", "formula")]
    if "calls" in parts:
        for scale in scales:
            yield "calls", scale, lambda scale=scale: dask_calls.calls(lab, scale)
    for scale in scales:
        for part in of_graph:
            if part in dask_searches.PARTS:
                yield part, scale, lambda s=scale, part=part: dask_searches.settings(lab, s, part)
            else:
                yield part, scale, lambda s=scale, part=part: getattr(dask_searches, part)(lab, s)
    if "scaling" in parts:
        yield "scaling", max(scales), lambda: dask_searches.scaling(lab, scales)
    if "formula" in parts:
        yield "formula", formula_scale, lambda: dask_searches.formula(lab, formula_scale)


def measure(
    lab: DaskLab, parts: Sequence[str], scales: Sequence[int], formula_scale: int, budget: float
) -> Iterator[Row]:
    """Yield the rows of all parts; a part that fails or starts too late has one that says so."""
    start = time.monotonic()
    for name, scale, rows in steps(lab, parts, scales, formula_scale):
        facts = {"benchmark": "dask", "graph": f"rmat{scale}", "workers": len(lab.workers)}
        missing = facts | {"table": "not measured", "name": name}
        if time.monotonic() - start > budget:
            yield missing | {"note": f"the budget of {budget:.0f} s was used up before it began"}
            continue
        try:
            with within(LIMIT, name):
                for row in rows():
                    yield {**facts, **row, "elapsed_s": round(time.monotonic() - start, 1)}
        except Exception as error:
            yield missing | {"note": reason(error)}
            lab.close()


def summary(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the main figures for the largest number of workers of each graph."""
    for label, table, name, column in FIGURES:
        found = [row for row in rows if row["table"] == table and row.get("name") == name]
        most = max((row["workers"] for row in found), default=0)
        for row in found:
            if row["workers"] == most and row.get(column) is not None:
                facts = {key: row[key] for key in ("graph", "workers")}
                yield {"benchmark": "dask", "table": "summary", **facts, "name": label, "value": row[column]}


@click.command(help=__doc__.split("\n")[0])
@click.option("--cpu", is_flag=True, help="Worker processes without GPUs.")
@click.option("--workers", "n_workers", default=2, show_default=True, type=click.IntRange(1))
@click.option("--scale", "scales", multiple=True, type=click.IntRange(5), default=(22, 24), show_default=True)
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), default=PARTS)
@click.option("--roots", default=8, show_default=True, type=click.IntRange(1))
@click.option("--checked", default=1, show_default=True, help="Roots of each row that the five rules check.")
@click.option("--seed", default=1, show_default=True)
@click.option("--formula-scale", default=16, show_default=True, type=click.IntRange(5, 20))
@click.option("--budget", default=600.0, show_default=True, help="Seconds after which no part begins.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Append the rows to this file.")
def main(
    cpu: bool, n_workers: int, scales: tuple[int, ...], parts: tuple[str, ...], roots: int, checked: int,
    seed: int, formula_scale: int, budget: float, path: Path | None,
) -> None:  # fmt: skip
    start = time.monotonic()
    with start_cluster(cpu, n_workers) as client:
        recorder = Recorder(path, facts=provenance.of_run() | provenance.of_cluster(cpu))
        lab = DaskLab(client, cpu, roots, checked, seed)
        started = {
            "benchmark": "dask",
            "table": "cluster",
            "workers": n_workers,
            "name": "start of the cluster",
        }
        recorder.add(started | {"median_ms": short(1e3 * (time.monotonic() - start))})
        for row in measure(lab, parts, scales, formula_scale, budget):
            recorder.add({**row, "seed": seed})
        with within(LIMIT, "closing"):
            lab.close()
        rows = [*recorder.rows, *summary(recorder.rows)]
    tables.show(rows, {"dask": TABLES})
    wrong = sum(row.get("wrong", 0) for row in rows)
    if wrong:
        raise click.ClickException(f"{wrong} of the searches were wrong; the notes say which.")
