"""The commands that run vertex programs: `components`, `sssp` and `pagerank`."""

from __future__ import annotations

import time
from collections.abc import Callable

import click
import pandas as pd

from rapids_trav.algorithms.options import (
    PAGE,
    ComponentsOptions,
    IterationOptions,
    PagerankOptions,
    SsspOptions,
)
from rapids_trav.cli.checks import check_files, wrong_option
from rapids_trav.cli.edges import OpenGraph, edge_options, open_graph
from rapids_trav.cli.options import Given, derived, taken
from rapids_trav.cli.questions import (
    CONDITION,
    head,
    names,
    output_option,
    quiet_option,
    screen_beside,
    source_option,
    write,
)
from rapids_trav.cli.report import console, count
from rapids_trav.cli.tables import trace_tables, without_idle
from rapids_trav.frames.columns import Frame
from rapids_trav.io.write import to_pandas
from rapids_trav.utilities.progress import PageProgress, Told, told_to
from rapids_trav.utilities.sizes import readable

SHOWN = 10  # components or vertices listed in a summary
RUNNING = "Running (the first run of a new installation compiles)"


class Every(click.IntRange):
    """A number of iterations, or "page"."""

    name = "integer or page"

    def convert(self, value: Given, param: click.Parameter | None, ctx: click.Context | None) -> Given:
        return value if value == PAGE else super().convert(value, param, ctx)


_where = derived(IterationOptions, "where", help=f"Use only edges where this is true: {CONDITION}")
_trace = derived(IterationOptions, "trace", help="Show what each iteration did.")
_plot = click.option(
    "--plot", "picture", help="Draw time, bytes and overlap by iteration to .png, .svg, .pdf, ..."
)
_schedule = derived(
    IterationOptions,
    "schedule",
    help="How edges larger than memory come into it: pages, or blocks that stay.",
)
_checkpoint = derived(IterationOptions, "checkpoint", help="Folder in which to keep the state of the run.")
_every = derived(IterationOptions, "checkpoint_every", help="Iterations, or page.", type=Every(1))
_resume = derived(IterationOptions, "resume", help="Continue from the checkpoint, if there is one.")


def run_options(command: Callable) -> Callable:
    """Decorate a command with the options common to these commands."""
    for option in (quiet_option, _plot, output_option, _trace, _where):
        command = option(command)
    return edge_options(command)


def iteration_options(command: Callable) -> Callable:
    """Decorate a command with the options of programs whose iterations may end and go on."""
    for option in (_resume, _every, _checkpoint):
        command = option(command)
    return run_options(command)


@click.command(short_help="Weakly connected components.")
@run_options
def components(output: str | None, picture: str | None, quiet: bool, **options: Given) -> None:
    """Find the weakly connected components: for every vertex the smallest id of its component.

    \b
    rapids-trav components facebook
    """
    _run("components", ComponentsOptions, output, picture, quiet, options, _component_sizes)


@click.command(short_help="Shortest paths by weight.")
@iteration_options
@_schedule
@source_option
@derived(SsspOptions, "direction", help="Which way to follow directed edges.")
def sssp(output: str | None, picture: str | None, quiet: bool, **options: Given) -> None:
    """Find shortest paths by weight: distance and predecessor of every vertex.

    \b
    rapids-trav sssp roads.csv --weight metres --source 17
    """
    _run("sssp", SsspOptions, output, picture, quiet, options, _distances)


@click.command(short_help="PageRank of every vertex.")
@iteration_options
@derived(PagerankOptions, "asynchronous", help="Use new ranks at once.")
@derived(PagerankOptions, "alpha", help="Damping, between 0 and 1.")
@derived(PagerankOptions, "tol", help="End below.")
@derived(PagerankOptions, "max_iter", help="Iterations.")
def pagerank(output: str | None, picture: str | None, quiet: bool, **options: Given) -> None:
    """Compute the PageRank of every vertex.

    \b
    rapids-trav pagerank twitter-ego --output ranks.parquet
    """
    _run("pagerank", PagerankOptions, output, picture, quiet, options, _top)


def _run(
    name: str,
    kind: type[ComponentsOptions | SsspOptions | PagerankOptions],
    output: str | None,
    picture: str | None,
    quiet: bool,
    options: dict[str, Given],
    summary: Callable[[pd.DataFrame], list[str]],
) -> None:
    """Run the program, with progress in streamed pages, then show and write the result."""
    check_files(options["edges"], output, picture)
    asked = taken(kind, options)
    shown = asked["trace"]
    asked["trace"] = shown or picture is not None
    with wrong_option():
        kind(**asked)
    source = options.pop("source", None)
    opened = open_graph(**options)
    arguments = [] if source is None else [opened.ids(source, "--source")]
    start = time.perf_counter()
    with PageProgress(RUNNING, console(stderr=True)) as pages, told_to(Told(pages.tell, pages.on_page)):
        answer = getattr(opened.graph, name)(*arguments, **asked)
    took = time.perf_counter() - start
    result, trace = answer if asked["trace"] else (answer, None)
    if not quiet:
        _show(output, opened, took, pages, summary(to_pandas(result)), trace if shown else None)
    if picture is not None:
        from rapids_trav import plot

        plot.save(plot.run(trace, title=f"{name} of {opened.name}"), picture)
    write(result, output)


def _show(
    output: str | None, opened: OpenGraph, took: float, pages: PageProgress, lines: list[str], trace: Frame
) -> None:
    screen = screen_beside(output)
    head(screen, opened, took)
    if pages.pages:
        screen.print(f"streamed {count(pages.pages, 'page')}, {readable(pages.bytes)}")
    for line in lines:
        screen.print(line, soft_wrap=True)
    if trace is not None:
        rows = to_pandas(trace)
        may_be_idle = ("pages", "bytes", "overlap", "residual", "in_place", "reloads", "evictions")
        screen.print(trace_tables(without_idle(rows, may_be_idle), screen))


def _component_sizes(result: pd.DataFrame) -> list[str]:
    sizes = names(result, "component").value_counts()
    lines = [f"{name}: {count(size, 'vertex', 'vertices')}" for name, size in sizes.head(SHOWN).items()]
    return [count(len(sizes), "component"), *lines]


def _distances(result: pd.DataFrame) -> list[str]:
    distance = result["distance"]
    reached = int(distance.notna().sum())
    farthest = f", the farthest at {distance.max():g}" if reached else ""
    return [f"{reached:,} of {count(len(result), 'vertex', 'vertices')} reached{farthest}"]


def _top(result: pd.DataFrame) -> list[str]:
    rows = result.nlargest(SHOWN, "pagerank")
    return [f"{name}: {rank:.3g}" for name, rank in zip(names(rows, "vertex"), rows["pagerank"], strict=True)]
