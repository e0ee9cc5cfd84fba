"""Rows of an answer that stay on their ranks, in frames whose indices continue from rank to rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.frames.columns import Frame, move
from rapids_trav.ids.maps import Column


class RankAnswers:
    """Collector of one frame for each batch of an answer; all ranks have the same number of batches.

    The rows of the whole answer are those of the first batch, rank by rank, then those of the second, and so
    on.
    """

    together = False  # each batch is a frame of its own

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        self._frames: list[Frame] = []
        self.n_rows = 0

    def add(self, columns: dict[str, Column], n_rows: int) -> None:
        """Add the rows of the next batch."""
        self._frames.append(self._rank.library.frame(columns))
        self.n_rows += n_rows

    def frame(self) -> list[Frame]:
        """Return the frames, indexed by row number in the whole answer; every rank calls it."""
        lengths = [len(frame) for frame in self._frames]
        for frame, first in zip(self._frames, first_rows(self._rank, lengths), strict=True):
            frame.index = type(frame.index)(first, first + len(frame))
        return self._frames


def first_rows(rank: Rank, lengths: Sequence[int]) -> list[int]:
    """Return the number of the first row of each of this rank's frames; every rank calls it."""
    mine = rank.xp.asarray(np.array(lengths, np.int64))
    forms = [(mine.dtype, len(mine))] * rank.size
    received = rank.communicator.all_gather(rank.everyone, mine, forms)
    told = np.stack([move(of, np) for of in received], axis=1)
    ends = np.cumsum(told.reshape(-1)).reshape(told.shape)  # batch after batch, within it rank after rank
    return (ends - told)[:, rank.rank].tolist()
