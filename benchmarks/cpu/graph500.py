"""B14: the reference code of Graph500 (release 2.1.4, without MPI) beside this package's CPU engine.

Its programs are built in a given folder; a folder that does not exist is cloned.  Each makes its own
Kronecker graph of the scale, edge factor 16, draws its own roots, and verifies every tree; so does ours, by
the same specification.  Compared are the harmonic means of the traversed edges per second.  "omp-csr" uses a
thread for each core, which wait for each other busily, so that other work on these cores slows it down;
"seq-csr" uses one.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks import provenance
from benchmarks.harness import Recorder, Row, ratio, short, show
from rapids_trav import graph500

SOURCE, RELEASE = "https://github.com/graph500/graph500", "graph500-2.1.4"
PROGRAMS = ("omp-csr/omp-csr", "seq-csr/seq-csr")
# Today's compilers need the older rules for inline functions and tentative definitions.
SETTINGS = """\
CFLAGS = -O3 -march=native -std=gnu99 -fgnu89-inline -fcommon -w
LDLIBS = -lm -lrt
BUILD_OPENMP = Yes
CFLAGS_OPENMP = -fopenmp
"""
KEY = re.compile(r"^(\w+): +([-+.\de]+)$", re.MULTILINE)
COLUMNS = (
    "graph", "name", "roots", "construction_ms", "median_ms", "max_ms", "gteps_harmonic_mean",
    "ours_over_theirs",
)  # fmt: skip


def build(folder: Path) -> None:
    """Clone the reference code if it is not there, and build what is missing."""
    if not folder.exists():
        done(["git", "clone", "--depth", "1", "--branch", RELEASE, SOURCE, str(folder)])
    (folder / "make.inc").write_text(SETTINGS)
    done(["make", "-C", str(folder), *PROGRAMS])


def compare(folder: Path, scales: Sequence[int]) -> Iterator[Row]:
    """Yield a row of ours and of each program for each scale."""
    for scale in scales:
        facts = {"benchmark": "graph500", "table": "graph500", "graph": f"rmat{scale}"}
        ours = of_ours(scale)
        yield {**facts, "name": "rapids_trav", **ours}
        for program in PROGRAMS:
            theirs = of_output(run(folder, program, scale))
            lead = ratio(ours["gteps_harmonic_mean"], theirs["gteps_harmonic_mean"])
            yield {**facts, "name": Path(program).name, **theirs, "ours_over_theirs": lead}


def of_ours(scale: int) -> Row:
    """Run the benchmark on the CPU; every search must be valid."""
    report = graph500.run(scale, engine="cpu")
    if not report.valid:
        raise RuntimeError(f"searches at scale {scale} are not valid")
    searches = report.searches
    return {
        "roots": len(searches),
        "construction_ms": short(1e3 * report.construction_seconds),
        "median_ms": short(1e3 * float(np.median(searches["seconds"]))),
        "max_ms": short(1e3 * float(searches["seconds"].max())),
        "gteps_harmonic_mean": short(len(searches) / float((1 / searches["teps"]).sum()) / 1e9),
    }


def of_output(text: str) -> Row:
    """Return the figures that a program of the reference code prints."""
    found = {key: float(value) for key, value in KEY.findall(text)}
    return {
        "roots": int(found["nbfs"]),
        "construction_ms": short(1e3 * found["construction_time"]),
        "median_ms": short(1e3 * found["median_time"]),
        "max_ms": short(1e3 * found["max_time"]),
        "gteps_harmonic_mean": short(found["harmonic_mean_TEPS"] / 1e9),
    }


def run(folder: Path, program: str, scale: int) -> str:
    """Return what a program prints; it fails if one of its trees is wrong."""
    threads = 1 if program.startswith("seq") else len(os.sched_getaffinity(0))
    return done([str(folder / program), "-s", str(scale), "-e", "16"], OMP_NUM_THREADS=str(threads))


def done(command: Sequence[str], **environment: str) -> str:
    """Run a command and return its output."""
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
    ).stdout


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--scale", "scales", type=int, multiple=True, default=(16, 18), show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Append the rows to this file.")
def main(folder: Path, scales: tuple[int, ...], path: Path | None) -> None:
    """Build the reference code in FOLDER, measure both, and print the table."""
    build(folder)
    facts = provenance.of_run() | provenance.of_cpu()
    recorder = Recorder(path, lambda line: click.echo(line, err=True), facts)
    for row in compare(folder, scales):
        recorder.add(row)
    show(recorder.rows, {"graph500": {"graph500": COLUMNS}})
