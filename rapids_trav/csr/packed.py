"""Columns of an adjacency in fewer bits: the formats in which pages and blocks cross the link to a GPU.

Edges are taken in blocks of 1024, whatever the rows, so that pages can be cut anywhere: a page is unpacked
from the blocks that hold its edges.  A block is a run of 32-bit words, little-endian:

- 8 words: a byte for each of its 32 groups of 32 edges.  The lower 7 bits are the bits of an entry, the
  highest one says that the group holds the beginning of a row, a head.
- 1 word, or 2 if columns have 64 bits, each: the column of the block's first edge, and that of its first
  head, 0 if it has none.
- The groups: for a group with heads a word with a bit for each, then 32 entries of equally many bits, which
  are as many words as an entry has bits.

An entry is the difference of a column from the one before.  That of a head is its difference from the
previous head, so that rows whose first neighbours are alike stay short; 2 d stands for d and -2 d - 1 for a
negative d.  The first head of a block and, unless it is a head, its first edge have entry 0; so have the
missing edges of the last block.  Differences are taken modulo the size of a column, so any rows can be
packed, but only ascending ones become small.

The first column makes blocks independent of one another; the sums of a block take one scan for each group.

Pages are unpacked as a whole.  Where a few rows are read at a time, each column must be found without
those before it, for which columns are "framed" instead.  A block of 1024 edges then is:

- For each of its 32 groups a frame: the least column of the group, 1 word, or 2 if columns have 64 bits; and
  a word with the bits of an entry in its lower 8 bits, and above them the first word of the entries in the
  block.
- The groups: 32 entries of equally many bits, each the difference of a column from the least one.  Missing
  edges of the last block have the column of the last edge.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rapids_trav.csr.array import Array

BLOCK_EDGES = 1024
WORD = np.dtype(np.uint32)
START = np.dtype(np.int64)
MOST_SHARE = 0.75  # of the columns' bytes; packed columns that take more are not worth unpacking


@dataclass(frozen=True)
class PackedColumns:
    """The packed or framed columns of an adjacency."""

    starts: np.ndarray  # int64, (n_blocks + 1,): first word of each block, and the number of words
    words: np.ndarray  # uint32

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The arrays, as `page` returns slices of them."""
        return self.starts, self.words

    def page(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the starts and the words of the blocks that hold the edges `first` to `last - 1`."""
        begin, end = blocks_of(first, last)
        return self.starts[begin:end], self.words[self.starts[begin] : self.starts[end]]

    def page_bytes(self, first: int, last: int) -> int:
        """Return the bytes of `page`."""
        begin, end = blocks_of(first, last)
        return (end - begin) * START.itemsize + int(self.starts[end] - self.starts[begin]) * WORD.itemsize


class PackedHome:
    """Keeper of the packed or framed columns of one adjacency, from the first run that streams it on.

    They are None if they were not packed yet, or would take too many bytes.
    """

    def __init__(self) -> None:
        self.columns: PackedColumns | None = None
        self._settled = False
        self._lock = threading.Lock()

    def get(self, pack: Callable[[], PackedColumns | None]) -> PackedColumns | None:
        """Return the columns, which the first caller packs."""
        with self._lock:
            if not self._settled:
                self.columns = pack()
                self._settled = True
        return self.columns

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays that are kept."""
        return () if self.columns is None else self.columns.parts


def blocks_of(first: int, last: int) -> tuple[int, int]:
    """Return the first block that holds one of the edges `first` to `last - 1`, and the first after them."""
    begin = first // BLOCK_EDGES
    return begin, max(-(-last // BLOCK_EDGES), begin) if last > first else begin
