"""How edges outside memory are cut into blocks, and how many of them fit into the memory that is left.

A block is a run of edges of the out-adjacency, of as many in each, so all have the same bytes and any of them
fits any place; as many are a power of 2, so that a shift tells the block of an edge.  A row that reaches over
a cut has a part in each block.  Vertex `v` in block `b` is item `v + b`: a number that no other vertex has in
any block, since the rows of a block begin where those of the last end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.runs import GatherView
from rapids_trav.memory.model.program import LEAST_PAGE

FEWEST, MOST_BLOCKS = 64, 256  # at least FEWEST are wanted, unless they are smaller than a page
# Else blocks are halved, as long as there are not too many: with 5 % of the edges in memory, a road-like
# lattice moves 0.6 of the bytes that it does with 4, and a grid a quarter more; R-MAT 18 is alike.
ENOUGH_PLACES = 8


@dataclass(frozen=True)
class Cut:
    """Blocks of 1 << `shift` edges, and the places for them.

    Attributes
    ----------
    firsts, ends : int64 array, (k,)
        Block `b` has edges of the rows `firsts[b]` to `ends[b] - 1`.
    n_edges : int64 array, (k,)
    shift, n_places : int
    """

    firsts: Array
    ends: Array
    n_edges: Array
    shift: int
    n_places: int

    @property
    def n_blocks(self) -> int:
        return len(self.n_edges)

    @property
    def room(self) -> int:
        """Edges that fit all places."""
        return self.n_places << self.shift


def edge_bytes(view: GatherView) -> int:
    """Return the bytes of an edge in a block: where it leads, and its weight."""
    weight = 0 if view.out_weights is None else view.out_weights.dtype.itemsize
    return view.out.column_indices.dtype.itemsize + weight


def cut_for(view: GatherView, free_bytes: int) -> Cut:
    """Return the blocks for so much memory; one place in any case."""
    n_edges, edge = view.out.n_edges, edge_bytes(view)
    shift, least = max((n_edges // FEWEST).bit_length() - 1, 0), _least_shift(n_edges, edge)
    while shift > least and free_bytes // (edge << shift) < ENOUGH_PLACES:
        shift -= 1
    shift = max(shift, least)
    return cut(view.out.row_offsets, shift, free_bytes // (edge << shift))


def cut(row_offsets: Array, shift: int, n_places: int) -> Cut:
    """Return blocks of 1 << `shift` edges, of which the last may be shorter."""
    n_edges = int(row_offsets[-1])
    begins = np.arange(0, n_edges, 1 << shift, dtype=np.int64)
    stops = np.minimum(begins + (1 << shift), n_edges)
    firsts = np.searchsorted(row_offsets, begins, side="right") - 1
    ends = np.searchsorted(row_offsets, stops, side="left")
    return Cut(firsts, ends, stops - begins, shift, max(min(n_places, len(begins)), 1))


def least_place_bytes(view: GatherView) -> int:
    """Return the bytes of one place for the smallest blocks."""
    edge = edge_bytes(view)
    return edge << _least_shift(view.out.n_edges, edge)


def _least_shift(n_edges: int, edge: int) -> int:
    """Of the smallest blocks: a page, or more if there were too many of them."""
    return (max(-(-n_edges // MOST_BLOCKS), -(-LEAST_PAGE // edge)) - 1).bit_length()
