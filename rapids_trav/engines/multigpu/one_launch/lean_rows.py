"""Lean rows, those of a rank's own vertices alone, built in little more memory than they take.

1. Count the entries of each row; the running sum is where each row begins.
2. Read the edges again, and put each entry at the next free place of its row.
3. Sort the rows, one range of rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.build.host_rows import place_edges
from rapids_trav.engines.cuda.build.in_memory import count_ids, edge_type, expand_rows
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.multigpu.one_launch.dealing import Dealing
from rapids_trav.engines.multigpu.one_launch.rows import RankRows, for_search
from rapids_trav.memory.model.spread import SORTED_AT_ONCE


def lean_rows(
    dealing: Dealing, rank: int, device: int, edges: Callable[[], Iterable[tuple[Array, Array]]]
) -> RankRows:
    """Make the rows of a rank of a symmetric graph on its device.

    Parameters
    ----------
    edges : callable
        Each call yields all edges that lead to the rank's vertices, as arrays on the device: the places, in
        the order by degree, of sources, and the numbers of own destinations.
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
