"""B14: this package's CPU engine beside the reference code of Graph500, on the same CPU.

    python ci/bench_graph500.py ../graph500 --scale 16 --scale 18 --json rows.jsonl

The folder is that of the reference code, which is cloned and built there if necessary;
`bench/cpu/graph500.py` says what is compared.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from bench import provenance, tables
from bench.cpu import graph500
from bench.rows import Recorder


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--scale", "scales", type=int, multiple=True, default=(16, 18), show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Append the rows to this file.")
def main(folder: Path, scales: tuple[int, ...], path: Path | None) -> None:
    """Build the reference code in FOLDER, measure both, and print the table."""
    graph500.build(folder)
    facts = provenance.of_run() | provenance.of_cpu()
    recorder = Recorder(path, lambda line: click.echo(line, err=True), facts)
    for row in graph500.compare(folder, scales):
        recorder.add(row)
    tables.show(recorder.rows, {"graph500": {"graph500": graph500.COLUMNS}})


if __name__ == "__main__":
    sys.exit(main())
