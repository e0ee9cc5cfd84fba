"""Iteration over the edges of an adjacency in blocks, in coordinate form."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList, search_offsets

BLOCK = 1 << 24  # edges in a block


def edge_blocks(
    adjacency: Adjacency, xp: ModuleType, overlap: int = 0, block: int = BLOCK
) -> Iterator[EdgeList]:
    """Yield blocks of edges in row order, as arrays of `xp` wherever the adjacency is stored.

    Each block but the first starts with the last `overlap` edges of the block before it.
    """
    for begin in range(0, adjacency.n_edges, block):
        first = max(begin - overlap, 0)
        columns = adjacency.column_indices[first : begin + block]
        yield EdgeList(sources(adjacency, first, first + len(columns), xp), xp.asarray(columns))


def sources(adjacency: Adjacency, begin: int, end: int, xp: ModuleType) -> Array:
    """Return the rows of the edges `begin` to `end - 1`."""
    offsets = adjacency.row_offsets
    home = np if isinstance(offsets, np.ndarray) else xp
    bounds = search_offsets(offsets, home.asarray([begin, end - 1]), "right", home)
    first, last = (int(bound) - 1 for bound in bounds)
    dtype = adjacency.column_indices.dtype
    starts = xp.asarray(offsets[first + 1 : last + 1])
    if xp is np:
        return np.repeat(np.arange(first, last + 1, dtype=dtype), np.diff(starts, prepend=begin, append=end))
    # Count the rows that start at each edge, then sum: the row number grows by one at each row start.  CuPy's
    # `repeat` is slow, and a binary search would read the offsets once for each bit of an edge number.
    # CuPy's `add.at` does not support int64.
    rows = xp.zeros(end - begin, np.int32 if dtype.itemsize == 4 else np.uint64)
    xp.add.at(rows, starts - begin, 1)
    rows[0] += first
    return xp.cumsum(rows, dtype=dtype)
