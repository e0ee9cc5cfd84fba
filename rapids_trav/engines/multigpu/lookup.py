"""Lookup of values of vertices that other ranks own, many at once, with one request and one reply."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import search_offsets
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.distinct import distinct
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_work import Array


def ask(
    communicator: Communicator, grid: Grid, xp: ModuleType, vertices: Array, columns: Sequence[Array]
) -> list[Array]:
    """Fetch values of vertices from their owners; every rank calls it.

    Parameters
    ----------
    communicator : Communicator
    grid : Grid
    xp : module
        numpy or cupy.
    vertices : int array
        Global ids; each is asked for once, however often it occurs.
    columns : sequence of int64 arrays
        The values of the vertices that this rank owns, by offset.

    Returns
    -------
    list of int64 arrays
        For each column the values of `vertices`.
    """
    everyone = tuple(range(grid.size))
    wanted, places = distinct(xp, vertices.astype(np.int64, copy=False))
    asked = communicator.exchange(everyone, _by_owner(grid, xp, wanted))
    answers = [xp.concatenate([column[offsets] for column in columns]) for offsets in asked]
    received = communicator.exchange(everyone, answers)
    halves = [answer.reshape(len(columns), -1) for answer in received]
    return [xp.concatenate([half[k] for half in halves])[places] for k in range(len(columns))]


def send_to_owners(communicator: Communicator, grid: Grid, xp: ModuleType, vertices: Array) -> Array:
    """Send vertices to their owners; return the offsets of the vertices that this rank receives."""
    wanted, _ = distinct(xp, vertices.astype(np.int64, copy=False))
    return xp.concatenate(communicator.exchange(tuple(range(grid.size)), _by_owner(grid, xp, wanted)))


def offsets_in_ranges(xp: ModuleType, ascending: Array, bounds: np.ndarray) -> list[Array]:
    """Cut ascending numbers into ranges and subtract the first number of each; drop numbers outside.

    Range r goes from `bounds[r]` up to but not including `bounds[r + 1]`.  `bounds` is on the host.
    """
    cuts = search_offsets(ascending, bounds, xp=xp).tolist()
    firsts = bounds[:-1].tolist()
    return [ascending[begin:end] - first for first, (begin, end) in zip(firsts, pairwise(cuts), strict=True)]


def _by_owner(grid: Grid, xp: ModuleType, ascending: Array) -> list[Array]:
    """Cut ascending vertices into the offsets of each owner."""
    return [of.astype(np.int32) for of in offsets_in_ranges(xp, ascending, grid.firsts)]
