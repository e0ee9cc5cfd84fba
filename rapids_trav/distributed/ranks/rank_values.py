"""Vertex values distributed over ranks: each rank has the values of the vertices that it owns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import numpy as np
import numpy.typing as npt

from rapids_trav.algorithms.interface import Counted
from rapids_trav.algorithms.results import level_counts, levels_of, levels_of_many
from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.frames.columns import Array, Frame, move
from rapids_trav.ids.maps import Column


@dataclass(frozen=True)
class RankValues:
    """Values of the vertices of one rank; an `algorithms.interface.VertexValues`.

    Internal ids identify vertices on every rank.  Results about all vertices are returned on all ranks.
    """

    numbering: Numbering
    spread = True

    @property
    def n(self) -> int:
        return self.numbering.n

    @property
    def n_here(self) -> int:
        return self.numbering.n_held

    @property
    def dtype(self) -> np.dtype:
        return self.numbering.grid.vertex_dtype

    def filled(self, value: float, dtype: npt.DTypeLike) -> Array:
        return self.numbering.rank.xp.full(self.numbering.n_owned, value, dtype=dtype)

    def flags(self, vertices: Array | None = None) -> Array:
        if vertices is None:
            return self.filled(True, bool)
        flags = self.filled(False, bool)
        own = vertices[self._owner(vertices) == self.numbering.rank.rank]
        flags[own % self.numbering.grid.block] = True
        return flags

    def places(self, dtype: npt.DTypeLike) -> Array:
        return self.numbering.place_of_owned.astype(dtype)

    def in_order(self, values: Array) -> Array:
        return self.numbering.in_order(values)

    def both_in_order(self, values: Array, others: Array | None) -> tuple[Array, Array | None]:
        if others is None:
            return self.in_order(values), None
        return self.numbering.both_in_order(values, others)

    def placed(self, values: Array) -> Array:
        return self.numbering.placed(values)

    def at(self, places: Array | None = None) -> Array:
        held = self.numbering.internal_of_held
        return held if places is None else held[places]

    def chosen(self, flags: Array) -> Array:
        return self.at(self.numbering.rank.xp.flatnonzero(self.in_order(flags)))

    def reached(self, distance: Array) -> tuple[Array, Array]:
        here = self.in_order(distance)
        places = self.numbering.rank.xp.flatnonzero(here >= 0)
        return places, here[places]

    def picked(self, values: Array, vertices: Array) -> Array:
        xp = self.numbering.rank.xp
        rows = values.shape[:-1]
        k = int(np.prod(rows, dtype=np.int64))
        flat = values.reshape(k, values.shape[-1])
        every = xp.tile(vertices, k)
        row = xp.repeat(xp.arange(k), len(vertices))
        found = self._from_owners(every, lambda mine, offsets: flat[row[mine], offsets])
        return found.reshape(*rows, len(vertices))

    def most(self, values: Array) -> int:
        """Return the largest value on all ranks; -1 if there are none."""
        xp = self.numbering.rank.xp
        largest = values.max() if values.size else -1
        gathered = self._gathered(xp.asarray([largest]).astype(np.int64))
        return max(int(of[0]) for of in gathered)

    def count_levels(self, distance: Array, n_bins: int, at_once: int) -> Counted:
        counts = level_counts(self.numbering.rank.xp, distance[None, :], n_bins)
        return levels_of(self.numbering.rank.xp, self._summed(counts)[0])

    def count_many_levels(self, distance: Array, n_bins: int) -> tuple[Array, Counted]:
        counts = level_counts(self.numbering.rank.xp, distance, n_bins)
        return levels_of_many(self.numbering.rank.xp, self._summed(counts))

    def walk(self, predecessor: Array, searches: Array, targets: Array) -> tuple[Array, Array]:
        """Follow all paths back, one step at a time on all ranks; owners supply the predecessors."""
        xp = self.numbering.rank.xp
        entry, vertex, row = xp.arange(len(targets)), targets.astype(self.dtype), searches
        steps = []
        while len(vertex):
            steps.append((entry, vertex))
            before = self._from_owners(vertex, partial(_before, predecessor, row))
            alive = before >= 0
            entry, vertex, row = entry[alive], before[alive], row[alive]
        lengths = xp.zeros(len(targets), np.int64)
        if not len(targets):  # CuPy cannot scan an empty array
            return lengths, targets.astype(self.dtype)
        for entries, _ in steps:
            lengths[entries] += 1
        ends = xp.cumsum(lengths)
        visited = xp.empty(int(ends[-1]), self.dtype)
        for step, (entries, vertices) in enumerate(steps):
            visited[ends[entries] - 1 - step] = vertices
        return lengths, visited

    def _owner(self, vertices: Array) -> Array:
        return self.numbering.grid.owner(vertices)

    def _from_owners(self, vertices: Array, own: Callable[[Array, Array], Array]) -> Array:
        """Return a value of each of these vertices, the same on all ranks; each rank supplies those it owns.

        `own` is called with the positions of the vertices that this rank owns, and their offsets.
        """
        xp, owner = self.numbering.rank.xp, self._owner(vertices)
        mine = xp.flatnonzero(owner == self.numbering.rank.rank)
        gathered = self._gathered(own(mine, vertices[mine] % self.numbering.grid.block))
        values = xp.empty(len(vertices), gathered[0].dtype)
        for rank, part in enumerate(gathered):
            values[xp.flatnonzero(owner == rank)] = part
        return values

    def _summed(self, counts: Array) -> Array:
        gathered = self._gathered(counts.reshape(-1))
        return reduce(add, gathered).reshape(counts.shape)

    def _gathered(self, array: Array) -> list[Array]:
        return self.numbering.rank.communicator.all_gather(self.numbering.rank.everyone, array)


def _before(predecessor: Array, searches: Array, mine: Array, offsets: Array) -> Array:
    return predecessor[searches[mine], offsets]


class RankAnswers:
    """Collector of one frame for each batch of an answer; all ranks have the same number of batches.

    The rows of the whole answer are the rows of the first batch, rank by rank, then of the second, and so on.
    If it has a row for each vertex of each search, `firsts` is that of `Numbering`, and the ranks need not
    exchange how many rows they have.
    """

    together = False  # each batch is a frame of its own

    def __init__(self, rank: Rank, firsts: np.ndarray | None = None) -> None:
        self._rank = rank
        self._firsts = firsts
        self._frames: list[Frame] = []
        self.n_rows = 0

    def add(self, columns: dict[str, Column], n_rows: int) -> None:
        """Add the rows of the next batch."""
        self._frames.append(self._rank.library.frame(columns))
        self.n_rows += n_rows

    def frame(self) -> list[Frame]:
        """Return the frames, indexed by row number in the whole answer; every rank calls it."""
        lengths = [len(frame) for frame in self._frames]
        firsts = first_rows(self._rank, lengths) if self._firsts is None else self._whole(lengths)
        for frame, first in zip(self._frames, firsts, strict=True):
            frame.index = type(frame.index)(first, first + len(frame))
        return self._frames

    def _whole(self, lengths: Sequence[int]) -> list[int]:
        """Return the number of the first row of each frame, with a row for each vertex and search."""
        assert self._firsts is not None
        begin, end = self._firsts[self._rank.rank : self._rank.rank + 2].tolist()
        found, before = [], 0
        for length in lengths:
            searches = length // max(end - begin, 1)  # of a rank that holds no vertex, unknown and not needed
            found.append(before + searches * begin)
            before += searches * int(self._firsts[-1])
        return found


def first_rows(rank: Rank, lengths: Sequence[int]) -> list[int]:
    """Return the number of the first row of each of this rank's frames; every rank calls it."""
    mine = rank.xp.asarray(np.array(lengths, np.int64))
    forms = [(mine.dtype, len(mine))] * rank.size
    received = rank.communicator.all_gather(rank.everyone, mine, forms)
    counts = np.stack([move(of, np) for of in received], axis=1)
    ends = np.cumsum(counts.reshape(-1)).reshape(counts.shape)  # batch after batch, within it rank after rank
    return (ends - counts)[:, rank.rank].tolist()
