"""The group of all commands, and those that ask no question: `save`, `inspect` and `doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rapids_trav import __version__
from rapids_trav.cli import graph500, questions
from rapids_trav.cli.checks import wrong_option
from rapids_trav.cli.edges import edge_options, edge_paths, file_options, open_graph
from rapids_trav.cli.options import Given
from rapids_trav.cli.report import console, count, progress, seconds, steps
from rapids_trav.doctor import Examination, examine
from rapids_trav.io.dialect import FileOptions
from rapids_trav.io.inspection import EdgeFileReport, inspect
from rapids_trav.utilities.locations import reachable
from rapids_trav.utilities.sizes import readable
from rapids_trav.warming import warm


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def app() -> None:
    """Graph traversal over edge lists in files, on the CPU or on an NVIDIA GPU.

    EDGES are files or folders of delimited text, Parquet, Feather, ORC, JSON, Matrix Market, DIMACS, METIS,
    GML, GraphML, GEXF or Pajek, plain or compressed; - for the standard input; a folder that "save" wrote;
    or a graph that comes with the package: facebook, twitter-ego or citations-hepph.  "inspect" tells how a
    file is read.

    Vertices are the ids that occur in edges, and those that a matrix or a format of graphs lists.
    """


for module in (questions, graph500):
    for found in vars(module).values():
        if isinstance(found, click.Command):
            app.add_command(found)


@app.command(short_help="Save a built graph.")
@edge_options
@click.argument("folder")
@click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
def save(folder: str, quiet: bool, **edges: Given) -> None:
    """Build the graph of EDGES and save it as FOLDER, to be given as EDGES from then on.

    \b
    rapids-trav save edges.csv graph
    rapids-trav bfs graph --source 0
    """
    if not folder:
        raise click.UsageError("FOLDER is empty: give the name of a folder.")
    with wrong_option():
        reachable(Path(folder))
    if Path(folder).exists() and not Path(folder).is_dir():
        raise click.UsageError(f"{folder} is a file: name a folder.")
    opened = open_graph(**edges)
    with progress("Saving the graph"):
        opened.graph.save(folder)
    if not quiet:
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        console().print(
            f"{count(opened.graph.n_vertices, 'vertex', 'vertices')} and "
            f"{count(opened.graph.n_edges, 'edge')} saved in {click.format_filename(folder)}, "
            f"{readable(size)}; read and built in {seconds(opened.seconds)}",
            soft_wrap=True,
        )


@app.command("inspect", short_help="How a file of edges is read.")
@file_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def inspect_files(edges: tuple[str, ...], as_json: bool, **given: Given) -> None:
    """Tell how EDGES are read and what they hold: dialect, columns, ends, weights, counts and degrees.

    \b
    rapids-trav inspect edges.csv
    """
    with wrong_option():
        options = FileOptions(**given)
    paths = edge_paths(edges)
    with progress("Reading the edges"):
        report = inspect(paths, options)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        table = Table("", "", show_header=False)
        for name, value in _lines(report):
            table.add_row(name, value)
        console().print(table)


def _lines(report: EdgeFileReport) -> list[tuple[str, str]]:
    """Return the parts of the report with their names, as they are printed."""
    found = {name: value for name, value in report.as_dict().items() if value not in (None, [], {})}
    lines = []
    for name, value in found.items():
        inner = value.items() if isinstance(value, dict) and name in ("text", "degrees") else [(name, value)]
        for key, part in inner:
            label = f"{key} degree" if name == "degrees" else key.replace("_", " ")
            lines.append((label, _written(part)))
    return lines


def _written(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} ({part})" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    names = {"\t": "tab", " ": "blanks", ",": "comma", ";": "semicolon", "": "none"}
    return names.get(str(value), str(value))


@app.command(short_help="Engines, GPUs and versions.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--warm", "warmed", is_flag=True, help="Compile everything now, which first questions would wait for."
)
def doctor(as_json: bool, warmed: bool) -> int:
    """Tell which engines, GPUs and versions there are, and what is missing.

    Exits with 1 if an engine that has all its parts does not work.

    \b
    rapids-trav doctor --warm    # once for an installation, in the build of an image for example
    """
    with progress("Trying the engines"):
        report = examine()
    compiled = []
    for trial in report.trials if warmed else ():
        if trial.works:
            with steps() as notify:
                compiled.append(warm(trial.engine, notify))
    if as_json:
        more = {"warmed": [asdict(done) for done in compiled]} if warmed else {}
        click.echo(json.dumps(report.as_dict() | more, indent=2))
    else:
        _print_examination(report, console())
        for done in compiled:
            console().print(str(done), soft_wrap=True)
    return 0 if report.healthy else 1


def _print_examination(report: Examination, screen: Console) -> None:
    screen.print(
        f"rapids-trav {report.version}, Python {report.python}, {report.platform}, {report.cores} cores"
    )
    engines = Table("engine", "state", "first answer after", title="engines", title_justify="left")
    tried = {trial.engine: trial for trial in report.trials}
    for name in ("cpu", "cuda"):
        trial = tried.get(name)
        if trial is None:
            engines.add_row(name, "not available", "")
        else:
            state = "works" if trial.works else f"fails: {trial.message}"
            engines.add_row(name, state, seconds(trial.seconds))
    screen.print(engines)
    if report.driver.gpus:
        gpus = Table(
            "GPU", "memory", "compute capability", title=f"CUDA {report.driver.cuda}", title_justify="left"
        )
        for gpu in report.driver.gpus:
            gpus.add_row(gpu.name, f"{gpu.memory_bytes / 1e9:.0f} GB", gpu.compute_capability)
        screen.print(gpus)
    packages = Table("package", "version", title="packages", title_justify="left")
    for name, version in report.packages.items():
        packages.add_row(name, version or "-")
    screen.print(packages)
    for sentence in report.advice:
        screen.print(sentence, soft_wrap=True)
