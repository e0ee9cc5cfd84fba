"""A rank that fails or hangs in the middle of a search causes an error that names it, and no hang."""

from __future__ import annotations

import threading
import time

import grid_graphs as graphs
import numpy as np
import pytest
from loopback import run_ranks

from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.search2d import search

GRAPH = graphs.path(400)


class Failing(CpuWork):
    """Work that calls `instead` first at the third level."""

    def __init__(self, instead) -> None:
        self._levels = 0
        self._instead = instead

    def expand(self, *arguments):
        self._levels += 1
        if self._levels == 3:
            self._instead()
        return super().expand(*arguments)


def run(instead, deadline, victim=4):
    def rank(communicator):
        work = Failing(instead) if communicator.rank == victim else CpuWork()
        mine = slice(communicator.rank, None, communicator.size)
        part = build(communicator, Grid(3, 2, GRAPH.n), [(GRAPH.src[mine], GRAPH.dst[mine])], work)
        return search(communicator, part, np.array([0])).distance

    return run_ranks(6, rank, deadline=deadline)


def test_a_rank_that_raises():
    def instead():
        raise MemoryError("out of memory allocating 8,589,934,592 bytes")

    start = time.monotonic()
    with pytest.raises(RankError, match="Rank 4 failed while searching: out of memory allocating") as caught:
        run(instead, deadline=60)
    assert time.monotonic() - start < 30
    assert caught.value.rank == 4
    assert isinstance(caught.value.__cause__, MemoryError)


def test_a_rank_that_goes_silent():
    run(lambda: None, deadline=60)  # compiles first: the deadline leaves no time for that
    stuck = threading.Event()
    with pytest.raises(RankError, match=r"Rank 4 did not answer rank \d within 1 s") as caught:
        run(stuck.wait, deadline=1)
    stuck.set()
    assert caught.value.rank == 4


def test_the_next_search_is_not_harmed():
    with pytest.raises(RankError):
        run(lambda: 1 / 0, deadline=60)
    distance = np.concatenate(run(lambda: None, deadline=60))
    assert np.array_equal(distance, np.arange(400))
