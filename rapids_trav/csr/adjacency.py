"""Edge containers: compressed sparse rows (`Adjacency`), coordinates (`EdgeList`), and their blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Literal, NamedTuple

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.frames.columns import move
from rapids_trav.utilities.atomic_files import array_checksum

__all__ = ["Adjacency", "Array", "EdgeList", "Resident", "offset_dtype", "search_offsets"]

WIDE_OFFSETS = 2**31  # number of edges from which offsets take 64 bits
_ROWS_AT_ONCE = 1 << 11  # keeps the temporary arrays of `linked` small


class Resident(NamedTuple):
    """A copy of the columns of the edges before `head` and, after those, from `begin` on, of whole rows."""

    head: int
    begin: int
    columns: Array


@dataclass(frozen=True)
class Adjacency:
    """Compressed sparse rows: the neighbours of `v` are `column_indices[row_offsets[v]:row_offsets[v + 1]]`.

    Each row is in ascending order.  `row_offsets` is int32 or int64 (see `offset_dtype`).  This type holds
    CSR (rows are sources) and CSC (rows are destinations).  `weights`, if present, has one entry for each
    entry of `column_indices`.

    The CUDA engine also stores four things for faster searches.  `first_neighbors` has the first neighbour
    of each row: -1 if the row is empty, and -2 - u if u is its only neighbour.  `word_rows` has, for every 32
    rows, where the first begins and the length that all have, or 0 if they differ: most vertices of a graph
    sorted by degree then need no offsets.  `neighbor_degree` is the mean degree of the vertices that edges
    lead to.  `n_hubs` is the number of long rows.

    If the columns are in host memory, the device may hold a copy of the first and the last of them, which is
    `resident`.
    """

    row_offsets: Array
    column_indices: Array
    first_neighbors: Array | None = None
    word_rows: Array | None = None
    neighbor_degree: float = 0.0
    n_hubs: int | None = None
    weights: Array | None = None
    resident: Resident | None = None

    @property
    def n_vertices(self) -> int:
        return len(self.row_offsets) - 1

    @property
    def n_edges(self) -> int:
        return len(self.column_indices)

    @cached_property
    def n_linked(self) -> int:
        """Number of rows up to the last with an edge (docs/systems.md, V5); computed on first access."""
        return bisect_left(self.row_offsets, self.n_edges, key=int)

    @cached_property
    def linked(self) -> Array:
        """Bitmap of the rows with an edge to another vertex, 64 to an int64 word; empty if all have one.

        It is for rows on the host.  Only bottom-up searches need it, so it is computed on first access.  From
        then until `forget_linked` it counts among the arrays of the adjacency.
        """
        words = np.zeros(-(-self.n_vertices // 64), np.int64)
        bits = words.view(np.uint8)
        whole = True
        for first in range(0, self.n_vertices, _ROWS_AT_ONCE):
            offsets = self.row_offsets[first : first + _ROWS_AT_ONCE + 1]
            rows = np.diff(offsets) > 0
            begins, ends = offsets[:-1][rows], offsets[1:][rows]
            # A row that begins and ends with the vertex itself has loops alone, since rows ascend.
            own = np.flatnonzero(rows) + first
            loops = self.column_indices[begins] == own
            loops[loops] = self.column_indices[ends[loops] - 1] == own[loops]
            rows[own[loops] - first] = False
            whole = whole and bool(rows.all())
            packed = np.packbits(rows, bitorder="little")
            bits[first // 8 : first // 8 + len(packed)] = packed
        return words[:0] if whole else words

    def on_host(self) -> Adjacency:
        """Return the rows, and their weights, in host memory; copied only where needed."""
        weights = None if self.weights is None else move(self.weights, np)
        return Adjacency(move(self.row_offsets, np), move(self.column_indices, np), weights=weights)

    def forget_linked(self) -> None:
        """Free the memory of `linked`; the next search that needs it computes it again."""
        self.__dict__.pop("linked", None)

    @cached_property
    def prepared(self) -> dict[str, object]:
        """Data that an engine has derived from the rows and keeps, by name; small compared with the rows."""
        return {}

    @property
    def parts(self) -> list[Array]:
        """The arrays that the adjacency holds."""
        resident = self.resident and self.resident.columns
        apart = (self.first_neighbors, self.word_rows, self.weights, resident, self.__dict__.get("linked"))
        return [part for part in (self.row_offsets, self.column_indices, *apart) if part is not None]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @cached_property
    def checksum(self) -> int:
        """CRC-32 of offsets and columns, which does not depend on the engine; computed on first access."""
        checksum = array_checksum(self.row_offsets, dtype=np.int64)  # the same for both kinds of offsets
        return array_checksum(self.column_indices, checksum)


@dataclass(frozen=True)
class WeightedRows:
    """Rows whose entries ascend by weight."""

    row_offsets: Array
    entries: Array  # integers, (m, 2): a neighbour, and the bits of the weight of the edge to it
    weight_dtype: np.dtype[np.generic[object]]
    learned: dict[str, float | int] = field(default_factory=dict)  # what an engine found out about weights

    @property
    def n_vertices(self) -> int:
        return len(self.row_offsets) - 1

    @property
    def n_edges(self) -> int:
        return len(self.entries)


def offset_dtype(n_edges: int) -> np.dtype[np.int32] | np.dtype[np.int64]:
    """Return the dtype of offsets into `n_edges` edges: 32-bit, which searches read faster, if they fit."""
    return np.dtype(np.int32) if n_edges < WIDE_OFFSETS else np.dtype(np.int64)


def search_offsets(
    offsets: Array, edges: Array | int, side: Literal["left", "right"] = "left", xp: ModuleType = np
) -> Array:
    """Return where edges belong among ascending offsets, as `searchsorted` does in `xp`.

    The positions of the edges take the dtype of the offsets: for any other, all offsets would be converted.
    """
    found: Array = xp.searchsorted(offsets, xp.asarray(edges, offsets.dtype), side=side)
    return found


@dataclass(frozen=True)
class EdgeList:
    """Edges in coordinate form (COO): edge `i` goes from `src[i]` to `dst[i]`."""

    src: Array
    dst: Array

    @property
    def nbytes(self) -> int:
        return self.src.nbytes + self.dst.nbytes


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
    numbers: Array = xp.cumsum(rows, dtype=dtype)
    return numbers


def self_loops(adjacency: Adjacency, xp: ModuleType, block: int = BLOCK) -> int:
    """Count self-loops, each of which is stored once, in a symmetric adjacency as well."""
    blocks = edge_blocks(adjacency, xp, block=block)
    return sum(int((edges.src == edges.dst).sum()) for edges in blocks)


def duplicate_edges(adjacency: Adjacency, xp: ModuleType, directed: bool, block: int = BLOCK) -> int:
    """Count edges that repeat another edge; an undirected edge counts once.

    Rows of an adjacency are sorted, so an edge and its repetitions are adjacent.
    """
    found = 0
    for edges in edge_blocks(adjacency, xp, overlap=1, block=block):
        repeated = (edges.src[1:] == edges.src[:-1]) & (edges.dst[1:] == edges.dst[:-1])
        if not directed:
            repeated &= edges.src[1:] <= edges.dst[1:]
        found += int(repeated.sum())
    return found


def strengths(columns: Array, weights: Array, n_vertices: int, xp: ModuleType, block: int = BLOCK) -> Array:
    """Return the sum of the weights of the edges that leave each vertex, float64 (n,).

    `columns`, (m,), has the source of each edge.  A block bounds memory, since `bincount` makes wider copies
    of the columns.
    """
    total: Array = xp.zeros(n_vertices, dtype=np.float64)
    for first in range(0, len(columns), block):
        ends = xp.asarray(columns[first : first + block])
        own = xp.asarray(weights[first : first + block])
        total += xp.bincount(ends, weights=own, minlength=n_vertices)
    return total
