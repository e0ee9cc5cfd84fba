"""Parts of an array that lie apart, moved together in place: a second array would take memory and time."""

from __future__ import annotations

import numpy as np


def moved_together(array: np.ndarray, begins: np.ndarray, counts: np.ndarray, place: int = 0) -> int:
    """Move parts of an array together, to begin at `place`; return their total number of entries.

    Part i has `counts[i]` entries and begins at `begins[i] + place`.  Parts do not overlap, and are in order.
    """
    moved = 0
    for begin, count in zip(begins.tolist(), counts.tolist(), strict=True):
        at = place + moved
        array[at : at + count] = array[begin + place : begin + place + count]
        moved += count
    return moved
