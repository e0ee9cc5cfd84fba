"""Edges in internal ids, dealt to ranks: each rank gets those that lead to its vertices, on its own device.

Vertices are numbered by descending degree, so an internal id is a place in that order (`dealing`).  Ranks are
built one after another, so that only the edges of one rank at a time exist twice in addition to the given
edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.build.in_memory import count_ids
from rapids_trav.engines.interface import Chunks
from rapids_trav.engines.multigpu.one_launch.dealing import Dealing
from rapids_trav.engines.multigpu.one_launch.lean_rows import lean_rows
from rapids_trav.engines.multigpu.one_launch.peers import copied_to, synchronize
from rapids_trav.engines.multigpu.one_launch.rows import RankRows, rows_of

_AT_ONCE = 1 << 24  # edges of which a rank's are chosen together, so that temporary arrays stay small


def deal_edges(
    chunks: Chunks,
    dealing: Dealing,
    devices: Sequence[int],
    *,
    symmetric: bool = False,
    transpose: bool = False,
    lean: bool = False,
) -> list[RankRows]:
    """Build the rows of each rank on its device, from edges on the current one.

    Parameters
    ----------
    chunks : callable
        Each call yields all edges u -> v as pairs of arrays.
    symmetric, transpose : bool
        Whether searches follow the edges both ways, or from v to u.
    lean : bool
        Whether ranks have the rows of their own vertices alone; only if `symmetric`.
    """
    degrees = None if symmetric else _out_degrees(chunks, dealing, transpose)
    rows = []
    for rank, device in enumerate(devices):
        of_this = partial(_on_device, device, chunks, dealing, rank, symmetric, transpose)
        if lean:
            rows.append(lean_rows(dealing, rank, device, of_this))
            synchronize(device)
            continue
        edges = list(of_this())
        of_rank = None if degrees is None else copied_to(device, degrees[rank])
        with cupy.cuda.Device(device):
            rows.append(rows_of(dealing, rank, edges, of_rank))
        synchronize(device)
        del edges
    return rows


def _on_device(
    device: int, chunks: Chunks, dealing: Dealing, rank: int, symmetric: bool, transpose: bool
) -> Iterator[tuple[Array, Array]]:
    """Yield the edges of a rank as `_of_rank` does, on its device."""
    for place, own in _of_rank(chunks, dealing, rank, symmetric, transpose):
        yield copied_to(device, place), copied_to(device, own)


def _of_rank(
    chunks: Chunks, dealing: Dealing, rank: int, symmetric: bool, transpose: bool
) -> Iterator[tuple[Array, Array]]:
    """Yield the places of the sources, and the numbers of the destinations, of a rank's edges."""
    n_ranks = dealing.n_ranks
    for u, v in chunks():
        if transpose:
            u, v = v, u
        for first in range(0, len(u), _AT_ONCE):
            source, destination = u[first : first + _AT_ONCE], v[first : first + _AT_ONCE]
            mine = destination % n_ranks == rank
            yield source[mine], destination[mine] // n_ranks
            if symmetric:  # a self-loop leads back to its vertex once
                mine = (source % n_ranks == rank) & (source != destination)
                yield destination[mine], source[mine] // n_ranks


def _out_degrees(chunks: Chunks, dealing: Dealing, transpose: bool) -> Array:
    """Count the edges that leave each vertex, by rank and number."""
    degree = cupy.zeros(dealing.n_ids, np.int64)
    for u, v in chunks():
        count_ids(v if transpose else u, degree)
    return cupy.ascontiguousarray(degree.reshape(dealing.each, dealing.n_ranks).T)
