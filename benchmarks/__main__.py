"""Run a benchmark, or write the tables of the pages from the rows of benchmarks.

    python -m benchmarks gpu             the CUDA engine beside cuGraph, on one GPU or several
    python -m benchmarks cpu             the CPU engine beside other libraries
    python -m benchmarks graph500        the CPU engine beside the reference code of Graph500
    python -m benchmarks workers         graphs on Dask workers beside cuGraph's
    python -m benchmarks networkx        the backend of NetworkX beside it, function by function
    python -m benchmarks counts          what is left out of the published systems would save
    python -m benchmarks scale           bytes that ranks of large grids would send, by count
    python -m benchmarks pages           tables of README.md and docs from benchmarks/rows; --check compares

Each has its own --help.  Run them from the root of the repository.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

MODULES = {
    "gpu": "benchmarks.gpu.main",
    "cpu": "benchmarks.cpu.main",
    "graph500": "benchmarks.cpu.graph500",
    "workers": "benchmarks.workers.main",
    "networkx": "benchmarks.backend",
    "scale": "benchmarks.scale.model",
    "counts": "benchmarks.counts",
    "pages": "benchmarks.pages.main",
}


def main() -> int | None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in MODULES:
        print(__doc__)
        return int(name not in ("", "--help"))
    run = import_module(MODULES[name]).main
    sys.argv[:2] = [f"python -m benchmarks {name}"]
    return run(prog_name=sys.argv[0]) if isinstance(run, click.Command) else run()


if __name__ == "__main__":  # workers are processes that import this file
    sys.exit(main())
