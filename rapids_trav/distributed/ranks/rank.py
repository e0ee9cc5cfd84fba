"""One rank: its connection with the others, where it works, and the library of its frames."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_work import LocalWork
from rapids_trav.frames.columns import move
from rapids_trav.ids.maps import Library


@dataclass(frozen=True)
class Rank:
    """What rank code is handed.

    Attributes
    ----------
    communicator : Communicator
    work : LocalWork
    library : PandasFrames or CudfFrames
    """

    communicator: Communicator
    work: LocalWork
    library: Library

    @property
    def rank(self) -> int:
        return self.communicator.rank

    @property
    def size(self) -> int:
        return self.communicator.size

    @property
    def xp(self) -> ModuleType:
        return self.work.xp

    @property
    def everyone(self) -> tuple[int, ...]:
        return tuple(range(self.size))


def all_gather_objects(rank: Rank, value: object) -> list[Any]:
    """Return the objects of all ranks."""
    data = pickle.dumps(value)
    data += b"\0" * (-len(data) % 4)
    words = rank.xp.asarray(np.frombuffer(data, np.int32))
    found = rank.communicator.all_gather(rank.everyone, words)
    return [pickle.loads(move(part, np).tobytes()) for part in found]
