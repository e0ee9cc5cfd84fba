"""Benchmarks of the CUDA engine on one GPU, compared with cuGraph in the same run.

    python ci/bench_gpu.py                      every variant and pylibcugraph, whole calls, builds
    python ci/bench_gpu.py scales               R-MAT scale 18 to 26, in GTEPS
    python ci/bench_gpu.py ablation             effect of degree sort, pruning, hub cache and direction
    python ci/bench_gpu.py diameter             graphs of thousands of levels, microseconds a level
    python ci/bench_gpu.py real                 the shipped data sets
    python ci/bench_gpu.py whole-call           from an id to a frame, against cugraph.bfs
    python ci/bench_gpu.py build                time and peak memory, against cuGraph
    python ci/bench_gpu.py limit                bytes and bandwidth by level, against a copy
    python ci/bench_gpu.py each                 hundreds of searches together, against one after another
    python ci/bench_gpu.py centrality           closeness and betweenness of a sample of vertices
    python ci/bench_gpu.py threads              queries a second with 1 to 8 threads on one graph
    python ci/bench_gpu.py streamed             graph.bfs_stream, against the device's own times
    python ci/bench_gpu.py replication          B6: gathering with copies of each vertex, and without
    python ci/bench_gpu.py programs             PageRank, components and SSSP, against cuGraph's
    python ci/bench_gpu.py out-of-core          in a quarter of the memory, against in memory and the link
    python ci/bench_gpu.py schedules            B7, B15: programs in a quarter of the memory, by schedule
    python ci/bench_gpu.py sorting              B12: the degree sort, and the searches that pay for it
    python ci/bench_gpu.py hubs                 B13: the hub cache by its threshold
    python ci/bench_gpu.py kinds                B11: vertex- and edge-centric searches by kind of graph
    python ci/bench_gpu.py evenness             the worst root over the median, scale 20 to 26
    python ci/bench_gpu.py strings              ids that are strings: builds and calls
    python ci/bench_gpu.py questions            small questions, and the host's part of a search
    python ci/bench_gpu.py beyond               larger than the card: built, searched, validated
    python ci/bench_gpu.py devices              several GPUs of the host together, against one of them
    python ci/bench_gpu.py parts                the parts of the search by one GPU, each changed alone
    python ci/bench_gpu.py ranks                the parts of the search by several GPUs, each changed alone
    python ci/bench_gpu.py all --json rows.jsonl --plot rows.png
    python ci/bench_gpu.py readme --json ci/gpu-benchmark.jsonl     rows of the pages' tables, in one run
    python ci/bench_gpu.py latency --json ci/gpu-latency.jsonl      evenness, streams, questions, strings
    python ci/bench_gpu.py claims --json rows.jsonl    B3 to B5, B8, B11 to B13, evenness, strings

Every row states its run, the date, the commit and digest of the sources, the card and the driver;
ci/write_tables.py makes the tables of the README and of docs/performance.md from the rows of one run.

Both sides allocate from one RMM pool.  Roots are random vertices with an edge to another; each is searched
once, after a warm-up, with its initialisation inside the timer; slow contenders get fewer roots, as their
rows say.  Where rows have `checked` and `wrong`, the timed answers were validated after the clock had
stopped: those of this package by Graph500's five rules, pylibcugraph's by this package's distances.  "all"
omits "beyond" unless --slow is given: it takes minutes, and 100 GB of host memory.  Exits with 1 if a search
was wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import (
    ablation,
    beyond,
    build,
    centrality,
    devices,
    diameter,
    each,
    evenness,
    graphs,
    hubs,
    kinds,
    limit,
    out_of_core,
    parts,
    pictures,
    programs,
    provenance,
    questions,
    ranks,
    real,
    replication,
    scales,
    schedules,
    sorting,
    streamed,
    string_ids,
    tables,
    threads,
    variants,
    whole_call,
)
from bench.lab import Lab
from bench.libraries import unavailable
from bench.rows import Recorder

from rapids_trav import plot
from rapids_trav.errors import TravError

BENCHMARKS = {
    "scales": scales,
    "ablation": ablation,
    "diameter": diameter,
    "real": real,
    "whole-call": whole_call,
    "build": build,
    "limit": limit,
    "each": each,
    "centrality": centrality,
    "threads": threads,
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
    "parts": parts,
    "ranks": ranks,
    "variants": variants,
}

# Benchmarks of the README and docs/performance.md, on fewer graphs than the defaults: about 8 minutes of an
# H100.
README: dict[str, Sequence[str]] = {
    "variants": ("facebook", "rmat20", "rmat22", "rmat24", "grid4096"),
    "scales": ("rmat20", "rmat22", "rmat24"),
    "programs": ("facebook", "rmat20", "rmat22"),
    "ablation": ("rmat22",),
    "replication": ("facebook", "rmat22"),
    "out-of-core": ("rmat24",),
}
# Benchmarks of published claims about searches on one GPU, of evenness, and of ids that are strings.
CLAIMS: dict[str, Sequence[str]] = {
    "ablation": ("rmat22",),
    "sorting": ("rmat20", "rmat22", "rmat24"),
    "hubs": ("rmat22",),
    "kinds": kinds.GRAPHS,
    "evenness": evenness.GRAPHS,
    "strings": ("rmat20",),
}
# Benchmarks of single searches by scale, of a stream of them, of small questions, and of string ids: about 3
# minutes of an H100.
LATENCY: dict[str, Sequence[str]] = {
    "evenness": evenness.GRAPHS,
    "streamed": ("rmat24",),
    "questions": ("facebook", "rmat20", "rmat22", "rmat24"),
    "strings": ("rmat20",),
}
GROUPS = {"readme": README, "latency": LATENCY, "claims": CLAIMS}
GROUP_SLOW_SECONDS = 1.0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; `benchmarks` has the names to run and `graphs` those of each one's graphs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "benchmark", nargs="?", default="variants", choices=[*BENCHMARKS, "all", *GROUPS],
        metavar="BENCHMARK",
        help=f"{', '.join(BENCHMARKS)}, all, {', '.join(GROUPS)} (default: variants)",
    )  # fmt: skip
    parser.add_argument("--graphs", help="in place of the benchmark's own, e.g. rmat20,facebook")
    parser.add_argument("--roots", type=int, default=64, help="searches of each contender (default: 64)")
    parser.add_argument("--seed", type=int, help="of the roots; drawn afresh unless given")
    parser.add_argument("--json", type=Path, help="append the rows to this file, one JSON object a line")
    parser.add_argument("--plot", type=Path, help="draw the rows into this file, e.g. rows.png")
    parser.add_argument("--pool", type=int, default=60, help="RMM pool in GiB (default: 60)")
    parser.add_argument("--slow", action="store_true", help="also measure what takes minutes")
    parser.add_argument(
        "--rows", action="append", metavar="PATTERN", default=None,
        help="with schedules: only rows whose graph/order/program/name is like this, e.g. "
        "'grid4096/locality/sssp/*'; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--sweep-seconds",
        type=float,
        default=Lab.sweep_seconds,
        help="with schedules: stop sweeps after so long (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds", type=float, default=Lab.seconds, help="with schedules: begin no more rows after so long"
    )
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
    if options.plot:
        try:
            plot.check_picture(options.plot)
        except TravError as error:
            parser.error(str(error))
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if reason := unavailable():
        print(reason, file=sys.stderr)
        return 1
    lab = Lab(options.roots, options.seed, options.pool, options.slow)
    lab.selected, lab.sweep_seconds = options.rows or lab.selected, options.sweep_seconds
    lab.seconds = options.seconds
    if options.benchmark in GROUPS:
        lab.slow_seconds = GROUP_SLOW_SECONDS
    recorder = Recorder(options.json, facts=provenance.of_run() | provenance.of_gpu())
    for name in options.benchmarks:
        for row in BENCHMARKS[name].measure(lab, options.graphs[name]):
            recorder.add(row)
    return report(recorder.rows, options.plot)


def report(rows: Sequence[dict], picture: Path | None) -> int:
    """Print the tables, draw the picture, and return 1 if a search was wrong."""
    tables.show(rows, {name: module.TABLES for name, module in BENCHMARKS.items()})
    if picture:
        plot.save(pictures.make(rows, {name: module.draw for name, module in BENCHMARKS.items()}), picture)
    wrong = sum(row.get("wrong", 0) for row in rows)
    if wrong:
        print(f"{wrong} of the searches were wrong; the notes say which.", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
