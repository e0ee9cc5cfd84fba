"""The command `rapids-trav graph500`: prints the benchmark's keys and a short summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
from rich.table import Table

from rapids_trav.cli.checks import refuse_given, wrong_option
from rapids_trav.cli.edges import devices_option, engine_option
from rapids_trav.cli.options import Given
from rapids_trav.cli.report import console, seconds, steps
from rapids_trav.graph500 import Report, run
from rapids_trav.graph500.harness import MOST_EDGE_FACTOR, MOST_SCALE, MOST_SEED, engine_for
from rapids_trav.io import check_writable


def _number(name: str, least: int, most: int | None, default: int, help: str) -> Callable:
    """Return the option for a number in a range."""
    kind = click.IntRange(least, most)
    return click.option(f"--{name}", type=kind, default=default, show_default=True, help=help)


@click.command(short_help="Run the Graph500 benchmark.")
@click.option("--scale", type=click.IntRange(1, MOST_SCALE), required=True, help="Up to 2^SCALE vertices.")
@_number("edge-factor", 1, MOST_EDGE_FACTOR, 16, "Edges for each of them.")
@_number("roots", 1, None, 64, "Searches, each from a random root.")
@_number("seed", 0, MOST_SEED, 1, "Seed of the graph and of the roots.")
@engine_option
@devices_option
@click.option("--scheduler", help="Address of a Dask scheduler, on whose workers to run, each with its part.")
@click.option("--validate/--no-validate", default=True, show_default=True, help="Check every search.")
@click.option("--json", "json_file", help="Also write the keys and each search to this file.")
def graph500(
    scale: int,
    engine: str,
    devices: str | list[int] | None,
    scheduler: str | None,
    json_file: str | None,
    **asked: Given,
) -> int:
    """Run the Graph500 benchmark: generate, construct, search, validate, report.

    Prints the specification's output keys, then keys of our own, then a summary.  Exits with 1 if a search
    is not valid.

    \b
    rapids-trav graph500 --scale 20
    rapids-trav graph500 --scale 27 --devices all
    """
    if json_file:
        with wrong_option():
            check_writable(json_file)
    if scheduler is not None:
        refuse_given(("devices",), "GPUs of this process, and --scheduler runs on workers")
        refuse_given(("engine",), "this process, and with --scheduler the workers' GPUs decide")
    else:
        with wrong_option():
            runner = engine_for(engine, devices)
    with steps() as notify:
        if scheduler is None:
            report = run(scale, engine=runner, notify=notify, **asked)
        else:
            from rapids_trav.cli.clusters import connected
            from rapids_trav.graph500.ranks import run_on_cluster

            with connected(scheduler) as client:
                report = run_on_cluster(scale, client, notify=notify, **asked)
    click.echo(str(report))
    console().print(_summary(report))
    if json_file:
        Path(json_file).write_text(json.dumps(report.as_dict(), indent=2) + "\n", encoding="utf-8")
    for row in report.searches[report.searches["valid"].eq(False).fillna(False)].itertuples():
        click.echo(f"rapids-trav: the search from root {row.root} is not valid: {row.faults}", err=True)
    return 1 if report.valid is False else 0


def _summary(report: Report) -> Table:
    keys, validation = report.output(), report.more_output()["validation"]
    streamed = report.streamed_seconds
    table = Table(
        "search",
        *("min", "first quartile", "median", "third quartile", "max", "harmonic mean"),
        title=f"Graph500 scale {report.scale}, edge factor {report.edge_factor}: "
        f"{len(report.searches)} searches on {report.device}, validation {validation}; "
        f"generated in {seconds(report.generation_seconds)}, "
        f"constructed in {seconds(report.construction_seconds)}"
        + (f"; all searches, one queued behind another, in {seconds(streamed)}" if streamed else ""),
        title_justify="left",
    )
    for column in table.columns[1:]:
        column.justify = "right"
    names = ("min", "firstquartile", "median", "thirdquartile", "max")
    table.add_row("time, ms", *(f"{1e3 * keys[f'bfs_{name}_time']:,.3f}" for name in names), "")
    rates = [*(f"bfs_{name}_TEPS" for name in names), "bfs_harmonic_mean_TEPS"]
    table.add_row("GTEPS", *(f"{keys[name] / 1e9:,.3f}" for name in rates))
    return table
