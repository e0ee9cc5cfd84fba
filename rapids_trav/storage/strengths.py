"""Weighted out-degrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from rapids_trav.edge_blocks import BLOCK
from rapids_trav.structures import Array


def strengths(columns: Array, weights: Array, n_vertices: int, xp: Any, block: int = BLOCK) -> Array:
    """Sum of the weights of the edges that leave each vertex, float64 (n,).

    Parameters
    ----------
    columns : vertex array, (m,)
        Where each edge comes from.
    weights : array, (m,)
    block : int
        Edges looked at at once: counting widens their columns.
    """
    total = xp.zeros(n_vertices, dtype=np.float64)
    for first in range(0, len(columns), block):
        ends = xp.asarray(columns[first : first + block])
        own = xp.asarray(weights[first : first + block])
        total += xp.bincount(ends, weights=own, minlength=n_vertices)
    return total
