"""Communication between GPU ranks through the host, over a communicator that sends arrays of NumPy.

NCCL refuses ranks that share a GPU.  They use this communicator, which is slower but gives the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.engines.multigpu.communicator import Array, Communicator, Form, Met, Note, Traffic
from rapids_trav.frames.columns import move


class StagedCommunicator(Communicator):
    """Communicator of one rank that works on a GPU, over the one of the same rank for arrays on the host."""

    def __init__(self, host: Communicator) -> None:
        self.rank, self.size, self.deadline = host.rank, host.size, host.deadline
        self.xp = cupy
        self._host = host

    def check(self) -> None:
        self._host.check()

    def abort(self, reason: str, rank: int | None = None) -> None:
        self._host.abort(reason, rank)

    @property
    def traffic(self) -> Traffic:  # type: ignore[override]
        return self._host.traffic

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        place = group.index(self.rank)
        copies: dict[int, Array] = {}  # by the array's id: one array may go to many ranks
        for array in arrays:
            if id(array) not in copies:
                copies[id(array)] = move(array, np)
        received = self._host.exchange(group, [copies[id(array)] for array in arrays], known)
        return [arrays[k] if k == place else cupy.asarray(array) for k, array in enumerate(received)]

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        words = None if note.words is None else move(note.words, np)
        met = self._host.meet(values, replace(note, words=words))
        return Met(met.sums, met.numbers, [cupy.asarray(words) for words in met.notes])
