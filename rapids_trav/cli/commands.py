"""The group of all commands."""

from __future__ import annotations

import click

from rapids_trav import __version__
from rapids_trav.cli import doctor, graph500, inspect_files, programs, questions, save


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


for module in (questions, programs, save, inspect_files, graph500, doctor):
    for found in vars(module).values():
        if isinstance(found, click.Command):
            app.add_command(found)
