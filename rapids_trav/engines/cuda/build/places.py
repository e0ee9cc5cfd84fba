"""Places of a block's entries in compressed rows whose lengths are known, and writing the entries there.

`xp` is CuPy or NumPy.  `free` has the next free place of each row, counted over all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array

WINDOW = 1 << 30  # entries of the result written at once: CuPy indexes with 32 bits


def place_plainly(
    rows: Array,
    columns: Array,
    weights: Array | None,
    both: bool,
    first: int,
    after: int,
    begin: int,
    free: Array,
    placed: Array,
    placed_weights: Array | None,
    xp: ModuleType = np,
) -> None:
    """Put the entries of rows `first` to `after - 1` at the next free places, as `kernels/external.cu` does.

    The block of edges is placed in `both` directions, if asked; `free` has the next place of each row, int64
    (n,), and is advanced; `placed` and `placed_weights` begin at the place `begin`.
    """
    if both:
        rows, columns, weights = both_ways(rows, columns, weights, xp)
    chosen = xp.flatnonzero((rows >= first) & (rows < after))
    order, place = places(rows[chosen], free, xp)
    chosen, place = chosen[order], place - begin
    inside = place < len(placed)
    chosen, place = chosen[inside], place[inside]
    placed[place] = columns[chosen]
    if weights is not None and placed_weights is not None:
        placed_weights[place] = weights[chosen]


def both_ways(rows: Array, columns: Array, weights: Array | None, xp: ModuleType) -> tuple:
    """Return the block with each edge in both directions, self-loops once."""
    other = rows != columns
    both = xp.concatenate([rows, columns[other]]), xp.concatenate([columns, rows[other]])
    return *both, None if weights is None else xp.concatenate([weights, weights[other]])


def places(rows: Array, free: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Return the order of a block by row and the place of each entry; advance the free places."""
    order = xp.argsort(rows)
    rows = rows[order]
    new = xp.ones(len(rows), bool)
    new[1:] = rows[1:] != rows[:-1]
    begins = xp.flatnonzero(new)
    entry = xp.arange(len(rows))
    if not len(rows):
        return order, entry
    place = free[rows] + entry - begins[xp.cumsum(new, dtype=np.int64) - 1]
    free[rows[begins]] += xp.concatenate([begins[1:], entry[-1:] + 1]) - begins
    return order, place


def write(target: Array, place: Array, values: Array, reach: Callable, xp: ModuleType) -> None:
    """Set ``target[place] = values``, on the device if it can access the target; places ascend."""
    edges = np.arange(0, len(target) + WINDOW, WINDOW)
    cuts = xp.searchsorted(place, xp.asarray(edges)).tolist()
    for window, (begin, end) in zip(edges.tolist(), pairwise(cuts), strict=False):
        if begin < end:
            part = target[window : window + WINDOW]
            reached = reach(part)
            where, what = place[begin:end] - window, values[begin:end].astype(target.dtype, copy=False)
            if reached is not None:
                reached[where] = what
            else:
                part[to_host(where)] = to_host(what)


def to_host(array: Array, out: Array | None = None) -> Array:
    """Copy an array to the host, into `out` if it is given."""
    if hasattr(array, "get"):
        return array.get(out=out)
    if out is None:
        return array
    out[:] = array
    return out
