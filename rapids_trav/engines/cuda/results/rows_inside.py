"""The rows of an edge list with both ends among some vertices; see `kernels/rows_inside.cu`."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime import loader

_WARPS = loader.BLOCK // 32  # of a block
_FEWEST_SLICES, _MOST_SLICES = 8, 64  # blocks above each other, so that a hub's rows are not read by one warp


def rows_inside(
    index: Adjacency, numbers: Array, distance: Array, sources: Array, most_read: int
) -> Array | None:
    """Return the numbers of the rows with both ends chosen, ascending.

    Returns None if the chosen vertices have more than `most_read` rows.

    Parameters
    ----------
    index : Adjacency
        Destinations of the rows by source; `numbers` has the number of the row of each entry.
    distance : int32 array, (n,)
        0 or more at the chosen vertices, else -1.
    sources : vertex array
        The chosen vertices.
    """
    rows = (index.row_offsets, index.column_indices)
    sources = sources.astype(index.column_indices.dtype, copy=False)
    chosen = (distance, sources, len(sources))
    kernels = loader.load_for("rows_inside.cu", index)
    counters = cupy.zeros(3, np.uint64)
    grid = _grid(len(sources))
    kernels.launch_grid("count_inside", grid, *rows, *chosen, counters)
    n_read, n_inside, _ = map(int, counters.get())
    if n_read > most_read:
        return None
    listed = cupy.empty(n_inside, numbers.dtype)
    if n_inside:
        kernels.launch_grid("list_inside", grid, *rows, numbers, *chosen, counters, listed)
        listed.sort()
    return listed


def _grid(n_sources: int) -> tuple[int, int]:
    """Return a grid that keeps the device busy: blocks that divide the sources, and blocks in each column."""
    most = loader.most_blocks()
    across = max(min(-(-n_sources // _WARPS), most), 1)
    return across, min(max(most // across, _FEWEST_SLICES), _MOST_SLICES)
