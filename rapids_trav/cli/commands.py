"""The commands together."""

from __future__ import annotations

import click

from .. import __version__
from .doctor import doctor
from .graph500 import graph500
from .programs import components, pagerank, sssp
from .questions import bfs, khop, paths
from .save import save


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def app() -> None:
    """Graph traversal over edge lists in files, on the CPU or on an NVIDIA GPU.

    EDGES is a Parquet file or folder, a CSV or TSV file, SNAP text or a Matrix Market file, plain or
    compressed (.gz, .bz2, .zst, .lz4); - for the standard input, with --format; a folder that "save" wrote;
    or a graph that comes with the package: facebook, twitter-ego or citations-hepph.

    Vertices are what the edges name: an empty row and column of a matrix are none.
    """


for command in (bfs, paths, khop, components, sssp, pagerank, save, graph500, doctor):
    app.add_command(command)
