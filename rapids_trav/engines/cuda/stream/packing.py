"""Packing of an adjacency's columns on the GPU, part by part, into pinned host memory; see `csr/packed.py`.

The columns cross the link twice: once to find the size of the result, so that exactly this much host memory
is allocated, and once to be packed.
"""

from __future__ import annotations

from collections.abc import Callable

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, search_offsets
from rapids_trav.csr.packed import BLOCK_EDGES, MOST_SHARE, START, WORD, PackedColumns, blocks_of
from rapids_trav.engines.cuda.runtime.loader import Kernels, grid_of, load
from rapids_trav.engines.cuda.runtime.memory import to_device, to_host
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.program import OFFSET_SHARE, packing_bytes
from rapids_trav.utilities import machine

MOST_EDGES = 1 << 26  # at a time: copies of 256 MB keep the link busy
WARP, GROUPS = 32, 32  # threads for a block, and words of its heads
PACKED, FRAMED = "packed.cu", "framed.cu"  # the kernels of each format


def packed_columns(adjacency: Adjacency, budget: Budget, form: str = PACKED) -> PackedColumns | None:
    """Return the packed or framed columns of an adjacency of host arrays.

    None means that they would take more than MOST_SHARE of the columns' bytes, or that there is too little
    memory: on the GPU for a part, or on the host for the result.
    """
    n_edges, column = adjacency.n_edges, adjacency.column_indices.dtype.itemsize
    n_blocks = blocks_of(0, n_edges)[1]
    at_once = min(_blocks_within(budget.free, column), MOST_EDGES // BLOCK_EDGES, n_blocks)
    if at_once <= 0:
        return None
    with budget.hold(packing_bytes(at_once, BLOCK_EDGES, column), "edges while they are packed"):
        try:
            return _packed(adjacency, at_once, form)
        except MemoryError:  # the free memory of the GPU may be fragmented
            return None


def _packed(adjacency: Adjacency, at_once: int, form: str) -> PackedColumns | None:
    """Pack the columns, `at_once` blocks at a time."""
    packer, n_edges = _Packer(adjacency, at_once, form), adjacency.n_edges
    n_blocks = blocks_of(0, n_edges)[1]
    starts = _pinned(n_blocks + 1, START)
    starts[0] = 0
    for block in range(0, n_blocks, at_once):
        packer.measure(block, starts[block + 1 : block + at_once + 1])
    np.cumsum(starts, out=starts)
    if starts.nbytes + int(starts[-1]) * WORD.itemsize > MOST_SHARE * adjacency.column_indices.nbytes:
        return None
    words = _pinned(int(starts[-1]), WORD)
    for block in range(0, n_blocks, at_once):
        own = starts[block : block + at_once + 1]
        packer.pack(block, own, words[own[0] : own[-1]])
    return PackedColumns(starts, words)


def prepared_unpack(
    kernels: Kernels, starts: Array, words: Array, edges: tuple[int, int], columns: int
) -> Callable[[], None]:
    """Return the launch that unpacks a page's edges, such that edge 0's column is at `columns`.

    `edges` are the first edge and the one after the last; there is at least one.
    """
    first, last = edges
    begin, end = blocks_of(first, last)
    grid, blocks = grid_of((end - begin) * WARP), (starts, words, end - begin, begin)
    return kernels.prepared("unpack_blocks", grid, *blocks, first, last, np.uint64(columns))


def _blocks_within(free_bytes: int, column: int) -> int:
    """Return the number of blocks that can be packed at once within half of the free memory."""
    none, one = (packing_bytes(n, BLOCK_EDGES, column) for n in (0, 1))
    return (free_bytes // 2 - none) // (one - none)


def _pinned(n: int, dtype: np.dtype) -> np.ndarray:
    """Allocate pinned memory, if it leaves the system its reserve."""
    if n * dtype.itemsize > machine.available_bytes() - machine.RESERVE:
        raise MemoryError
    return empty_pinned(n, dtype)


class _Packer:
    """The kernels that pack, over runs of blocks that are copied to the device."""

    def __init__(self, adjacency: Adjacency, at_once: int, form: str) -> None:
        self._adjacency, self._form = adjacency, form
        self._offsets = at_once * BLOCK_EDGES // OFFSET_SHARE  # read at a time
        self._kernels = load(form, 8 * adjacency.column_indices.dtype.itemsize)

    def measure(self, block: int, sizes: np.ndarray) -> None:
        """Write the words of each block from `block` on."""
        found = cupy.empty(len(sizes), START)
        self._run("measure_blocks", block, len(sizes), found)
        sizes[...] = found.get()

    def pack(self, block: int, starts: np.ndarray, words: np.ndarray) -> None:
        """Write the words of the blocks from `block` on, whose starts, and the next one, are given."""
        found, stream = cupy.empty(len(words), WORD), cupy.cuda.get_current_stream()
        self._run("pack_blocks", block, len(starts) - 1, cupy.asarray(starts), found)
        to_host(words, found, stream)
        stream.synchronize()

    def _run(self, name: str, block: int, n_blocks: int, *out: Array) -> None:
        first = block * BLOCK_EDGES
        last = min(first + n_blocks * BLOCK_EDGES, self._adjacency.n_edges)
        source = np.asarray(self._adjacency.column_indices[first:last])
        columns = cupy.empty(len(source), source.dtype)
        to_device(columns, source, cupy.cuda.get_current_stream())
        heads = (self._heads(first, last, n_blocks),) if self._form == PACKED else ()
        self._kernels.launch(name, n_blocks * WARP, columns, last - first, *heads, n_blocks, *out)

    def _heads(self, first: int, last: int, n_blocks: int) -> Array:
        """Return a bit for each edge, set if a row begins there."""
        offsets = self._adjacency.row_offsets
        begin, end = search_offsets(offsets, np.array([first, last])).tolist()
        heads = cupy.zeros(n_blocks * GROUPS, np.uint32)
        for row in range(begin, end, self._offsets):
            some = cupy.asarray(np.asarray(offsets[row : min(row + self._offsets, end)], np.int64))
            self._kernels.launch("mark_rows", len(some), some, len(some), first, last, heads)
        return heads
