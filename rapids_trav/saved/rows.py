"""Reader of the edges of a graph that was opened from a folder, from its adjacency.

Neither the columns other than ends and weight nor the order of the rows are saved.  An undirected edge leads
from its smaller end to its larger end.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from rapids_trav.csr.adjacency import BLOCK, Adjacency, Array, EdgeList, edge_blocks, search_offsets
from rapids_trav.csr.array import ranges
from rapids_trav.edges.sources import EdgeSource
from rapids_trav.frames.columns import Frame, move
from rapids_trav.frames.decimals import Weight, column_of, from_integers
from rapids_trav.ids.maps import IdMap, Library
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.filters import refuse_filter


class SavedEdges(EdgeSource):
    """The source of a saved graph, without frames to read again or to filter."""

    def __init__(self, library: Library, columns: Sequence[Hashable]) -> None:
        self.library = library
        self.columns = list(columns)


class SavedRows(RowReader):
    """Counterpart of `EdgeRows` for the edges of a saved graph; `resolve` refuses all filters.

    The adjacency is that by source, in NumPy arrays, with the weights if the graph has any; it holds
    undirected edges in both directions.
    """

    weight_advice = "save the edges again with weight=..."

    def __init__(
        self,
        adjacency: Adjacency,
        directed: bool,
        src: Sequence[Hashable],
        dst: Sequence[Hashable],
        weight: Weight | None,
        ids: IdMap,
        library: Library,
        xp: ModuleType,
    ) -> None:
        self.src, self.dst, self.xp = list(src), list(dst), xp
        self.weight = weight
        self.source = SavedEdges(library, [*src, *dst, *([] if weight is None else [weight.name])])
        self._adjacency, self._directed, self._ids = adjacency, directed, ids

    def resolve(self, where: object) -> None:
        """Refuse every filter: there are no columns to filter by."""
        refuse_filter(where)

    def pairs(self, where: Hashable | None = None) -> Iterator[tuple[Array, Array]]:
        for edges, kept in self._blocks():
            yield edges.src[kept], edges.dst[kept]

    def weighted(self, where: Hashable | None = None) -> Iterator[tuple[Array, Array, Array]]:
        first = 0
        assert self._adjacency.weights is not None
        for edges, kept in self._blocks():
            weights = self.xp.asarray(self._adjacency.weights[first : first + len(edges.src)])
            first += len(edges.src)
            yield edges.src[kept], edges.dst[kept], weights[kept]

    def inside(self, chosen: Array, where: Hashable | None = None, rows_at_once: int | None = None) -> Frame:
        """Return the edges with both ends `chosen`, (n_vertices,), as a frame of ends and weight."""
        chosen = move(chosen, np)
        batches = self._batches(np.flatnonzero(chosen), rows_at_once or BLOCK)
        found = [self._among(rows, chosen) for rows in batches]
        edges = np.concatenate(found) if found else np.empty(0, np.int64)
        rows = search_offsets(self._adjacency.row_offsets, edges, "right") - 1
        u = rows.astype(self._adjacency.column_indices.dtype)
        v = self._adjacency.column_indices[edges]
        if (place := self._place()) is not None:
            order = np.lexsort((place[v], place[u]))
            edges, u, v = edges[order], u[order], v[order]
        columns: dict[Any, Any] = {}
        for names, ends in ((self.src, u), (self.dst, v)):
            columns |= dict(zip(names, self._ids.decode(move(ends, self.xp)), strict=True))
        if self.weight is not None and self._adjacency.weights is not None:
            weights = self._adjacency.weights[edges]
            if self.weight.scale is not None:
                weights = column_of(from_integers(weights, self.weight.scale), self.source.library)
            columns[self.weight.name] = weights
        return self.source.library.frame(columns)

    def _place(self) -> np.ndarray | None:
        """Return the rank of each internal id by the caller's ids; None if internal ids are ranks."""
        return None if self._ids.order is None else move(self._ids.order, np)

    def _blocks(self) -> Iterator[tuple[EdgeList, Array | slice]]:
        """Yield blocks of edges, and a mask of those that count: one direction of an undirected edge.

        Without edges there is one empty block, which gives callers the types of its arrays.
        """
        if self._adjacency.n_edges == 0:
            none = self.xp.asarray(self._adjacency.column_indices)
            yield EdgeList(none, none), slice(None)
        for edges in edge_blocks(self._adjacency, self.xp):
            kept = slice(None) if self._directed else edges.src <= edges.dst
            yield edges, kept

    def _batches(self, rows: np.ndarray, block: int) -> Iterator[np.ndarray]:
        """Return an iterator over runs of rows that have about `block` edges each."""
        offsets = self._adjacency.row_offsets
        total = np.cumsum(offsets[rows + 1] - offsets[rows])
        cuts = np.searchsorted(total, np.arange(block, total[-1] if len(total) else 0, block))
        return (part for part in np.split(rows, np.unique(cuts)) if len(part))

    def _among(self, rows: np.ndarray, chosen: Array) -> np.ndarray:
        """Return the positions of the edges that lead from these rows to chosen vertices."""
        offsets = self._adjacency.row_offsets
        begins = offsets[rows]
        lengths = offsets[rows + 1] - begins
        edges = ranges(begins, lengths)
        v = self._adjacency.column_indices[edges]
        kept = chosen[v]
        if not self._directed:
            u, place = np.repeat(rows, lengths), self._place()
            kept &= (u <= v) if place is None else (place[u] <= place[v])
        return edges[kept]
