"""Rows of results: their statistics, and the file in which they are stored."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rapids_trav.graph500 import report

Row = dict[str, Any]


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
