"""The statistics of the Graph500 specification, section "Output", under its names.

Quartiles are those of the reference code in C: each is the mean of two order statistics, mirrored about the
middle.  Rates are averaged harmonically; the deviation of that mean follows N. Norris, "The Standard Errors
of the Geometric and Harmonic Means and Their Application to Index Numbers", Annals of Mathematical Statistics
11(4), 1940.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


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


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the arithmetic mean, and the standard deviation with n - 1 (NaN for a single value)."""
    x = np.asarray(values, dtype=float)
    return float(x.mean()), float(x.std(ddof=1)) if len(x) > 1 else math.nan


def harmonic_mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the harmonic mean `H` of positive values, and ``H**2 * sqrt(sum((1/x - 1/H)**2)) / (n - 1)``."""
    inverse = 1 / np.asarray(values, dtype=float)
    mean = 1 / float(inverse.mean())
    if len(inverse) == 1:
        return mean, math.nan
    return mean, mean**2 * math.sqrt(((inverse - 1 / mean) ** 2).sum()) / (len(inverse) - 1)


def of_counts(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the keys `bfs_min_<name>` to `bfs_max_<name>`, `bfs_mean_<name>` and `bfs_stddev_<name>`."""
    mean, deviation = mean_and_deviation(values)
    keys = {f"bfs_{key}_{name}": value for key, value in quartiles(values).items()}
    return keys | {f"bfs_mean_{name}": mean, f"bfs_stddev_{name}": deviation}


def of_rates(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the quartiles of a rate, with `bfs_harmonic_mean_<name>` and `bfs_harmonic_stddev_<name>`."""
    mean, deviation = harmonic_mean_and_deviation(values)
    keys = {f"bfs_{key}_{name}": value for key, value in quartiles(values).items()}
    return keys | {f"bfs_harmonic_mean_{name}": mean, f"bfs_harmonic_stddev_{name}": deviation}
