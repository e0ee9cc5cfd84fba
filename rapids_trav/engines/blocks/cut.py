"""Blocks of edges outside memory, and the number of them that fit into the memory that is left.

A block is a run of consecutive edges of the out-adjacency.  All blocks have the same number of edges, so they
have the same bytes and each fits any place.  That number is a power of 2, so that a shift gives the block of
an edge.  A row that crosses a cut has a part in each block.  Vertex `v` in block `b` is item `v + b`.  This
number is unique, since the rows of a block begin where those of the block before end.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array, search_offsets
from rapids_trav.engines.runs import GatherView
from rapids_trav.memory.model.program import LEAST_PAGE

PLACES = "places for blocks of edges"  # in messages about memory
FEWEST, MOST_BLOCKS = 64, 256  # blocks; at least FEWEST unless they would be smaller than a page
# With fewer places than this, blocks are halved, as long as there are not too many.  With 5 % of the edges in
# memory, 8 places rather than 4 move 0.6 of the bytes on a road-like lattice, 1.25 on a grid, as many on
# R-MAT 18.
ENOUGH_PLACES = 8


@dataclass(frozen=True)
class Cut:
    """Blocks of 1 << `shift` edges, and the number of places for them."""

    firsts: Array  # int64, (k,): block `b` has edges of the rows `firsts[b]` to `ends[b] - 1`
    ends: Array
    n_edges: Array  # of each block
    shift: int
    n_places: int

    @property
    def n_blocks(self) -> int:
        return len(self.n_edges)

    @property
    def room(self) -> int:
        """Number of edges that fit into all places together."""
        return self.n_places << self.shift


def edge_bytes(view: GatherView) -> int:
    """Return the bytes of an edge in a block: its destination and its weight."""
    weight = 0 if view.out_weights is None else view.out_weights.dtype.itemsize
    return view.out.column_indices.dtype.itemsize + weight


def cut_for(view: GatherView, free_bytes: int, least_bytes: int = LEAST_PAGE) -> Cut:
    """Return the blocks and places for `free_bytes` of memory; there is always at least one place.

    Blocks of fewer than `least_bytes` would be slow to load.
    """
    n_edges, edge = view.out.n_edges, edge_bytes(view)
    shift = whole_shift(n_edges)
    least = _least_shift(n_edges, edge, least_bytes)
    while shift > least and free_bytes // (edge << shift) < ENOUGH_PLACES:
        shift -= 1
    shift = max(shift, least)
    return cut(view.out.row_offsets, shift, free_bytes // (edge << shift))


def whole_shift(n_edges: int) -> int:
    """Return the shift of blocks of which there are at least `FEWEST`, if there are as many edges."""
    return max((n_edges // FEWEST).bit_length() - 1, 0)


def cut(row_offsets: Array, shift: int, n_places: int, xp: ModuleType = np) -> Cut:
    """Return blocks of 1 << `shift` edges, of which the last may be shorter; the offsets are in `xp`."""
    n_edges = int(row_offsets[-1])
    begins = np.arange(0, n_edges, 1 << shift, dtype=np.int64)
    stops = np.minimum(begins + (1 << shift), n_edges)
    firsts = search_offsets(row_offsets, begins, "right", xp) - 1
    ends = search_offsets(row_offsets, stops, xp=xp)
    if xp is not np:
        firsts, ends = xp.asnumpy(firsts), xp.asnumpy(ends)
    return Cut(firsts, ends, stops - begins, shift, max(min(n_places, len(begins)), 1))


def least_place_bytes(view: GatherView, least_bytes: int = LEAST_PAGE) -> int:
    """Return the bytes of one place for blocks of the smallest size."""
    edge = edge_bytes(view)
    return edge << _least_shift(view.out.n_edges, edge, least_bytes)


def _least_shift(n_edges: int, edge: int, least_bytes: int) -> int:
    """Return the shift of the smallest blocks; they are larger if there would be too many of them."""
    return (max(-(-n_edges // MOST_BLOCKS), -(-least_bytes // edge)) - 1).bit_length()
