"""Results of a benchmark run, under the specification's output keys and as a frame of its searches.

The statistics of the Graph500 specification, section "Output", under its names.

Quartiles are those of the reference code in C: each is the mean of two order statistics, mirrored about the
middle.  Rates are averaged harmonically; the deviation of that mean follows N. Norris, "The Standard Errors
of the Geometric and Harmonic Means and Their Application to Index Numbers", Annals of Mathematical Statistics
11(4), 1940.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from rapids_trav.engines.searches import Verdict


def quartiles(values: Sequence[float]) -> dict[str, float]:
    """Return the minimum, first quartile, median, third quartile and maximum of one value or more."""
    x = np.sort(np.asarray(values, dtype=float))
    last = len(x) - 1

    def between(i: int, j: int) -> float:
        return float(x[i] + x[j]) / 2

    return {
        "min": float(x[0]),
        "firstquartile": between(last // 4, len(x) // 4),
        "median": between(last // 2, len(x) // 2),
        "thirdquartile": between(last - last // 4, last - len(x) // 4),
        "max": float(x[-1]),
    }


def harmonic_mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the harmonic mean `H` of positive values, and ``H**2 * sqrt(sum((1/x - 1/H)**2)) / (n - 1)``."""
    inverse = 1 / np.asarray(values, dtype=float)
    mean = 1 / float(inverse.mean())
    if len(inverse) == 1:
        return mean, math.nan
    return mean, mean**2 * math.sqrt(((inverse - 1 / mean) ** 2).sum()) / (len(inverse) - 1)


def of_counts(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the keys `bfs_min_<name>` to `bfs_max_<name>`, `bfs_mean_<name>` and `bfs_stddev_<name>`."""
    x = pd.Series(values, dtype=float)  # its deviation, with n - 1, is NaN for a single value
    keys = {f"bfs_{key}_{name}": value for key, value in quartiles(values).items()}
    return keys | {f"bfs_mean_{name}": float(x.mean()), f"bfs_stddev_{name}": float(x.std())}


def of_rates(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the quartiles of a rate, with `bfs_harmonic_mean_<name>` and `bfs_harmonic_stddev_<name>`."""
    mean, deviation = harmonic_mean_and_deviation(values)
    keys = {f"bfs_{key}_{name}": value for key, value in quartiles(values).items()}
    return keys | {f"bfs_harmonic_mean_{name}": mean, f"bfs_harmonic_stddev_{name}": deviation}


Entry = float | str | None  # a value of a report


def row_of(
    root: int,
    seconds: float,
    conversion: float,
    device_seconds: float | None,
    *,
    edges: int,
    vertices: int,
    depth: int,
    verdict: Verdict | None,
    checking: float,
) -> dict[str, object]:
    """Return the row of a search in `Report.searches`."""
    return {
        "root": root,
        "seconds": seconds,
        "device_seconds": device_seconds,
        "output_seconds": seconds + conversion,
        "edges": edges,
        "teps": edges / seconds,
        "vertices": vertices,
        "depth": depth,
        "validation_seconds": checking,
        "valid": None if verdict is None else verdict.valid,
        "faults": None if verdict is None else str(verdict),
    }


@dataclass(frozen=True)
class Report:
    """A run of the Graph500 benchmark.

    Attributes
    ----------
    scale, edge_factor, seed : int
    engine : {"cpu", "cuda"}
    device : str
        Device on which it ran.
    n_vertices : int
        Vertices discovered in the tuples; the specification's label space has ``2**scale``.
    n_edges : int
        Number of tuples.
    generation_seconds : float
        Time to generate the tuples, which the specification leaves untimed.
    construction_seconds : float
        Kernel 1: from the tuples to the graph that is searched.
    searches : pandas.DataFrame
        A row for each root: `root`; `seconds` of kernel 2 (wall clock, parents and levels included);
        `device_seconds` between CUDA events around it (null on the CPU), or on several GPUs by the clock of
        the slowest, from where all have begun to its last kernel's end; `output_seconds`, kernel 2 with the
        conversion of the parents to the specification's array over all labels; `edges`, the tuples inside
        the component (duplicates and self-loops too, each once); `teps`, edges over seconds; `vertices`
        reached; `depth`, the greatest level; `validation_seconds`, `valid` and `faults` (null without
        validation).
    streamed_seconds : float, optional
        Time of all searches once more, queued so that each follows the last without waiting for the host;
        None where searches are not queued.
    """

    scale: int
    edge_factor: int
    seed: int
    engine: str
    device: str
    n_vertices: int
    n_edges: int
    generation_seconds: float
    construction_seconds: float
    searches: pd.DataFrame
    streamed_seconds: float | None = None

    @property
    def valid(self) -> bool | None:
        """Whether every search is valid; None if they were not validated."""
        valid = self.searches["valid"]
        return None if valid.isna().any() else bool(valid.all())

    def output(self) -> dict[str, float]:
        """Return the specification's output keys in order; times in seconds, TEPS in edges per second."""
        return {
            "SCALE": self.scale,
            "edgefactor": self.edge_factor,
            "NBFS": len(self.searches),
            "construction_time": self.construction_seconds,
            **self._statistics,
        }

    def more_output(self) -> dict[str, Entry]:
        """Return the results beyond the specification, which allows additional keys.

        `bfs_*_output_time` and `bfs_*_output_TEPS` are the statistics of kernel 2 with the conversion to the
        specification's parent array inside the timer, `bfs_*_device_time` those between CUDA events.
        `bfs_streamed_time` is the time of all searches, repeated with one queued behind another and not
        validated again, and `bfs_streamed_TEPS` the tuples of all of them over that time.
        """
        searches = self.searches
        keys: dict[str, Entry] = {
            "engine": self.engine,
            "device": self.device,
            "seed": self.seed,
            "vertices": self.n_vertices,
            "edges": self.n_edges,
            "generation_time": self.generation_seconds,
            "validation": {None: "skipped", True: "passed", False: "failed"}[self.valid],
        }
        if self.valid is not None:
            keys["validation_time"] = float(searches["validation_seconds"].sum())
        keys |= of_counts("output_time", searches["output_seconds"])
        keys |= of_rates("output_TEPS", searches["edges"] / searches["output_seconds"])
        if searches["device_seconds"].notna().all():
            keys |= of_counts("device_time", searches["device_seconds"])
        if self.streamed_seconds is not None:
            keys["bfs_streamed_time"] = self.streamed_seconds
            keys["bfs_streamed_TEPS"] = float(searches["edges"].sum()) / self.streamed_seconds
        return keys

    @cached_property
    def _statistics(self) -> dict[str, float]:
        searches = self.searches
        return {
            **of_counts("time", searches["seconds"]),
            **of_counts("nedge", searches["edges"]),
            **of_rates("TEPS", searches["teps"]),
        }

    def as_dict(self) -> dict[str, object]:
        """Return all keys, and the searches as a list of rows, for JSON; NaN becomes None."""
        rows = [
            {name: _plain(value) for name, value in row.items()} for row in self.searches.to_dict("records")
        ]
        keys = {name: _plain(value) for name, value in {**self.output(), **self.more_output()}.items()}
        return {**keys, "searches": rows}

    def __str__(self) -> str:
        """Return lines of ``key: value``, those of the specification first."""
        keys = {**self.output(), **self.more_output()}
        return "\n".join(f"{name}: {_text(value)}" for name, value in keys.items())


def _plain(value: object) -> object:
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


def _text(value: Entry) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
