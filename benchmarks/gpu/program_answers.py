"""Comparison of two libraries' answers of a vertex program."""

from __future__ import annotations

from typing import Any

import numpy as np


def ordered(frame: Any, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices in ascending order, and the numbers of a column, infinite where null."""
    frame = frame.sort_values("vertex")
    numbers = frame[column]
    numbers = numbers.fillna(np.inf) if numbers.dtype.kind == "f" else numbers
    return frame["vertex"].to_numpy(), numbers.to_numpy()


def same_ranks(ours: Any, theirs: Any, bound: float) -> bool:
    """Return whether the sum of the absolute differences is below the bound."""
    (vertex, rank), (other, their) = ordered(ours, "pagerank"), ordered(theirs, "pagerank")
    return np.array_equal(vertex, other) and float(np.abs(rank.astype(np.float64) - their).sum()) < bound


def same_components(ours: Any, theirs: Any) -> bool:
    """Return whether the components are the same sets of vertices, regardless of their labels."""
    (vertex, component), (other, label) = ordered(ours, "component"), ordered(theirs, "labels")
    if not np.array_equal(vertex, other):
        return False
    (names, place), (labels, label_place) = (
        np.unique(values, return_inverse=True) for values in (component, label)
    )
    pairs = np.unique(place.astype(np.int64) * len(labels) + label_place)
    return len(names) == len(labels) == len(pairs)


def same_lengths(ours: Any, theirs: Any) -> bool:
    """Return whether distances agree; cuGraph marks unreached vertices with the largest number."""
    (vertex, length), (other, their) = ordered(ours, "distance"), ordered(theirs, "distance")
    their = np.where(their == np.finfo(their.dtype).max, np.inf, their)
    return np.array_equal(vertex, other) and np.array_equal(length.astype(np.float64), their)
