"""Functions that tests run on ranks; workers import them from this module."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref

import grid_graphs
import numpy as np
import pandas as pd

from rapids_trav.distributed.ranks.rank import Kept
from rapids_trav.engines.multigpu.communicator import aborting
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.errors import TravError, UnknownVertexError


def identity(state):
    return state.communicator.rank, state.device, os.getpid(), threading.current_thread().name


def add(state, *values, factor=1):
    return [factor * total for total in state.communicator.sum(values)]


def gathered(state, value):
    communicator = state.communicator
    arrays = communicator.all_gather(range(communicator.size), np.array([value, communicator.rank]))
    return [array.tolist() for array in arrays]


def remember(state, key, value):
    state.items[key] = value


def remembered(state, key):
    return state.items.get(key)


def numbers(state):
    """Return the number and the first `src` of each partition of the rank."""
    return [(number, int(frame["src"].iloc[0])) for number, frame in state.partitions]


def keep(state, n_frames=1):
    rank = state.communicator.rank
    frames = [pd.DataFrame({"rank": [rank] * 3, "frame": k}) for k in range(n_frames)]
    trace = [pd.DataFrame({"level": [0, 1]})] if rank == 0 else []
    return Kept({"result": frames, "trace": trace}, about={"rank": rank, "rows": 3 * n_frames})


def keep_when_told(state, folder, most_seconds=120):
    """Say in a folder that the rank has come here, and keep frames once somebody has answered there."""
    (folder / f"rank {state.communicator.rank}").touch()
    end = time.monotonic() + most_seconds
    while not (folder / "go on").exists() and time.monotonic() < end:
        time.sleep(0.01)
    return keep(state)


def keep_much(state, nbytes):
    return Kept({"result": [pd.DataFrame({"value": np.ones(nbytes // 8)})]})


def fill(state, nbytes):
    state.items["much"] = np.ones(nbytes // 8)


def all_raise(state):
    raise UnknownVertexError("The graph has no vertex 7: take one of the others.")


def one_raises(state, victim, kind=TravError, inside=False):
    communicator = state.communicator
    if communicator.rank == victim:
        if inside:
            with aborting(communicator, "building"):
                raise kind("out of luck at 8,589,934,592 bytes")
        raise kind("out of luck at 8,589,934,592 bytes")
    return communicator.sum([1])


def one_raises_last(state, victim):
    """Raise on one rank, after the last exchange with the others."""
    state.communicator.sum([1])
    if state.communicator.rank == victim:
        raise MemoryError("out of luck")


def unpicklable(state):
    return threading.Lock()


def endless(state, folder=None):
    """Meet again and again; say in the folder, if one is given, that the ranks have met."""
    while True:
        state.communicator.sum([1])
        if folder is not None:
            (folder / "met").touch()
        time.sleep(0.001)


def one_is_silent(state, victim, most_seconds=120):
    """Keep one rank from coming to a meeting until the others have given up."""
    end = time.monotonic() + most_seconds
    while state.communicator.rank == victim and state.communicator.failure is None and time.monotonic() < end:
        time.sleep(0.01)
    return state.communicator.sum([1])


def distances(state, seed, shape, source):
    """Build a random graph on the grid and search it; return the results for this rank's vertices."""
    graph = grid_graphs.random_graph(seed, 2000, 9000)
    communicator = state.communicator
    mine = slice(communicator.rank, None, communicator.size)
    part = build(communicator, Grid(*shape, graph.n), [(graph.src[mine], graph.dst[mine])], CpuWork())
    found = search(communicator, part, np.array([source]), deterministic=True)
    return found.distance, found.predecessor


def build_forever(state, folder):
    while True:
        distances(state, 1, (state.communicator.size, 1), 0)
        (folder / "met").touch()


def collect():
    gc.collect()


def changed_after_receiving(state, length):
    """Overwrite the received arrays on each rank, and check that the other ranks do not see it."""
    communicator = state.communicator
    received = communicator.all_gather(range(communicator.size), np.full(length, communicator.rank))
    seen = [int(array[-1]) for array in received]
    communicator.sum([1])
    for array in received:
        array[:] = 100 + communicator.rank
    communicator.sum([1])
    assert all((array == 100 + communicator.rank).all() for array in received)
    return seen


class Exported:
    """Something of which other ranks may read a part, with a note of when it goes."""

    def __init__(self, log, rank):
        self._log, self._rank = log, rank

    def release(self):
        time.sleep(0.3 * self._rank)  # the ranks do not leave at the same time
        note(self._log, f"left {self._rank}")
        part = SharedPart()
        weakref.finalize(part, note, self._log, f"freed {self._rank}")
        return [part]


class SharedPart:
    pass


def note(log, line):
    with open(log, "a") as file:  # noqa: PTH123 -- one write, which no other interrupts
        file.write(f"{line}\n")


def export(state, log):
    state.items["exported"] = Exported(log, state.communicator.rank)
