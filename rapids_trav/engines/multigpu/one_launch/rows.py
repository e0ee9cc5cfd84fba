"""Rows of a rank: its edges by destination, for pulling, and by source, for pushing.

A rank holds the edges that lead to its vertices, so whoever finds a vertex owns it.  Both orientations take
two vertices for each edge; the rows by source are those of all ids, on every rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.build.in_memory import edge_type, with_first_neighbors
from rapids_trav.engines.multigpu.one_launch.dealing import Dealing


@dataclass(frozen=True)
class RankRows:
    """Edges that lead to the vertices of one rank.

    Attributes
    ----------
    into : Adjacency
        A row for each own vertex, with the ids of its in-neighbours, hubs first.
    out : Adjacency
        A row for each id of any rank, with the numbers of the own vertices that it leads to.
    own_offsets : array
        Offsets of the out-edges of own vertices on all ranks together: they tell degrees.
    symmetric : bool
        Whether each edge has its reverse.
    """

    dealing: Dealing
    rank: int
    into: Adjacency
    out: Adjacency
    own_offsets: Array
    symmetric: bool

    @property
    def n_edges(self) -> int:
        return self.into.n_edges

    @property
    def linked(self) -> Array:
        """Whether each own vertex has an edge, as booleans on the device."""
        return (cupy.diff(self.into.row_offsets) > 0) | (cupy.diff(self.own_offsets) > 0)

    @property
    def square_degrees(self) -> float:
        """Sum of the squares of the out-degrees of own vertices."""
        return float(cupy.square(cupy.diff(self.own_offsets), dtype=np.float64).sum())


def rows_of(
    dealing: Dealing, rank: int, sources: Array, destinations: Array, out_degrees: Array | None = None
) -> RankRows:
    """Make the rows of a rank from the edges that lead to its vertices, given by ids.

    Parameters
    ----------
    sources, destinations : array of int
        Ids at both ends of the edges; the rank owns all destinations.
    out_degrees : array of int, optional
        Out-degrees of the rank's vertices, over all ranks; not needed if each edge has its reverse.
    """
    own = destinations - dealing.first(rank)
    by_destination = _rows(own, dealing.place(sources), dealing.each, dealing.n_ids)
    neighbors = dealing.id(by_destination.column_indices)
    into = _for_search(dealing, by_destination.row_offsets, neighbors)
    by_source = _rows(sources, own, dealing.n_ids, dealing.each)
    out = _for_search(dealing, by_source.row_offsets, by_source.column_indices)
    own_offsets = into.row_offsets
    if out_degrees is not None:
        own_offsets = cupy.zeros(dealing.each + 1, out.row_offsets.dtype)
        own_offsets[1:] = cupy.cumsum(cupy.asarray(out_degrees))
    return RankRows(dealing, rank, into, out, own_offsets, out_degrees is None)


def _rows(rows: Array, columns: Array, n_rows: int, n_columns: int) -> Adjacency:
    """Return rows with ascending columns."""
    keys = cupy.sort(cupy.asarray(rows, np.int64) * n_columns + cupy.asarray(columns, np.int64))
    firsts = cupy.arange(n_rows + 1, dtype=np.int64) * n_columns
    return Adjacency(cupy.searchsorted(keys, firsts), keys % n_columns)


def _for_search(dealing: Dealing, row_offsets: Array, column_indices: Array) -> Adjacency:
    offsets = row_offsets.astype(edge_type(len(column_indices)))
    return with_first_neighbors(offsets, column_indices.astype(dealing.vertex_dtype))
