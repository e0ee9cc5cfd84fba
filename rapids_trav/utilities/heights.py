"""The scale of bars: logarithmic where the smallest could not be seen beside the tallest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

UNEVEN = 30  # from here on, the largest of some numbers hides the smallest


def is_uneven(numbers: Sequence[float] | np.ndarray) -> bool:
    """Return whether the largest is many times the smallest that is not 0."""
    values = np.asarray(numbers, np.float64)
    positive = values[values > 0]
    return bool(len(positive) and positive.max() >= UNEVEN * positive.min())


def shares(counts: Sequence[int], log: bool) -> list[float]:
    """Return the length of a bar for each count, the longest being 1; 0 has none on either scale."""
    most = max([*counts, 1])
    return [math.log1p(count) / math.log1p(most) if log else count / most for count in counts]
