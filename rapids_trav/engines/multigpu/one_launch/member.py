"""One rank of searches whose ranks are launched by several processes, or by several threads of one.

Ranks meet on the host before each search, when all of them have their memory and their kernel.  From then to
the end of its launch a rank allocates nothing, since an allocation may wait for a running kernel, which in
turn waits for the other ranks.  While its kernel runs, a rank asks its communicator whether another rank has
failed; if so, it stops the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import cupy
import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.engines.cuda.runtime.loader import multiprocessors
from rapids_trav.engines.interface import BfsOptions, Search
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.objects import gather_objects, raise_together
from rapids_trav.engines.multigpu.one_launch.handles import Card, Opened, gpu
from rapids_trav.engines.multigpu.one_launch.launch import Common, Launch, RankMemory
from rapids_trav.engines.multigpu.one_launch.rows import RankRows
from rapids_trav.engines.multigpu.one_launch.trace import RankLevel
from rapids_trav.engines.multigpu.one_launch.verdict import STOPPED, verdict_of
from rapids_trav.errors import TravError, first_line

Made = TypeVar("Made")
_PATIENCE = 5.0  # seconds for which a rank that has been stopped waits for the reason


class Member:
    """One rank, which has met the others; every rank makes it, and searches, at the same time.

    Parameters
    ----------
    communicator : Communicator
    rows : RankRows
        The rows of this rank, on the current GPU.
    least_pull : int
        With at most this many edges in the frontier, a search does not change to pulling.

    Raises
    ------
    TravError
        On all ranks alike, if one of them does not reach another's memory, or has no room for memory that
        others reach; its message is a reason, in lower case.
    """

    def __init__(self, communicator: Communicator, rows: RankRows, *, least_pull: int = 0) -> None:
        gathered = gather_objects(communicator, (gpu(), rows.edge.str), cupy)
        edge = max((np.dtype(edge) for _, edge in gathered), key=lambda dtype: dtype.itemsize)
        device = cupy.cuda.runtime.getDevice()
        sharing = [of for of, _ in gathered].count(gpu())
        blocks = max(1, multiprocessors(device) // sharing)
        self.rank = made_on_all(communicator, lambda: RankMemory(rows, edge, device, blocks))
        card = made_on_all(communicator, lambda: Card.of(self.rank.shared))
        cards, totals = zip(*gather_objects(communicator, (card, self.rank.totals), cupy), strict=True)
        self._opened = made_on_all(communicator, lambda: Opened(cards, rows.rank))
        self.common = Common.of(totals, edge, communicator.deadline, least_pull)
        self.rank.meet(self._opened.addresses)
        self._names = [f"rank {number}" for number in range(communicator.size)]

    def search(
        self, communicator: Communicator, sources: np.ndarray, options: BfsOptions
    ) -> tuple[Search, list[RankLevel]]:
        """Search from `sources`, distinct ids; return this rank's answer, and its levels if traced.

        Every rank calls it with the same sources and targets, which are on the host.

        Raises
        ------
        RankError
            If another rank fails, is lost or does not answer in time; the ranks cannot search any more.
        """
        launch = Launch(self.rank, self.common, sources, options)
        communicator.sum([0])  # all are ready
        try:
            launch.start()
            self.rank.wait(communicator.check)
        except BaseException:
            with suppress(cupy.cuda.runtime.CUDARuntimeError):  # memory of a rank that is lost may be gone
                self.rank.request_stop()  # and the kernel stops the others
                self.rank.stream.synchronize()
            raise
        stop, seconds = self.rank.outcome()
        if (error := verdict_of(stop, self.common.deadline, self._names)) is not None:
            if stop == STOPPED:  # by a rank whose reason is on its way
                _wait_for_reason(communicator)
            communicator.abort(str(error).partition(":")[0], error.rank)
            communicator.check()  # raises the first reason, which another rank may have given
        return replace(launch.found, device_seconds=seconds), launch.levels()

    def release(self) -> Array:
        """Close the memory of other ranks; return that of this one, which they may still read."""
        self._opened.close()
        return self.rank.shared


def _wait_for_reason(communicator: Communicator) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        communicator.check()
        time.sleep(_PATIENCE / 1000)


def made_on_all(communicator: Communicator, make: Callable[[], Made]) -> Made:
    """Return what `make` returns; if memory is lacking or it raises a `TravError` on a rank, raise on all."""
    made: list[Made] = []
    error = None
    try:
        made.append(make())
    except (TravError, MemoryError) as raised:
        error = TravError(first_line(raised))
    raise_together(communicator, error, cupy)
    return made[0]
