"""The command `rapids-trav save`: saves a graph as a folder, which the other commands open at once."""

from __future__ import annotations

from pathlib import Path

import click

from rapids_trav.cli.checks import wrong_option
from rapids_trav.cli.edges import edge_options, open_graph
from rapids_trav.cli.options import Given
from rapids_trav.cli.report import console, count, progress, seconds
from rapids_trav.utilities.locations import reachable
from rapids_trav.utilities.sizes import readable


@click.command(short_help="Save a built graph.")
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
