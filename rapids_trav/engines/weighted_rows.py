"""Rows sorted by weight as searches on either engine read them: weights, and widths from a sample."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array, WeightedRows
from rapids_trav.programs.definition import Scalar

SAMPLE = 1 << 14  # edges that are looked at to choose widths
SETTLED = 0.8  # share of the edges with a settled end from which on the other vertices pull
MOST_WINDOWS = 64  # if that is more windows away, the diameter is long, and pulling would take many passes


def narrowed(weights: Array) -> Array:
    """Return the weights in 4 bytes if these hold all of them; -0.0 becomes 0.0."""
    if weights.dtype == np.int64 and int(weights.max()) <= np.iinfo(np.int32).max:
        return weights.astype(np.int32)
    if weights.dtype == np.float64:
        narrow = weights.astype(np.float32)
        if bool((narrow.astype(np.float64) == weights).all()):
            weights = narrow
    return weights + weights.dtype.type(0)


def window_width(rows: WeightedRows, xp: ModuleType) -> Scalar:
    """Return the width of a window of distances; it is found once for `rows`, with the "typical" weight.

    A window is twice as wide as the lightest edge of a typical vertex is heavy, where a vertex with more
    edges is more typical.
    """
    learned = rows.learned
    if "width" not in learned:
        edges = sample(rows, xp)
        ends = rows.entries[edges, 0].astype(np.int64)
        first = rows.row_offsets[ends].astype(np.int64)
        lightest, typical = (
            _median(xp.ascontiguousarray(rows.entries[chosen, 1]).view(rows.weight_dtype), xp)
            for chosen in (first[first < rows.row_offsets[ends + 1]], edges)
        )
        learned.update(width=2 * (lightest or typical) or 1, typical=typical)
    return learned["width"]


def _median(weights: Array, xp: ModuleType) -> Scalar:
    weights = xp.sort(weights[weights < np.inf])
    middle: Scalar = weights[len(weights) // 2].item() if len(weights) else 0
    return middle


def sample(rows: WeightedRows, xp: ModuleType) -> Array:
    """Return the numbers of some evenly spaced edges."""
    n = min(SAMPLE, rows.n_edges)
    return xp.arange(n, dtype=np.int64) * rows.n_edges // n
