"""Rows of an answer that stay on their ranks, in frames whose indices continue from rank to rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.frames.columns import Frame, move
from rapids_trav.ids.maps import Column


class RankAnswers:
    """Collector of one frame for each batch of an answer; all ranks have the same number of batches.

    The rows of the whole answer are the rows of the first batch, rank by rank, then of the second, and so
    on.

    Parameters
    ----------
    rank : Rank
    firsts : int64 array on the host, (ranks + 1,), optional
        First place that each rank holds, and the number of all, if the answer has a row for each vertex of
        each search.  The ranks then need not exchange how many rows they have.
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
