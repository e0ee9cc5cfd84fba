"""Partitions of the edges on their ranks, with both ends of each edge as internal ids, and counts of them.

All edges from one source to one destination are on the same rank, so repeated edges are counted locally.  A
self-loop is on the rank that owns its vertex, since that rank is in the row of its destination and the column
of its source.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from rapids_trav.csr.adjacency import search_offsets
from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.numbering import Numbering, counted
from rapids_trav.edges.sources import EdgeSource
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_work import SHIFT
from rapids_trav.engines.multigpu.partition import Part
from rapids_trav.engines.multigpu.records import BITMAP, pack
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import Frame, move
from rapids_trav.frames.decimals import Weight
from rapids_trav.ids.maps import Library
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.filters import NullFlagsError, Where, check_name, flags_of, refuse_mask, resolved

Ends = tuple[Array, Array]


@dataclass
class RankSource(EdgeSource):
    """Columns and library of the partitions, which are read by `RankRows` alone."""

    columns: list[Hashable]
    library: Library


@dataclass
class RankRows(RowReader):
    """Edge rows of one rank; it has the part of `storage.edge_rows.RowReader` that searches use."""

    source: RankSource
    src: list[Hashable]
    dst: list[Hashable]
    partitions: Sequence[tuple[int, Frame]]  # each with its number among the partitions of all ranks
    ends: list[Ends] | None  # of the edges of each partition, as internal ids; None if they are not kept
    numbering: Numbering

    weight: Weight | None = None
    weight_advice: str = "build it in one process, since graphs on many workers have no weights"

    @property
    def nbytes(self) -> int:
        """Bytes of the ends."""
        return sum(end.nbytes for ends in self.ends or () for end in ends)

    def check_kept(self, what: str) -> None:
        """Raise a TravError if the rows, which a question needs, are not kept."""
        if self.ends is None:
            raise TravError(
                f"{what} reads the edges again, but the graph was built with keep_rows=False: build it with "
                f"keep_rows=True."
            )

    def resolve(self, where: object) -> Where | None:
        """Return a filter in the form that the graph uses; raise a TravError if it cannot be applied."""
        if where is None:
            return None
        refuse_mask(where)
        check_name(where)
        self.check_kept(f"where={written(where)}")  # first: without the rows only the ends are known
        return resolved(where, self.source.columns)

    def filtered(self, where: Hashable) -> Iterator[Ends]:
        """Return both ends of the edges whose `where` is true; every rank calls it."""
        assert self.ends is not None
        return ((u[kept], v[kept]) for (u, v), kept in zip(self.ends, self._kept(where), strict=True))

    def inside(
        self, chosen: Array, where: Hashable | None = None, rows_at_once: int | None = None
    ) -> list[tuple[int, Frame]]:
        """Return the rows of each partition whose ends are both chosen, with its number; collective.

        `chosen` has a flag for each vertex owned here.
        """
        assert self.ends is not None
        xp = self.numbering.rank.xp
        words = self.chosen_everywhere(chosen)
        masks = [None] * len(self.ends) if where is None else self._kept(where)
        found = []
        for (number, frame), (u, v), kept in zip(self.partitions, self.ends, masks, strict=True):
            both = has(words, u) & has(words, v)
            rows = xp.flatnonzero(both if kept is None else both & kept)
            found.append((number, frame.take(move(rows, self.source.library.xp))))
        return found

    def _kept(self, where: Hashable) -> list[Array]:
        """Return a flag for each row of each partition; raise on all ranks if any flags cannot be read."""
        masks, errors = [], []
        for _, frame in self.partitions:
            try:
                flags = flags_of(frame, where, self.source.library, 0)
                masks.append(move(flags, self.numbering.rank.xp))
            except TravError as refused:
                errors.append(refused.with_traceback(None))
        _refuse(
            [
                error
                for of_rank in self.numbering.rank.communicator.gather_objects(errors)
                for error in of_rank
            ]
        )
        return masks

    def chosen_everywhere(self, chosen: Array) -> Array:
        """Return the bitmap of the vertices that any rank has chosen.

        Up to some thousand ranks, a bit for each vertex of the graph takes less memory than the ends of this
        rank's edges.  Each rank's part is sent as a list or a bitmap, whichever is shorter.
        """
        rank, block = self.numbering.rank, self.numbering.grid.block
        xp, work = rank.xp, rank.work
        message = pack(work, xp.flatnonzero(chosen).astype(np.int32), block, "auto")
        gathered = rank.communicator.all_gather(rank.everyone, message)
        words = [of if of.dtype == BITMAP else work.to_words(of, block // 32) for of in gathered]
        return xp.concatenate(words)


def _refuse(errors: Sequence[TravError]) -> None:
    """Raise the first error, if there is one; nulls are counted over the partitions of all ranks."""
    if not errors:
        return
    first = errors[0]
    if isinstance(first, NullFlagsError):
        nulls = sum(error.nulls for error in errors if isinstance(error, NullFlagsError))
        raise NullFlagsError(first.where, nulls, first.of_objects)
    raise first


def has(words: Array, vertices: Array) -> Array:
    """Return whether each vertex has its bit set."""
    return (words[vertices >> 5] >> (vertices & 31).astype(np.uint32)) & np.uint32(1) != 0


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
