"""The CPU engine compared with other libraries in one run, on the same graphs and from the same roots.

    python -m benchmarks cpu --gap ../gapbs                      # everything: about 15 minutes on two cores
    python -m benchmarks cpu --only bfs --graph rmat18 --graph roads.parquet
    python -m benchmarks cpu --only sssp --only each --seconds 0.5
    python -m benchmarks cpu --gap ../gapbs --json benchmarks/rows/cpu-benchmark.jsonl

Parts: `bfs`, `sssp` (shortest paths by weight), `each` (several searches in one call), `views` (`where`,
"in" and "both", the first time and later), `programs` (components and PageRank) and `builds` (from frames
of integers and of UUID strings).

Rivals: SciPy, igraph and NetworKit where they are installed; with `--gap FOLDER` the GAP reference code,
which is cloned and built there if necessary; with `--lagraph FOLDER` LAGraph; with `--graph-tool PYTHON`
graph-tool, in a process of that interpreter.  A missing rival is reported and has no rows.

A graph in a library's own form is made beforehand and not timed, except in `builds`.  Each contestant answers
once to warm up, and this answer is compared with that of this package; then all take turns from the same
roots.  A wrong answer is reported, is not eligible as the best other, and makes the exit status 1.  The last
table compares this package's median with that of the best other, and marks the queries where this package is
slower.  The modules beside this one document each part; with --json every row is kept, with the run, the
date, the commit and digest of the sources, the processor and the versions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks import provenance
from benchmarks.cpu import (
    builds,
    contest,
    gap,
    graphtool,
    inputs,
    lagraph,
    programs,
    report,
    rivals,
    searches,
    views,
)
from benchmarks.harness import Recorder

PARTS = ("bfs", "sssp", "each", "views", "programs", "builds")


@dataclass(frozen=True)
class Settings:
    """Selection of parts, rivals and sizes; the sizes are smaller in tests."""

    only: Sequence[str] = PARTS
    graphs: Sequence[str] = ()
    roots: int = 8
    seed: int = 1
    sources: Sequence[int] = searches.EACH_SOURCES
    sssp: Sequence[tuple[str, str]] = searches.SSSP_GRAPHS
    each: Sequence[tuple[str, Sequence[int]]] = ()
    filtered: str = views.GRAPH
    programmed: Sequence[str] = programs.GRAPHS
    integers: str = builds.GRAPH
    uuid_edges: int = builds.UUID_EDGES
    pace: contest.Pace = field(default_factory=contest.Pace)


def contests(asked: Settings, others: list[rivals.Rival]) -> Iterator[contest.Contest]:
    """Yield the contests; a graph is kept only as long as its contests run."""
    seed = asked.seed
    if "bfs" in asked.only:
        for name in asked.graphs or searches.BFS_GRAPHS:
            data = inputs.load(name, seed=seed)
            yield from searches.bfs(data, others, data.roots(asked.roots, seed))
    if "sssp" in asked.only:
        for name, weights in asked.sssp:
            data = inputs.load(name, weights=weights, seed=seed)
            yield from searches.sssp(data, others, data.roots(asked.roots, seed), weights)
    if "each" in asked.only:
        for name, numbers in asked.each or ((searches.EACH_GRAPH, asked.sources), ("facebook", (64,))):
            yield from searches.each(inputs.load(name, seed=seed), others, numbers, seed)
    if "views" in asked.only:
        data = inputs.directed(asked.filtered, seed=seed)
        yield from views.views(data, asked.roots, seed, others)
    if "programs" in asked.only:
        for name in asked.programmed:
            yield from programs.programs(inputs.simple(inputs.load(name, seed=seed)), others)
    if "builds" in asked.only:
        yield from builds.integers(inputs.load(asked.integers, seed=seed), others)
        for kind in builds.STRINGS:
            yield from builds.strings(asked.uuid_edges, kind, seed, others)


def attend(candidates: Sequence[rivals.Rival]) -> tuple[list[rivals.Rival], dict[str, str]]:
    """Return the rivals that are available, and the reasons why the others are not, by name."""
    reasons = {rival.name: rival.absent() for rival in candidates}
    present = [rival for rival in candidates if reasons[rival.name] is None]
    return present, {name: reason for name, reason in reasons.items() if reason}


def run(asked: Settings, others: list[rivals.Rival], absent: dict[str, str], recorder: Recorder) -> None:
    """Record a row for each contestant of each contest, and for each rival that is not available."""
    for name, reason in absent.items():
        recorder.add({"benchmark": "cpu", "table": "absent", "name": name, "note": reason})
    for one in contests(asked, others):
        for row in contest.measure(one, asked.pace):
            recorder.add(row)


@click.command()
@click.option("--only", type=click.Choice(PARTS), multiple=True, help="Only these parts.")
@click.option(
    "--graph", "graphs", multiple=True, help="Graphs of `bfs`, by name or file, in place of its own."
)
@click.option("--rival", "chosen", multiple=True, help="Only these rivals, by name, such as scipy or gap.")
@click.option("--roots", default=8, show_default=True, help="Roots, of degree 1 or more.")
@click.option("--seed", default=1, show_default=True, help="Of the roots, weights and orders.")
@click.option("--sources", type=int, multiple=True, default=searches.EACH_SOURCES, show_default=True,
              help="Numbers of sources of `each`.")  # fmt: skip
@click.option("--seconds", default=1.0, show_default=True, help="Time of each, for each question.")
@click.option("--gap", "gap_folder", type=click.Path(path_type=Path), envvar="GAP_FOLDER",
              help="Checkout of the GAP suite; made if it is not there. Also $GAP_FOLDER.")  # fmt: skip
@click.option("--lagraph", "lagraph_folder", type=click.Path(path_type=Path), envvar="LAGRAPH_FOLDER",
              help="Folder with liblagraph.so. Also $LAGRAPH_FOLDER.")  # fmt: skip
@click.option("--graph-tool", "python", envvar="GRAPH_TOOL_PYTHON",
              help="Python that can import graph_tool. Also $GRAPH_TOOL_PYTHON.")  # fmt: skip
@click.option("--json", "path", type=click.Path(path_type=Path), help="Append the rows to this file.")
def main(
    only: tuple[str, ...], graphs: tuple[str, ...], chosen: tuple[str, ...], roots: int, seed: int,
    sources: tuple[int, ...], seconds: float, gap_folder: Path | None, lagraph_folder: Path | None,
    python: str | None, path: Path | None,
) -> None:  # fmt: skip
    """Measure, print the table, and keep the rows."""
    parts = tuple(part for part in PARTS if part in only) if only else PARTS
    asked = Settings(parts, graphs, roots, seed, sources, pace=contest.Pace(seconds))
    with TemporaryDirectory() as scratch, graphtool.GraphTool(python, Path(scratch)) as other:
        candidates = (
            rivals.SciPy(), rivals.Igraph(), rivals.Networkit(), gap.Gap(gap_folder, Path(scratch)),
            lagraph.LAGraph(lagraph_folder), other,
        )  # fmt: skip
        known = [rival.name for rival in candidates]
        if unknown := set(chosen) - set(known):
            raise click.BadParameter(f"no rival is called {min(unknown)!r}: there are {', '.join(known)}")
        present, absent = attend([one for one in candidates if not chosen or one.name in chosen])
        versions = {name: version for rival in present for name, version in rival.versions.items()}
        machine = provenance.of_cpu()
        facts = provenance.of_run() | machine | {"versions": machine["versions"] | versions}
        recorder = Recorder(path, lambda line: click.echo(line, err=True), facts)
        run(asked, present, absent, recorder)
    sys.exit(finish(recorder))


def finish(recorder: Recorder) -> int:
    """Print the table and whatever is missing or wrong; return 1 if a rival has answered wrongly."""
    rows = recorder.rows
    if rows:
        click.echo("\n".join(report.markdown(rows)) + "\n")
    for line in report.told(rows):
        click.echo(line)
    return int(any("wrong" in row for row in rows))
