"""Rows of a rank: its edges by destination, for pulling, and by source, for pushing.

A rank holds the edges that lead to its vertices, so a rank only finds vertices that it owns.  Both
orientations together take two ids for each edge; the rows by source have offsets for all ids, on every rank.

In a symmetric graph the rows by destination suffice, in half the memory (lean rows): the row of a rank's own
vertex also has the edges that leave it.  They are built in little more memory than they take:

1. Count the entries of each row; the running sum is where each row begins.
2. Read the edges again, and put each entry at the next free place of its row.
3. Sort the rows, one range of rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.build.host_rows import place_edges
from rapids_trav.engines.cuda.build.in_memory import (
    build_adjacency,
    count_ids,
    edge_type,
    expand_rows,
    wide_adjacency,
    with_first_neighbors,
)
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.multigpu.one_launch.dealing import Dealing
from rapids_trav.memory.model.spread import SORTED_AT_ONCE
from rapids_trav.tuning import Layout

# Ranks use unsigned offsets.  Kernels index past the end of a row, at most by what a grid reads at once.
_NARROW_OFFSETS = 2**32 - 2**20
_AT_ONCE = 1 << 24  # entries whose ids are computed together, so that temporary arrays stay small


@dataclass(frozen=True)
class RankRows:
    """Edges that lead to the vertices of one rank."""

    dealing: Dealing
    rank: int
    into: Adjacency  # a row for each own vertex, with the ids of its in-neighbours, hubs first
    out: Adjacency  # a row for each id, with the numbers of the own vertices that it leads to; or `into`
    own_offsets: Array  # of the out-edges of own vertices on all ranks together, which give the degrees
    symmetric: bool  # whether each edge has its reverse

    @property
    def lean(self) -> bool:
        """Whether there are no rows but those of own vertices."""
        return self.out is self.into

    @property
    def layout(self) -> Layout:
        return "lean" if self.lean else "both"

    @property
    def n_edges(self) -> int:
        return self.into.n_edges

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        own = 0 if self.own_offsets is self.into.row_offsets else self.own_offsets.nbytes
        return self.into.nbytes + (0 if self.lean else self.out.nbytes) + own

    @property
    def edge(self) -> np.dtype:
        """Type of offsets that suffices for all of the rank's arrays."""
        if self.dealing.vertex_dtype.itemsize == 8:
            return np.dtype(np.int64)  # kernels have wide offsets with wide ids
        return offset_type(max(self.into.n_edges, self.out.n_edges, int(self.own_offsets[-1])))

    @property
    def linked(self) -> Array:
        """Whether each own vertex has an edge, as booleans on the device."""
        return (cupy.diff(self.into.row_offsets) > 0) | (cupy.diff(self.own_offsets) > 0)

    @property
    def square_degrees(self) -> float:
        """Sum of the squares of the out-degrees of own vertices."""
        return float(cupy.square(cupy.diff(self.own_offsets), dtype=np.float64).sum())

    def with_degrees(self, out_degrees: Array) -> RankRows:
        """Return the rows with the out-degrees of the rank's vertices, over all ranks; not symmetric."""
        own_offsets = cupy.zeros(self.dealing.each + 1, edge_type(int(out_degrees.sum())))
        own_offsets[1:] = cupy.cumsum(cupy.asarray(out_degrees))
        return replace(self, own_offsets=own_offsets, symmetric=False)

    def with_offsets(self, edge: np.dtype) -> RankRows:
        """Return the rows with offsets of a type, which all ranks have in common."""
        into = _with_offsets(self.into, edge)
        out = into if self.lean else _with_offsets(self.out, edge)
        same = self.own_offsets is self.into.row_offsets
        own_offsets = into.row_offsets if same else _converted(self.own_offsets, edge)
        return replace(self, into=into, out=out, own_offsets=own_offsets)


def offset_type(n_entries: int) -> np.dtype:
    """Return the type of offsets that a rank with so many entries needs."""
    return np.dtype(np.uint32 if n_entries < _NARROW_OFFSETS else np.int64)


def _with_offsets(rows: Adjacency, edge: np.dtype) -> Adjacency:
    """Return the rows with offsets of a type, also those of `word_rows`."""
    words = None if rows.word_rows is None else _converted(rows.word_rows, edge)
    return replace(rows, row_offsets=_converted(rows.row_offsets, edge), word_rows=words)


def _converted(offsets: Array, edge: np.dtype) -> Array:
    return offsets.view(edge) if offsets.itemsize == edge.itemsize else offsets.astype(edge)


def rows_of(
    dealing: Dealing, rank: int, edges: Iterable[tuple[Array, Array]], out_degrees: Array | None = None
) -> RankRows:
    """Make the rows of a rank from the edges that lead to its vertices.

    Edges are the places, in the order by degree, of sources, and the numbers of own destinations.  Without
    the out-degrees of the rank's vertices over all ranks each edge has its reverse.  The peak is 18 bytes for
    each edge, with the given ones, 48 with 64-bit ids; see `build_adjacency`.
    """
    parts = list(edges)
    into = for_search(dealing, _rows(dealing, [(own, place) for place, own in parts], dealing.each))
    by_source = _rows(dealing, [(_ids(dealing, place), own) for place, own in parts], dealing.n_ids)
    out = replace(by_source, first_neighbors=None)  # for pulling only
    rows = RankRows(dealing, rank, into, out, into.row_offsets, symmetric=True)
    return rows if out_degrees is None else rows.with_degrees(out_degrees)


def _rows(dealing: Dealing, parts: list[tuple[Array, ...]], n_rows: int) -> Adjacency:
    """Return rows with ascending columns."""
    if dealing.vertex_dtype.itemsize == 8:
        return wide_adjacency(parts, n_rows, symmetric=False)
    return build_adjacency(lambda: parts, n_rows)


def _ids(dealing: Dealing, places: Array) -> Array:
    ids = cupy.empty(len(places), dealing.vertex_dtype)
    for part in _parts(len(places)):
        ids[part] = dealing.id(places[part])
    return ids


def for_search(dealing: Dealing, by_place: Adjacency) -> Adjacency:
    """Return rows with the ids of vertices instead of their places, in the same order."""
    columns = by_place.column_indices
    for part in _parts(len(columns)):
        columns[part] = dealing.id(columns[part])
    return with_first_neighbors(by_place.row_offsets, columns)


def _parts(length: int) -> Iterator[slice]:
    return (slice(first, first + _AT_ONCE) for first in range(0, length, _AT_ONCE))


def lean_rows(
    dealing: Dealing, rank: int, device: int, edges: Callable[[], Iterable[tuple[Array, Array]]]
) -> RankRows:
    """Make the rows of a rank of a symmetric graph on its device.

    Each call of `edges` yields all of its edges, as `rows_of` takes them, on the device.
    """
    with cupy.cuda.Device(device):
        degree = cupy.zeros(dealing.each, np.int64)
    for _, own in edges():
        with cupy.cuda.Device(device):
            count_ids(own, degree)
    with cupy.cuda.Device(device):
        n_entries = int(degree.sum())
        wide = dealing.vertex_dtype.itemsize == 8  # kernels have wide offsets with wide ids
        row_offsets = cupy.zeros(dealing.each + 1, np.int64 if wide else edge_type(n_entries))
        row_offsets[1:] = cupy.cumsum(degree)
        del degree
        free = row_offsets[:-1].astype(np.uint64)
        columns = cupy.empty(n_entries, dealing.vertex_dtype)
    for place, own in edges():
        with cupy.cuda.Device(device):
            place_edges(own, place, None, False, 0, dealing.each, 0, free, columns, None)
    with cupy.cuda.Device(device):
        del free
        _sort_rows(row_offsets, columns)
        into = for_search(dealing, Adjacency(row_offsets, columns))
    return RankRows(dealing, rank, into, into, into.row_offsets, symmetric=True)


def _sort_rows(row_offsets: Array, columns: Array) -> None:
    """Sort each row in place."""
    cuts = cupy.arange(0, len(columns), SORTED_AT_ONCE).astype(row_offsets.dtype)
    rows = np.unique((cupy.searchsorted(row_offsets, cuts, side="right") - 1).get())
    rows = np.append(rows, len(row_offsets) - 1)
    begins = row_offsets[cupy.asarray(rows)].tolist()
    for (first, after), (begin, end) in zip(pairwise(rows.tolist()), pairwise(begins), strict=True):
        part = columns[begin:end]
        row = expand_rows(Adjacency(row_offsets[first : after + 1] - begin, part)).src
        if part.dtype.itemsize == 8:
            part[:] = part[cupy.lexsort(cupy.stack([part, row]))]
            continue
        kernels, keys = loader.load("build.cu"), cupy.empty(len(part), np.uint64)
        kernels.launch("pack_edges", len(part), row, part, len(part), keys)
        del row
        keys.sort()
        kernels.launch("unpack_columns", len(part), keys, len(part), part)
