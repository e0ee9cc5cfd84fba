"""What all benchmarks share: rows and their statistics, where they are kept, and tables of them.

A benchmark on GPUs is a module with `GRAPHS` (the default ones), `TABLES` (their columns) and
`measure(lab, name)`, which yields the table and the row of each result on one graph; `run` adds what
identifies them.  Others yield whole rows.  A `Recorder` shows each row as it comes, adds the run, the sources
and the machine to it, and appends it to a file.
"""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from rapids_trav.graph500 import report

Row = dict[str, Any]
TEXT = ("graph", "name", "order", "direction", "claim", "note")
# Errors by which a library reports that a graph is too large for it or for the memory.
REFUSALS = (MemoryError, RuntimeError, ValueError)


def run(name: str, module: Any, lab: Any, names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a benchmark on these graphs."""
    for graph in names:
        for table, row in module.measure(lab, graph):
            yield {"benchmark": name, "table": table, "graph": graph, "seed": lab.seed, **row}


def attempted(row: Row, measured: Callable[[], Row]) -> Row:
    """Return the row with what was measured, or with a note that the library refused."""
    try:
        return {**row, **measured()}
    except REFUSALS as error:
        return {**row, "note": f"not measured, {reason(error)}"}


def reason(error: BaseException) -> str:
    """Return the first line of an exception's message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__


@contextmanager
def collector_off() -> Iterator[None]:
    """Disable Python's garbage collector in the block, so that it does not affect times."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# ---- statistics


def short(value: float) -> float:
    """Round to five significant digits."""
    return float(f"{value:.5g}")


def of_times(ms: Sequence[float]) -> Row:
    """Return statistics of the milliseconds of several roots."""
    q1, median, q3 = np.percentile(ms, [25, 50, 75])
    figures = {
        "median_ms": median, "q1_ms": q1, "q3_ms": q3, "min_ms": min(ms), "max_ms": max(ms),
        "mean_ms": np.mean(ms), "harmonic_mean_ms": len(ms) / sum(1 / t for t in ms),
        "worst_over_median": max(ms) / median,
    }  # fmt: skip
    return {"roots": len(ms), **{name: short(value) for name, value in figures.items()}}


def of_rates(ms: Sequence[float], edges: Sequence[int]) -> Row:
    """Return statistics of 10^9 traversed edges a second, as in Graph500: the mean is the harmonic one."""
    gteps = [m / t / 1e6 for t, m in zip(ms, edges, strict=True)]
    mean, deviation = report.harmonic_mean_and_deviation(gteps)
    figures = {"harmonic_mean": mean, "harmonic_stddev": deviation, **report.quartiles(gteps)}
    return {f"gteps_{name}": short(value) for name, value in figures.items() if not math.isnan(value)}


def ratio(over: float | None, under: float | None) -> float | None:
    """Return the quotient, or None if one of them is unknown."""
    return None if over is None or not under else short(over / under)


def verdict(checked: int, faults: Sequence[str]) -> Row:
    """Return a row's columns about checks: the number of searches, of wrong ones, and the first fault."""
    row: Row = {"checked": checked, "wrong": len(faults)}
    return row | {"note": faults[0]} if faults else row


# ---- where rows go


class Recorder:
    """Keeps the rows, and appends each to a file immediately, so that an interrupted run keeps its rows.

    Every row gets `facts`, which identify the run, the sources and the machine (see `provenance`).
    """

    def __init__(
        self, path: Path | None = None, tell: Callable[[str], None] = print, facts: Row | None = None
    ) -> None:
        self.rows: list[Row] = []
        self._path = path
        self._tell = tell
        self._facts = facts or {}

    def add(self, row: Row) -> None:
        row = row | self._facts
        self.rows.append(row)
        self._tell(describe(row))
        if self._path:
            with self._path.open("a") as file:
                file.write(json.dumps(row) + "\n")


def describe(row: Row) -> str:
    """Return one line that shows the progress of a run."""
    figure = f"{row['median_ms']:.4g} ms" if "median_ms" in row else row.get("note", "")
    parts = (row["benchmark"], row.get("graph"), row.get("name"), figure)
    return "  ".join(str(part) for part in parts if part)


def read(path: Path) -> list[Row]:
    """Return the rows in a file, none if it is not there."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


# ---- tables, on the terminal and in Markdown


def make(title: str, columns: Sequence[str], rows: Iterable[Row]) -> Table:
    """Make a table of those columns; columns that no row has are omitted."""
    rows = list(rows)
    columns = [column for column in columns if any(row.get(column) is not None for row in rows)]
    table = Table(title=title)
    for column in columns:
        justify, fixed = ("left" if column in TEXT else "right"), column in TEXT and column != "note"
        table.add_column(column.replace("_", " "), justify=justify, no_wrap=fixed, overflow="fold")
    for row in rows:
        table.add_row(*(cell(row.get(column)) for column in columns))
    return table


def cell(value: Any) -> str:
    """Format integers with separators, other numbers with four digits, and None as nothing."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    return str(value)


def show(
    rows: Sequence[Row], columns: Mapping[str, Mapping[str, Sequence[str]]], console: Console | None = None
) -> None:
    """Print every table that has rows; `columns` are those of each benchmark's tables."""
    console = console or Console(width=170)
    for benchmark, tables in columns.items():
        for name, shown in tables.items():
            chosen = [row for row in rows if (row["benchmark"], row["table"]) == (benchmark, name)]
            if chosen:
                title = benchmark if name == benchmark else f"{benchmark}: {name}"
                console.print(make(title, shown, chosen))


def number(value: float | None) -> str:
    """Format a number with three digits and separators; a dash means not measured."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}" if value < 1000 else f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if value >= 0.001 else f"{value:.2g}"


def markdown(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown, whose first column is text."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return ["| " + " | ".join(line) + " |" for line in lines]
