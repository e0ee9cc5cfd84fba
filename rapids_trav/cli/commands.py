"""The group of all commands."""

from __future__ import annotations

import click

from rapids_trav import __version__
from rapids_trav.cli.doctor import doctor
from rapids_trav.cli.graph500 import graph500
from rapids_trav.cli.programs import components, pagerank, sssp
from rapids_trav.cli.questions import bfs, khop, paths
from rapids_trav.cli.save import save


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def app() -> None:
    """Graph traversal over edge lists in files, on the CPU or on an NVIDIA GPU.

    EDGES is a Parquet file or folder, a CSV or TSV file, SNAP text or a Matrix Market file, plain or
    compressed (.gz, .bz2, .zst, .lz4); - for the standard input, with --format; a folder that "save" wrote;
    or a graph that comes with the package: facebook, twitter-ego or citations-hepph.

    Vertices are the ids that occur in edges: an empty row and column of a matrix do not make one.
    """


for command in (bfs, paths, khop, components, sssp, pagerank, save, graph500, doctor):
    app.add_command(command)
