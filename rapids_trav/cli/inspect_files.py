"""The command `rapids-trav inspect`: tells how files of edges are read, and what they hold."""

from __future__ import annotations

import json

import click
from rich.table import Table

from rapids_trav.cli.checks import text_options
from rapids_trav.cli.edges import edge_paths, file_options
from rapids_trav.cli.options import Given
from rapids_trav.cli.report import console, progress
from rapids_trav.io.inspection import EdgeFileReport, inspect


@click.command("inspect", short_help="How a file of edges is read.")
@file_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def inspect_files(
    edges: tuple[str, ...],
    src: tuple[str, ...],
    dst: tuple[str, ...],
    weight: str | None,
    format_: str,
    as_json: bool,
    **given: Given,
) -> None:
    """Tell how EDGES are read and what they hold: dialect, columns, ends, weights, counts and degrees.

    \b
    rapids-trav inspect edges.csv
    """
    text = text_options(given)
    paths = edge_paths(edges)
    with progress("Reading the edges"):
        report = inspect(paths, format_, text, list(src) or None, list(dst) or None, weight)
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
