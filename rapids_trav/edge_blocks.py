"""The edges of an adjacency one by one, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .structures import Adjacency, Array, EdgeList

if TYPE_CHECKING:
    from .storage.budget import Budget

BLOCK = 1 << 24  # edges in a block
READ_BYTES = 256  # of a budget for each edge of a block, with what is made of it
READ_SHARE = 4  # of what is free a block takes one part: the rest is for other threads
FEWEST_IN_HAND = 1 << 5  # edges of a block in any case, where a small limit leaves room for no more
FEWEST_READ = 1 << 12  # edges of a block in any case: fewer take too long


def block_within(
    budget: Budget | None, most: int = BLOCK, *, edge_bytes: int = READ_BYTES, beside: int = 0
) -> int:
    """Edges of a block for which a budget has room, with so many bytes beside it; without one, `most`."""
    if budget is None:
        return most
    return max(min(most, (budget.free - beside) // edge_bytes), FEWEST_READ)


@contextmanager
def reading(
    budget: Budget | None,
    n_edges: int,
    edge_bytes: int,
    most: int = BLOCK,
    *,
    fewest: int = FEWEST_IN_HAND,
) -> Iterator[int]:
    """Hold room for a block of edges in hand, of `edge_bytes` each; how many they are."""
    if budget is None:
        yield most
        return
    block = max(min(most, n_edges, budget.free // READ_SHARE // edge_bytes), fewest)
    with budget.hold(edge_bytes * min(block, n_edges), "a block of edges"):
        yield block


def edge_blocks(adjacency: Adjacency, xp: Any, overlap: int = 0, block: int = BLOCK) -> Iterator[EdgeList]:
    """Blocks of edges in row order, as arrays of `xp` wherever the adjacency lies.

    With `overlap`, each block but the first begins with so many edges of the one before.
    """
    for begin in range(0, adjacency.n_edges, block):
        first = max(begin - overlap, 0)
        columns = adjacency.column_indices[first : begin + block]
        yield EdgeList(sources(adjacency, first, first + len(columns), xp), xp.asarray(columns))


def sources(adjacency: Adjacency, begin: int, end: int, xp: Any) -> Array:
    """The rows of the edges `begin` to `end - 1`."""
    offsets = adjacency.row_offsets
    home = np if isinstance(offsets, np.ndarray) else xp
    bounds = home.searchsorted(offsets, home.asarray([begin, end - 1]), side="right")
    first, last = (int(bound) - 1 for bound in bounds)
    dtype = adjacency.column_indices.dtype
    starts = xp.asarray(offsets[first + 1 : last + 1])
    if xp is np:
        return np.repeat(np.arange(first, last + 1, dtype=dtype), np.diff(starts, prepend=begin, append=end))
    # A row more from where each of the others starts: CuPy repeats slowly, and a search would take a look at
    # the offsets for each bit of an edge's number.  It adds no int64.
    rows = xp.zeros(end - begin, np.int32 if dtype.itemsize == 4 else np.uint64)
    xp.add.at(rows, starts - begin, 1)
    rows[0] += first
    return xp.cumsum(rows, dtype=dtype)
