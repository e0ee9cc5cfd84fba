"""The group of all commands."""

from __future__ import annotations

import click

from rapids_trav import __version__
from rapids_trav.cli.doctor import doctor
from rapids_trav.cli.graph500 import graph500
from rapids_trav.cli.inspect_files import inspect_files
from rapids_trav.cli.programs import components, pagerank, sssp
from rapids_trav.cli.questions import bfs, khop, paths
from rapids_trav.cli.save import save


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


for command in (bfs, paths, khop, components, sssp, pagerank, save, inspect_files, graph500, doctor):
    app.add_command(command)
