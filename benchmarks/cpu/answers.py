"""Comparison of the answers of two libraries, converted to one form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rapids_trav.engines.searches import MOST_LEVELS

ALPHA, TOL, MAX_ITER = 0.85, 1e-5, 100  # of PageRank; TOL bounds the sum of absolute changes in an iteration
RANKS_DIFFER = 10 * TOL * ALPHA / (1 - ALPHA)  # most, in all, between two that stopped there


def unreached(distances: Any) -> np.ndarray:
    """Return distances as int64, with -1 where they are negative or exceed this package's largest."""
    found = np.asarray(distances, np.float64)
    return np.where((found < 0) | (found > MOST_LEVELS), -1, found).astype(np.int64)


def of_frame(frame: pd.DataFrame, missing: float = -1) -> np.ndarray:
    """Return the distances of an answer of this package, with `missing` where there is none."""
    return frame["distance"].to_numpy(dtype=np.float64, na_value=missing)


def same_parts(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether two labellings have the same components, regardless of the labels."""
    first, second = (pd.factorize(np.asarray(labels))[0] for labels in (ours, theirs))
    return len(first) == len(second) and np.array_equal(first, second)


def same_ranks(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether ranks, each scaled to sum to 1, differ little in total.

    They are scaled because some libraries lose the rank of vertices without edges.
    """
    ours, theirs = (np.asarray(ranks, np.float64) for ranks in (ours, theirs))
    return len(ours) == len(theirs) and bool(
        np.abs(ours / ours.sum() - theirs / theirs.sum()).sum() < RANKS_DIFFER
    )


def counts(distances: np.ndarray) -> np.ndarray:
    """Return the number of vertices at each distance."""
    return np.bincount(distances[distances >= 0].astype(np.int64))


def same_counts(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether our distances have the given number of vertices at each distance."""
    return bool(np.array_equal(counts(ours), theirs))


def same_reached(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether our distances reach exactly the vertices that the others have reached."""
    return bool(np.array_equal(ours >= 0, theirs))
