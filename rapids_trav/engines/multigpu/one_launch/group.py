"""Ranks that search with a launch each, in one process or in several: their searches and their failures.

From its launch until the others are launched, a rank allocates no memory and loads no kernel, since either
may wait for a kernel that is already running, which in turn waits for the other ranks.  In one process one
thread launches all ranks (`LaunchGroup`).  Ranks of several processes, or threads (`Member`), synchronise on
the host before each search, when all of them have their memory and their kernel.  While its kernel runs, such
a rank asks its communicator whether another rank has failed; if so, it stops the kernel.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import cupy
import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.engines.cuda.runtime.loader import multiprocessors
from rapids_trav.engines.interface import BfsOptions, Search
from rapids_trav.engines.multigpu.communicator import DEADLINE, Communicator
from rapids_trav.engines.multigpu.one_launch.launch import NAP, Common, Launch, RankMemory
from rapids_trav.engines.multigpu.one_launch.peers import Card, Opened, gpu, turn
from rapids_trav.engines.multigpu.one_launch.rows import RankRows
from rapids_trav.engines.multigpu.one_launch.trace import STOPPED, RankLevel, verdict_of
from rapids_trav.errors import TravError, first_line


class LaunchGroup:
    """The ranks of a graph in one process, on GPUs that reach each other's memory.

    Ranks may share a device, if all their blocks fit there together; by default a launch has as many blocks
    as its rank has multiprocessors to itself.  `Common` has the deadline and `least_pull`.
    """

    def __init__(
        self,
        rows: Sequence[RankRows],
        devices: Sequence[int],
        *,
        blocks: int | None = None,
        deadline: float = DEADLINE,
        least_pull: int = 0,
    ) -> None:
        self.dealing = rows[0].dealing
        if not len(rows) == len(devices) == self.dealing.n_ranks:
            raise TravError(
                f"{self.dealing.n_ranks} ranks need rows and a device each, "
                f"not {len(rows)} and {len(devices)}."
            )
        self._lock = threading.Lock()
        edge = max((one.edge for one in rows), key=lambda dtype: dtype.itemsize)
        self.ranks = [
            RankMemory(one, edge, device, blocks or multiprocessors(device) // list(devices).count(device))
            for one, device in zip(rows, devices, strict=True)
        ]
        self.common = Common.of([rank.totals for rank in self.ranks], edge, deadline, least_pull)
        addresses = [rank.shared.data.ptr for rank in self.ranks]
        for rank in self.ranks:
            rank.meet(addresses)
        self._names = [f"GPU {device} (rank {number})" for number, device in enumerate(devices)]

    def search(self, sources: np.ndarray, options: BfsOptions) -> tuple[list[Search], list[list[RankLevel]]]:
        """Search from `sources`, distinct ids; return each rank's answer, and its levels if traced.

        Sources and targets are on the host.

        Raises a `RankError` if a rank did not answer in time, or the search was stopped.  Later searches are
        not affected.
        """
        with self._lock, turn([rank.device for rank in self.ranks]):
            launches = [Launch(rank, self.common, sources, options) for rank in self.ranks]
            try:
                for launch in launches:
                    launch.start()
                for rank in self.ranks:
                    rank.wait()
                seconds = self._check()
            except BaseException:  # a launch failed, a rank gave up, or the caller was interrupted
                self._end()
                raise
            found = [
                replace(launch.found, device_seconds=of_rank)
                for launch, of_rank in zip(launches, seconds, strict=True)
            ]
            return found, [launch.levels() for launch in launches]

    def stop(self) -> None:
        """End the search that runs, if any, which raises an error, and wait until it has ended."""
        requested = False
        while not self._lock.acquire(timeout=NAP):
            requested = True
            for rank in self.ranks:
                rank.request_stop()
        try:
            for rank in self.ranks if requested else ():  # it may have ended before that
                rank.forget()
        finally:
            self._lock.release()

    def _check(self) -> list[float]:
        """Return each rank's seconds, or raise the reason why a rank gave the search up."""
        outcomes = [rank.outcome() for rank in self.ranks]
        for outcome in outcomes:
            if (error := verdict_of(outcome.stop, self.common.deadline, self._names)) is not None:
                raise error
        return [outcome.seconds for outcome in outcomes]

    def _end(self) -> None:
        """End a search of which some ranks may still wait for others, and make the next one possible."""
        for rank in self.ranks:
            rank.request_stop()
        for rank in self.ranks:
            rank.stream.synchronize()
        for rank in self.ranks:
            rank.forget()


Made = TypeVar("Made")
_PATIENCE = 5.0  # seconds for which a rank that has been stopped waits for the reason


class Member:
    """One rank, on the current GPU; every rank makes it, and searches, at the same time.

    Raises a `TravError` on all ranks alike, if one of them does not reach another's memory, or has no room
    for memory that others reach; its message is a reason, in lower case.
    """

    def __init__(self, communicator: Communicator, rows: RankRows, *, least_pull: int = 0) -> None:
        gathered = communicator.gather_objects((gpu(), rows.edge.str))
        edge = max((np.dtype(edge) for _, edge in gathered), key=lambda dtype: dtype.itemsize)
        device = cupy.cuda.runtime.getDevice()
        sharing = [of for of, _ in gathered].count(gpu())
        blocks = max(1, multiprocessors(device) // sharing)
        self.rank = made_on_all(communicator, lambda: RankMemory(rows, edge, device, blocks))
        card = made_on_all(communicator, lambda: Card.of(self.rank.shared))
        cards, totals = zip(*communicator.gather_objects((card, self.rank.totals)), strict=True)
        self._opened = made_on_all(communicator, lambda: Opened(cards, rows.rank))
        self.common = Common.of(totals, edge, communicator.deadline, least_pull)
        self.rank.meet(self._opened.addresses)
        self._names = [f"rank {number}" for number in range(communicator.size)]

    def search(
        self, communicator: Communicator, sources: np.ndarray, options: BfsOptions
    ) -> tuple[Search, list[RankLevel]]:
        """Search from `sources`, distinct ids; return this rank's answer, and its levels if traced.

        Every rank calls it with the same sources and targets, which are on the host.

        Raises a `RankError` if another rank fails, is lost or does not answer in time; the ranks cannot
        search any more.
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
    with communicator.raising_together():
        try:
            made = make()
        except (TravError, MemoryError) as raised:
            raise TravError(first_line(raised)) from raised
    return made
