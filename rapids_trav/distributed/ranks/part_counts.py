"""Counts of a rank's edges: degrees, self-loops and repeated edges.

All edges from one source to one destination are on the same rank, so repeated edges are counted locally.  A
self-loop is on the rank that owns its vertex, since that rank is in the row of its destination and the column
of its source.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import numpy as np

from rapids_trav.csr.adjacency import search_offsets
from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.numbering import counted
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_work import SHIFT
from rapids_trav.engines.multigpu.partition import Part

CHUNK = 1 << 24  # edges that are processed at once, unless one vertex has more


def degrees(communicator: Communicator, part: Part, direction: str) -> Array:
    """Return the degree of each vertex of this rank's block, int64; every rank calls it.

    A self-loop is one edge, and counts once if the direction is "both".
    """
    row, column = part.grid.place(part.rank)
    direction = direction if part.directed else "out"
    total = part.work.xp.zeros(part.grid.block, np.int64)
    if direction != "in":
        total += _added(communicator, part.grid.ranks_of_column(column), part, part.by_source.offsets)
    if direction != "out":
        total += _added(communicator, part.grid.ranks_of_row(row), part, part.by_destination.offsets)
    if direction == "both":
        total -= self_loops(part)
    return total


def _added(communicator: Communicator, group: Sequence[int], part: Part, offsets: Array) -> Array:
    """Return the degrees of this rank's vertices, summed over a group of ranks that share their rows."""
    counts = part.work.xp.diff(offsets).astype(np.int64)
    received = communicator.exchange(group, list(counts.reshape(len(group), -1)))
    return reduce(add, received)


def self_loops(part: Part) -> Array:
    """Return the number of self-loops at each vertex of this rank's block, int64."""
    xp, block = part.work.xp, part.grid.block
    row, column = part.grid.place(part.rank)
    found = xp.zeros(block, np.int64)
    begin, end = row * block, (row + 1) * block  # the rows of this rank's block
    for source, target in rows_of(part, begin, end):
        own, count = counted(xp, source[source - begin == target - column * block])
        found[own - begin] += count
    return found


def count_self_loops(communicator: Communicator, part: Part) -> int:
    """Return the number of self-loops on all ranks."""
    return communicator.sum([int(self_loops(part).sum())])[0]


def count_duplicates(communicator: Communicator, part: Part) -> int:
    """Return the number of edges on all ranks that repeat another.

    Undirected edges are stored in both directions, self-loops once; each repeated edge counts once.
    """
    xp = part.work.xp
    row, column = part.grid.place(part.rank)
    loops = others = 0
    for source, target in rows_of(part, 0, part.grid.local_columns):
        keys = xp.sort(source.astype(np.int64) << SHIFT | target)
        again = keys[1:][keys[1:] == keys[:-1]]
        local_source, local_target = again >> SHIFT, again & (2**SHIFT - 1)
        looped = part.grid.source(column, local_source) == part.grid.destination(row, local_target)
        loops += int(looped.sum())
        others += len(again) - int(looped.sum())
    loops, others = communicator.sum([loops, others])
    return loops + (others if part.directed else others // 2)


def rows_of(part: Part, begin: int, end: int) -> Iterator[tuple[Array, Array]]:
    """Yield the local sources and destinations of the edges of a range of rows, whole rows at a time."""
    xp, edges = part.work.xp, part.by_source
    offsets = edges.offsets[begin : end + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    wanted = np.arange(first, last, CHUNK)[1:]
    cuts = search_offsets(offsets, wanted, "right", xp) - 1
    bounds = sorted({0, *cuts.tolist(), end - begin})
    for top, bottom in itertools.pairwise(bounds):
        of_rows = offsets[top : bottom + 1]
        at = xp.arange(int(of_rows[0]), int(of_rows[-1]), dtype=np.int64)
        if len(at):
            source = xp.searchsorted(of_rows, at, side="right") - 1 + top + begin
            yield source, edges.targets[int(at[0]) : int(at[-1]) + 1]
