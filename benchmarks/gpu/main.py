"""Benchmarks of the CUDA engine on one GPU or several, compared with cuGraph in the same run.

    python -m benchmarks gpu                      every variant and pylibcugraph, whole calls, builds
    python -m benchmarks gpu scales --graphs rmat20,rmat22 --json rows.jsonl
    python -m benchmarks gpu readme --json benchmarks/rows/gpu-benchmark.jsonl
    python -m benchmarks gpu latency --json benchmarks/rows/gpu-latency.jsonl
    python -m benchmarks gpu schedules --json benchmarks/rows/gpu-schedules.jsonl

Benchmarks: {benchmarks}.  The groups "readme" and "latency" have the rows of the pages' tables, each in one
run, and "claims" the published claims about searches; "all" omits "beyond" unless --slow is given, as it
takes minutes, and 100 GB of host memory.

Every row states its run, the date, the commit and digest of the sources, the card and the driver.  Both sides
allocate from one RMM pool.  Roots are random vertices with an edge to another; each is searched once, after a
warm-up, with its initialisation inside the timer; slow contenders get fewer roots, as their rows say.  Where
rows have `checked` and `wrong`, the timed answers were validated after the clock had stopped: those of this
package by Graph500's five rules, pylibcugraph's by this package's distances.  Exits with 1 if a search was
wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import graphs, harness, provenance
from benchmarks.gpu import (
    ablation,
    beyond,
    centrality,
    devices,
    evenness,
    hubs,
    kinds,
    out_of_core,
    programs,
    questions,
    replication,
    scales,
    schedules,
    sorting,
    streamed,
    string_ids,
    variants,
)
from benchmarks.gpu.lab import Lab
from benchmarks.gpu.libraries import unavailable

BENCHMARKS = {
    "variants": variants,
    "scales": scales,
    "ablation": ablation,
    "centrality": centrality,
    "streamed": streamed,
    "replication": replication,
    "programs": programs,
    "out-of-core": out_of_core,
    "schedules": schedules,
    "sorting": sorting,
    "hubs": hubs,
    "kinds": kinds,
    "evenness": evenness,
    "strings": string_ids,
    "questions": questions,
    "beyond": beyond,
    "devices": devices,
}
# Benchmarks with their graphs, fewer than the defaults.  "readme" takes about 8 minutes of an H100, "latency"
# (single searches by scale, streams, small questions, string ids) about 3.
GROUPS: dict[str, dict[str, Sequence[str]]] = {
    "readme": {
        "variants": ("facebook", "rmat20", "rmat22", "rmat24", "grid4096"),
        "scales": ("rmat20", "rmat22", "rmat24"),
        "programs": ("facebook", "rmat20", "rmat22"),
        "ablation": ("rmat22",),
        "replication": ("facebook", "rmat22"),
        "out-of-core": ("rmat24",),
    },
    "latency": {
        "evenness": evenness.GRAPHS,
        "streamed": ("rmat24",),
        "questions": ("facebook", "rmat20", "rmat22", "rmat24"),
        "strings": ("rmat20",),
    },
    "claims": {
        "ablation": ("rmat22",),
        "sorting": ("rmat20", "rmat22", "rmat24"),
        "hubs": ("rmat22",),
        "kinds": kinds.GRAPHS,
        "evenness": evenness.GRAPHS,
        "strings": ("rmat20",),
    },
}
GROUP_SLOW_SECONDS = 1.0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; `benchmarks` has the names to run and `graphs` those of each one's graphs."""
    parser = argparse.ArgumentParser(
        description=__doc__.format(benchmarks=", ".join(BENCHMARKS)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    choices = [*BENCHMARKS, "all", *GROUPS]
    parser.add_argument("benchmark", nargs="?", default="variants", choices=choices, metavar="BENCHMARK")
    parser.add_argument("--graphs", help="in place of the benchmark's own, e.g. rmat20,facebook")
    parser.add_argument("--roots", type=int, default=64, help="searches of each contender (default: 64)")
    parser.add_argument("--seed", type=int, help="of the roots; drawn afresh unless given")
    parser.add_argument("--json", type=Path, help="append the rows to this file, one JSON object a line")
    parser.add_argument("--pool", type=int, default=60, help="RMM pool in GiB (default: 60)")
    parser.add_argument("--slow", action="store_true", help="also measure what takes minutes")
    parser.add_argument(
        "--rows", action="append", metavar="PATTERN", default=None,
        help="with schedules: only rows whose graph/order/program/name is like this, e.g. "
        "'grid4096/locality/sssp/*'; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--sweep-seconds", type=float, default=Lab.sweep_seconds,
        help="with schedules: stop sweeps after so long (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, help="with schedules: begin no more rows after so long")
    options = parser.parse_args(arguments)

    if options.roots < 1 or options.pool < 1 or (options.seed or 0) < 0:
        parser.error("--roots and --pool are 1 or more, --seed is 0 or more")
    every = [name for name in BENCHMARKS if name != "beyond" or options.slow]
    groups = {"all": every} | {name: list(group) for name, group in GROUPS.items()}
    options.benchmarks = groups.get(options.benchmark, [options.benchmark])
    asked = options.graphs and options.graphs.split(",")
    if asked and options.benchmark in groups:
        parser.error("--graphs goes with one benchmark")
    if wrong := next(filter(None, map(graphs.check_name, asked or ())), None):
        parser.error(wrong)
    own = GROUPS.get(options.benchmark, {})
    options.graphs = {name: asked or own.get(name, BENCHMARKS[name].GRAPHS) for name in options.benchmarks}
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if reason := unavailable():
        print(reason, file=sys.stderr)
        return 1
    lab = Lab(options.roots, options.seed, options.pool, options.slow)
    lab.selected, lab.sweep_seconds = options.rows or lab.selected, options.sweep_seconds
    if options.seconds is not None:
        lab.end = time.perf_counter() + options.seconds
    if options.benchmark in GROUPS:
        lab.slow_seconds = GROUP_SLOW_SECONDS
    recorder = harness.Recorder(options.json, facts=provenance.of_run() | provenance.of_gpu())
    for name in options.benchmarks:
        for row in harness.run(name, BENCHMARKS[name], lab, options.graphs[name]):
            recorder.add(row)
    return report(recorder.rows)


def report(rows: Sequence[harness.Row]) -> int:
    """Print the tables, and return 1 if a search was wrong."""
    harness.show(rows, {name: module.TABLES for name, module in BENCHMARKS.items()})
    wrong = sum(row.get("wrong", 0) for row in rows)
    if wrong:
        print(f"{wrong} of the searches were wrong; the notes say which.", file=sys.stderr)
    return int(wrong > 0)
