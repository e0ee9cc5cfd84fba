"""Edges as compressed sparse rows and as coordinates."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.utilities.atomic_files import array_checksum

__all__ = ["Adjacency", "Array", "EdgeList"]

_ROWS_AT_ONCE = 1 << 12  # so that what is made of them on the way stays small


@dataclass(frozen=True)
class Adjacency:
    """Compressed sparse rows: the neighbours of `v` are `column_indices[row_offsets[v]:row_offsets[v + 1]]`.

    Each row is in ascending order.  The same type holds CSR (rows are sources) and CSC (rows are
    destinations).  `weights`, if there are any, stand beside `column_indices`, one for each edge.

    The CUDA engine keeps the first neighbour of each row apart as well, -1 if the row is empty, -2 - u if u
    is alone in it; `neighbor_degree`, the mean degree of the vertices that edges lead to; and `n_hubs`, how
    many rows are long.  Where the columns lie in host memory, `resident` is the end of them that the device
    holds as well: the edge, at which a row begins, from which on it does, and the array.
    """

    row_offsets: Array
    column_indices: Array
    first_neighbors: Array | None = None
    neighbor_degree: float = 0.0
    n_hubs: int | None = None
    weights: Array | None = None
    resident: tuple[int, Array] | None = None

    @property
    def n_vertices(self) -> int:
        return len(self.row_offsets) - 1

    @property
    def n_edges(self) -> int:
        return len(self.column_indices)

    @cached_property
    def n_linked(self) -> int:
        """Rows up to the last that has an edge (SYSTEMS V5); looked up when first asked for."""
        return bisect_left(self.row_offsets, self.n_edges, key=int)

    @cached_property
    def linked(self) -> Array:
        """A bit for each row, 64 to the int64 word, that tells whether it has an edge; empty if all have.

        Of rows on the host; made when first asked for, since searches from the bottom up alone ask for it,
        and counted among what the adjacency holds until `forget_linked`.
        """
        words = np.zeros(-(-self.n_vertices // 64), np.int64)
        bits = words.view(np.uint8)
        whole = True
        for first in range(0, self.n_vertices, _ROWS_AT_ONCE):
            rows = np.diff(self.row_offsets[first : first + _ROWS_AT_ONCE + 1]) > 0
            whole = whole and bool(rows.all())
            packed = np.packbits(rows, bitorder="little")
            bits[first // 8 : first // 8 + len(packed)] = packed
        return words[:0] if whole else words

    def forget_linked(self) -> None:
        """Give the memory of `linked` back; the next search makes it again."""
        self.__dict__.pop("linked", None)

    @cached_property
    def hub_words(self) -> dict[int, int]:
        """By threshold, how many words of the frontier the hub cache holds; filled by the CUDA engine."""
        return {}

    @property
    def parts(self) -> list[Array]:
        """Its arrays."""
        resident = self.resident and self.resident[1]
        apart = (self.first_neighbors, self.weights, resident, self.__dict__.get("linked"))
        return [part for part in (self.row_offsets, self.column_indices, *apart) if part is not None]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    @cached_property
    def checksum(self) -> int:
        """CRC-32 of offsets and columns, the same wherever they lie; computed when first asked for."""
        checksum = array_checksum(self.row_offsets, dtype=np.int64)  # some engines keep them in 32 bits
        return array_checksum(self.column_indices, checksum)


@dataclass(frozen=True)
class EdgeList:
    """Coordinate form: edge `i` goes from `src[i]` to `dst[i]`."""

    src: Array
    dst: Array

    @property
    def nbytes(self) -> int:
        return self.src.nbytes + self.dst.nbytes
