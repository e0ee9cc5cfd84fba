"""Weighted out-degrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_trav.structures import Array

BLOCK = 1 << 24  # edges looked at at once: counting widens their columns


def strengths(columns: Array, weights: Array, n_vertices: int, xp: Any) -> Array:
    """Sum of the weights of the edges that leave each vertex, float64 (n,).

    Parameters
    ----------
    columns : vertex array, (m,)
        Where each edge comes from.
    weights : array, (m,)
    """
    total = xp.zeros(n_vertices, dtype=np.float64)
    for first in range(0, len(columns), BLOCK):
        ends = xp.asarray(columns[first : first + BLOCK])
        block = xp.asarray(weights[first : first + BLOCK])
        total += xp.bincount(ends, weights=block, minlength=n_vertices)
    return total
