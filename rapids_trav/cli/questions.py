"""The commands that ask a graph: `bfs`, `paths`, `khop`, `components`, `sssp` and `pagerank`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click
import pandas as pd
from rich.console import Console

from rapids_trav.algorithms.bfs import Answer
from rapids_trav.algorithms.options import (
    PAGE,
    ComponentsOptions,
    IterationOptions,
    PagerankOptions,
    PathOptions,
    SearchOptions,
    SsspOptions,
)
from rapids_trav.algorithms.search_tree import MOST, SearchTree
from rapids_trav.cli.checks import check_apart, check_files, wrong_option
from rapids_trav.cli.edges import OpenGraph, devices_option, edge_options, open_graph
from rapids_trav.cli.ids import SEVERAL
from rapids_trav.cli.options import Given, applied, derived, taken, tuning_of
from rapids_trav.cli.report import console, count, progress, seconds
from rapids_trav.cli.tables import level_counts, level_table, trace_tables, tree_text, without_idle
from rapids_trav.frames.columns import Frame
from rapids_trav.io import write_frame
from rapids_trav.io.write import printable, to_pandas
from rapids_trav.tuning import SearchTuning
from rapids_trav.utilities.progress import PageProgress, Told, told_to
from rapids_trav.utilities.sizes import readable

VARIANTS = ("auto", "push", "pull", "edge", "frontier", "private", "direction", "fused")
CONDITION = "a boolean column, or a condition such as \"km > 3 and kind == 'road'\"."
SHOWN = 10  # components or vertices listed in a summary
MAY_BE_IDLE = ("pages", "bytes", "overlap", "residual", "in_place", "reloads", "evictions")  # of a trace
SEARCHING = "Searching (the first search of a new installation compiles)"
RUNNING = "Running (the first run of a new installation compiles)"


class Every(click.IntRange):
    """A number of iterations, or "page"."""

    name = "integer or page"

    def convert(self, value: Given, param: click.Parameter | None, ctx: click.Context | None) -> Given:
        return value if value == PAGE else super().convert(value, param, ctx)


_source = click.option(
    "--source", "-s", multiple=True, required=True, help=f"Id to start from; may be repeated.  {SEVERAL}"
)
_direction = derived(SearchOptions, "direction", help="Which way to follow directed edges.")
_where = derived(SearchOptions, "where", help=f"Follow only edges where this is true: {CONDITION}")
_depth_limit = derived(
    SearchOptions, "depth_limit", help="End the search at this distance.", type=click.IntRange(0)
)
_output = click.option(
    "--output", "-o", help="Write the result to .parquet, .csv or .tsv; - is CSV to the output."
)
_deterministic = derived(SearchOptions, "deterministic", help="Return the smallest valid predecessor.")
_scheduler = click.option(
    "--scheduler",
    help="Address of a Dask scheduler, such as tcp://host:8786, whose workers read EDGES, which all must "
    "reach, and hold the graph.",
)
_quiet = click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
_where_used = derived(IterationOptions, "where", help=f"Use only edges where this is true: {CONDITION}")
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
# Of all programs, and of those whose iterations may end and go on.
_run_options = applied(edge_options, _where_used, _trace, _output, _plot, _quiet)
_iteration_options = applied(_run_options, _checkpoint, _every, _resume)


@click.command(short_help="Distances and predecessors.")
@edge_options
@_source
@derived(SearchOptions, "mode")
@_direction
@_depth_limit
@click.option(
    "--target", "-t", multiple=True, help="End the search when all targets are found; given like --source."
)
@derived(SearchOptions, "variant", type=click.Choice(VARIANTS))
@derived(SearchTuning, "policy", help="When --variant direction turns, and only with it.  [default: gap]")
@_where
@_deterministic
@derived(SearchOptions, "predecessors", help="Compute only distances, which is faster.")
@derived(SearchOptions, "reached_only", help="Leave out vertices that were not reached.")
@derived(SearchOptions, "trace", help="Show what each level did, in a second search.")
@_output
@click.option("--plot", "picture", help="Draw vertices by distance (and the trace) to .png, .svg, .pdf, ...")
@devices_option
@_scheduler
@_quiet
def bfs(
    source: tuple[str, ...],
    target: tuple[str, ...],
    output: str | None,
    picture: str | None,
    quiet: bool,
    **given: Given,
) -> None:
    """Find the distance and predecessor of every vertex, and count the vertices of each level.

    \b
    rapids-trav bfs facebook --source 0
    rapids-trav bfs edges.csv --src from --dst to -s alice -o distances.parquet --plot levels.png
    """
    check_files(given["edges"], output, picture)
    with wrong_option():
        options = taken(SearchOptions, given) | {"tuning": tuning_of(SearchTuning, given)}
        SearchOptions(**options)
    opened = open_graph(variant=options["variant"], **given)
    options["trace"] = trace = options["trace"] and not (quiet and picture is None)  # else it is not shown
    options["targets"] = opened.ids(target, "--target") or None
    sources = opened.ids(source, "--source")
    if trace:
        _ask(opened.graph.bfs, sources, **options)  # compiles and loads before levels are timed
    answer, took = _ask(opened.graph.bfs, sources, **options)
    result, rows = (answer.result, to_pandas(answer.trace)) if trace else (answer, None)
    searches = len(source) if options["mode"] == "each" else 1
    levels = level_counts(result, opened.graph.n_vertices * searches)
    shown = picture or not quiet
    has_tree = shown and options["predecessors"] and len(result) <= MOST
    if not quiet:
        screen = _screen_beside(output)
        _head(screen, opened, took)
        screen.print(level_table(levels, screen))
        if has_tree:
            screen.print(tree_text(SearchTree(printable(to_pandas(result))), screen.encoding))
        if rows is not None:
            screen.print(trace_tables(without_idle(rows, ["host_bytes"]), screen))
    if picture:
        from rapids_trav import plot

        title = f"{opened.name} from {', '.join(source[:5])}"
        plot.save(plot.search(levels, rows, result=result if has_tree else None, title=title), picture)
    _write(result, output)


@click.command(short_help="Shortest paths to targets.")
@edge_options
@_source
@click.option(
    "--target", "-t", multiple=True, required=True, help="Id to find a path to, given like --source."
)
@_direction
@_where
@_depth_limit
@_deterministic
@derived(PathOptions, "weighted", help="The path of least weight; --weight implies it.")
@_output
@devices_option
@_scheduler
@_quiet
def paths(
    source: tuple[str, ...], target: tuple[str, ...], output: str | None, quiet: bool, **given: Given
) -> None:
    """Find a shortest path from the nearest source to each target, by steps or by weight.

    \b
    rapids-trav paths facebook --source 0 --target 4038
    rapids-trav paths roads.csv --weight metres --source 17 --target 4
    """
    check_files(given["edges"], output)
    options = taken(PathOptions, given)
    options["weighted"] = options["weighted"] or given["weight"] is not None
    with wrong_option():
        PathOptions(**options)
    opened = open_graph(**given)
    sources, targets = opened.ids(source, "--source"), opened.ids(target, "--target")
    result, took = _ask(opened.graph.paths, sources, targets, **options)
    if not quiet:
        screen = _screen_beside(output)
        _head(screen, opened, took)
        for name, steps in _by_target(to_pandas(result)):
            way = f"{count(len(steps) - 1, 'step')}: {' > '.join(steps)}" if steps else "not reached"
            screen.print(f"{name}: {way}", soft_wrap=True)
    _write(result, output)


@click.command(short_help="Vertices and edges within k steps.")
@edge_options
@click.option(
    "--seed", "-s", multiple=True, required=True, help=f"Id to start from; may be repeated.  {SEVERAL}"
)
@click.option("--k", "-k", type=click.IntRange(0), required=True, help="How many steps to go.")
@_direction
@_where
@click.option("--vertices", help="Write the vertices to .parquet, .csv or .tsv.")
@_output
@devices_option
@_scheduler
@_quiet
def khop(
    seed: tuple[str, ...],
    k: int,
    vertices: str | None,
    output: str | None,
    quiet: bool,
    **given: Given,
) -> None:
    """Find what lies within k steps of the seeds: edges (--output) and vertices (--vertices).

    \b
    rapids-trav khop facebook --seed 0 --k 1 --output neighbourhood.csv
    """
    check_files(given["edges"], output)
    check_files(given["edges"], vertices)
    check_apart(output, vertices, "--vertices")
    options = taken(SearchOptions, given)
    opened = open_graph(**given)
    answer, took = _ask(opened.graph.khop, opened.ids(seed, "--seed"), k, **options)
    if not quiet:
        screen = _screen_beside(output, vertices)
        _head(screen, opened, took)
        found = f"{count(len(answer.vertices), 'vertex', 'vertices')} and {count(len(answer.edges), 'edge')}"
        screen.print(f"{found} within {count(k, 'step')}")
    _write(answer.vertices, vertices)
    _write(answer.edges, output)


@click.command(short_help="Weakly connected components.")
@_run_options
def components(**options: Given) -> None:
    """Find the weakly connected components: for every vertex the smallest id of its component.

    \b
    rapids-trav components facebook
    """
    _run("components", ComponentsOptions, options, _component_sizes)


@click.command(short_help="Shortest paths by weight.")
@_iteration_options
@_schedule
@_source
@derived(SsspOptions, "direction", help="Which way to follow directed edges.")
def sssp(**options: Given) -> None:
    """Find shortest paths by weight: distance and predecessor of every vertex.

    \b
    rapids-trav sssp roads.csv --weight metres --source 17
    """
    _run("sssp", SsspOptions, options, _distances)


@click.command(short_help="PageRank of every vertex.")
@_iteration_options
@derived(PagerankOptions, "asynchronous", help="Use new ranks at once.")
@derived(PagerankOptions, "alpha", help="Damping, between 0 and 1.")
@derived(PagerankOptions, "tol", help="End below.")
@derived(PagerankOptions, "max_iter", help="Iterations.")
def pagerank(**options: Given) -> None:
    """Compute the PageRank of every vertex.

    \b
    rapids-trav pagerank twitter-ego --output ranks.parquet
    """
    _run("pagerank", PagerankOptions, options, _top)


def _ask(question: Callable[..., Answer], *arguments: object, **options: object) -> tuple[Answer, float]:
    start = time.perf_counter()
    with progress(SEARCHING):
        answer = _computed(question(*arguments, **options))
    return answer, time.perf_counter() - start


def _computed(answer: Answer) -> Answer:
    """Return an answer with its frames in this process."""
    if isinstance(answer, tuple):
        return type(answer)(*map(_computed, answer))
    return answer.compute() if hasattr(answer, "compute") else answer


def _screen_beside(*outputs: str | None) -> Console:
    """Return the console of the summary: standard output, unless the result goes there."""
    return console(stderr="-" in outputs)


def _head(screen: Console, opened: OpenGraph, took: float) -> None:
    graph = opened.graph
    kind = "directed" if graph.directed else "undirected"
    screen.print(
        f"{opened.name}: {count(graph.n_vertices, 'vertex', 'vertices')}, "
        f"{count(graph.n_edges, 'edge')}, {kind}; "
        f"{opened.engine} engine, read and built in {seconds(opened.seconds)}, answered in {seconds(took)}"
        + (f"; {count(opened.comments, 'comment')} skipped" if opened.comments else ""),
        soft_wrap=True,
    )


def _write(result: Frame, output: str | None) -> None:
    if output == "-":
        printable(to_pandas(result)).to_csv(sys.stdout, index=False)
    elif output is not None:
        write_frame(result, output)


def _by_target(result: Frame) -> list[tuple[str, list[str]]]:
    """Return each target with the vertices on its path, which are none if it was not reached."""
    target = _names(result, "target")
    vertex = _names(result[result["step"].notna()], "vertex")
    return [
        (name, vertex[vertex.index.isin(rows.index)].tolist())
        for name, rows in result.groupby(target, sort=False)
    ]


def _names(result: Frame, column: str) -> pd.Series:
    """Return ids as text; several columns are joined by commas."""
    columns = [name for name in result.columns if name == column or name.startswith(f"{column}_")]
    result = printable(result[columns])
    return (
        result[columns[0]]
        .astype(str)
        .str.cat([result[column].astype(str) for column in columns[1:]], sep=",")
    )


def _run(
    name: str,
    kind: type[ComponentsOptions | SsspOptions | PagerankOptions],
    given: dict[str, Given],
    summary: Callable[[pd.DataFrame], list[str]],
) -> None:
    """Run the program, with progress in streamed pages, then show and write the result."""
    output, picture, quiet = (given.pop(option) for option in ("output", "picture", "quiet"))
    check_files(given["edges"], output, picture)
    asked = taken(kind, given)
    shown = asked["trace"] and not quiet
    asked["trace"] = shown or picture is not None
    with wrong_option():
        kind(**asked)
    source = given.pop("source", None)
    opened = open_graph(**given)
    arguments = [] if source is None else [opened.ids(source, "--source")]
    start = time.perf_counter()
    with PageProgress(RUNNING, console(stderr=True)) as pages, told_to(Told(pages.tell, pages.on_page)):
        answer = getattr(opened.graph, name)(*arguments, **asked)
    took = time.perf_counter() - start
    result, trace = answer if asked["trace"] else (answer, None)
    if not quiet:
        screen = _screen_beside(output)
        _head(screen, opened, took)
        if pages.pages:
            screen.print(f"streamed {count(pages.pages, 'page')}, {readable(pages.bytes)}")
        for line in summary(to_pandas(result)):
            screen.print(line, soft_wrap=True)
    if shown:
        screen.print(trace_tables(without_idle(to_pandas(trace), MAY_BE_IDLE), screen))
    if picture is not None:
        from rapids_trav import plot

        plot.save(plot.run(trace, title=f"{name} of {opened.name}"), picture)
    _write(result, output)


def _component_sizes(result: pd.DataFrame) -> list[str]:
    sizes = _names(result, "component").value_counts()
    lines = [f"{name}: {count(size, 'vertex', 'vertices')}" for name, size in sizes.head(SHOWN).items()]
    return [count(len(sizes), "component"), *lines]


def _distances(result: pd.DataFrame) -> list[str]:
    distance = result["distance"]
    reached = int(distance.notna().sum())
    farthest = f", the farthest at {distance.max():g}" if reached else ""
    return [f"{reached:,} of {count(len(result), 'vertex', 'vertices')} reached{farthest}"]


def _top(result: pd.DataFrame) -> list[str]:
    rows = result.nlargest(SHOWN, "pagerank")
    return [
        f"{name}: {rank:.3g}" for name, rank in zip(_names(rows, "vertex"), rows["pagerank"], strict=True)
    ]
