"""Placement of vertices and edges on a grid of R x C ranks.

M. Bisson, M. Bernaschi, E. Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler
Architecture", IEEE Transactions on Parallel and Distributed Systems 27(7), 2016.

The vertices are cut into R * C blocks of `block` consecutive ids.  Block b belongs to the rank at row b % R
and column b // R of the grid, which is rank b: ranks are numbered down the columns.  So the number of a
vertex's block is the rank that owns it, and the slices of the ranks, one after another, are the vertices in
order.

Edge (u, v) is on the rank in the row of the owner of v and the column of the owner of u.  So all edges of a
source are in one column of the grid and all edges of a destination in one row, and a search communicates only
along columns and rows.  On a rank, vertices have 32-bit local ids:

    column id   u - j * R * block                 of the sources of column j of the grid, the rank's column
    row id      (b // R) * block + v % block      of the destinations of the rank's row, b = v // block

R = 1 or C = 1 is the partition in one dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np

from rapids_trav.errors import TravError

Number = Any  # an int or an array of ints; results are of the same kind
WORD = 32  # vertices in a word of a bitmap; blocks are whole words, so that their bitmaps can be joined
LOCAL_IDS = 2**31  # local ids are int32 and below this


def choose_grid(n_ranks: int) -> tuple[int, int]:
    """Return rows and columns of the squarest grid of `n_ranks` ranks, with no fewer rows than columns.

    In the squarest grid a rank has the fewest partners.  Predecessors are looked up along the rows of the
    grid (along the columns if a search runs backwards), so of the two oblong grids the one with short rows
    sends less.
    """
    if n_ranks < 1:
        raise TravError(f"n_ranks={n_ranks} is not a number of ranks: give 1 or more.")
    columns = next(c for c in range(isqrt(n_ranks), 0, -1) if n_ranks % c == 0)
    return n_ranks // columns, columns


@dataclass(frozen=True)
class Grid:
    """A grid of `n_rows` x `n_columns` ranks over the vertices 0 to `n_vertices` - 1.

    Methods take integers, NumPy arrays or CuPy arrays of them, and return the same kind.
    """

    n_rows: int
    n_columns: int
    n_vertices: int

    def __post_init__(self) -> None:
        if self.n_rows < 1 or self.n_columns < 1:
            raise TravError(
                f"grid=({self.n_rows}, {self.n_columns}) has no ranks: give two sizes of 1 or more."
            )
        if self.n_vertices < 0:
            raise TravError(f"n_vertices={self.n_vertices} is negative: give the number of vertices.")
        longest = max(self.n_rows, self.n_columns) * self.block
        if longest >= LOCAL_IDS:
            raise TravError(
                f"grid=({self.n_rows}, {self.n_columns}) gives a rank {longest} local vertices of "
                f"{self.n_vertices}, and fewer than {LOCAL_IDS} are possible: use a larger or squarer grid."
            )

    @property
    def size(self) -> int:
        """Number of ranks."""
        return self.n_rows * self.n_columns

    @cached_property
    def block(self) -> int:
        """Number of vertices of a rank: the same for each, and a multiple of a bitmap's word."""
        return max(1, -(-self.n_vertices // (self.size * WORD))) * WORD

    @property
    def firsts(self) -> np.ndarray:
        """First vertex of each block, and the end of the last: int64 (ranks + 1,)."""
        return np.arange(self.size + 1, dtype=np.int64) * self.block

    @property
    def local_columns(self) -> int:
        """Number of sources that a rank may hold edges of: those of its column of the grid."""
        return self.n_rows * self.block

    @property
    def local_rows(self) -> int:
        """Number of destinations that a rank may hold edges of: those of its row of the grid."""
        return self.n_columns * self.block

    @property
    def vertex_dtype(self) -> np.dtype:
        """Dtype of global ids, wide enough for the ids of the padding too."""
        return np.dtype(np.int32 if self.size * self.block <= LOCAL_IDS else np.int64)

    def place(self, rank: Number) -> tuple[Number, Number]:
        """Return the row and the column of a rank."""
        return rank % self.n_rows, rank // self.n_rows

    def rank(self, row: Number, column: Number) -> Number:
        """Return the rank at a row and a column."""
        return column * self.n_rows + row

    def owner(self, vertex: Number) -> Number:
        """Return the rank that owns a vertex."""
        return vertex // self.block

    def owned(self, rank: int) -> range:
        """Return the vertices that a rank owns, without the padding."""
        end = min((rank + 1) * self.block, self.n_vertices)
        return range(min(rank * self.block, end), end)

    def edge_rank(self, source: Number, destination: Number) -> Number:
        """Return the rank that holds an edge: in the row of its destination and the column of its source."""
        return self.rank(self.owner(destination) % self.n_rows, self.owner(source) // self.n_rows)

    def ranks_of_column(self, column: int) -> tuple[int, ...]:
        """Return the ranks of a column of the grid, in order of their rows."""
        return tuple(range(column * self.n_rows, (column + 1) * self.n_rows))

    def ranks_of_row(self, row: int) -> tuple[int, ...]:
        """Return the ranks of a row of the grid, in order of their columns."""
        return tuple(range(row, self.size, self.n_rows))

    def column_id(self, source: Number) -> Number:
        """Return the local id of a source on the ranks of its column."""
        return source % self.local_columns

    def row_id(self, destination: Number) -> Number:
        """Return the local id of a destination on the ranks of its row."""
        return self.owner(destination) // self.n_rows * self.block + destination % self.block

    def source(self, column: int, column_id: Number) -> Number:
        """Return the global id of a source from its local id on the ranks of a column."""
        return self._wide(column_id) + column * self.local_columns

    def destination(self, row: int, row_id: Number) -> Number:
        """Return the global id of a destination from its local id on the ranks of a row."""
        wide = self._wide(row_id)
        return (wide // self.block * self.n_rows + row) * self.block + wide % self.block

    def _wide(self, local: Number) -> Number:
        return local.astype(self.vertex_dtype) if hasattr(local, "astype") else local
