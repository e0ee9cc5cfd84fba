"""The command `rapids-trav doctor`: prints the report of `rapids_trav.doctor` as tables."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table

from rapids_trav.cli.report import console, progress, seconds, steps
from rapids_trav.doctor import Examination, examine
from rapids_trav.warming import Warmed, warm


@click.command(short_help="Engines, GPUs and versions.")
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
    compiled = [_warm(trial.engine) for trial in report.trials if trial.works] if warmed else []
    if as_json:
        more = {"warmed": [asdict(done) for done in compiled]} if warmed else {}
        click.echo(json.dumps(report.as_dict() | more, indent=2))
    else:
        _print(report, console())
        for done in compiled:
            console().print(str(done), soft_wrap=True)
    return 0 if report.healthy else 1


def _warm(engine: str) -> Warmed:
    with steps() as notify:
        return warm(engine, notify)


def _print(report: Examination, screen: Console) -> None:
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
