"""Faults on a worker: it kills its process, or runs out of memory, at a chosen point of a phase."""

from __future__ import annotations

import functools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

PHASES = ("handing over", "building", "searching", "storing")


def die(told: str) -> None:
    """Write the time to the file `told` and kill this process."""
    Path(told).write_text(repr(time.time()))
    os.kill(os.getpid(), signal.SIGKILL)


def run_out(told: str) -> None:
    """Write the time to the file `told` and fail as an allocation does."""
    Path(told).write_text(repr(time.time()))
    raise MemoryError("Unable to allocate 64.0 GiB for an array")


def arm(fault: Callable[[str], None], phase: str, told: str, at: int = 0) -> None:
    """Make this process fail in a phase: at its start, or before its `at`-th wait for other ranks."""
    from rapids_trav.distributed.ranks import service
    from rapids_trav.distributed.session.rank_actor import RankActor

    fail = functools.partial(fault, told)
    if phase == "handing over":
        RankActor.put = _failing(RankActor.put, fail)
    elif phase == "storing":
        RankActor._store = _failing(RankActor._store, fail)
    elif phase == "launching":  # the kernels of all ranks run, or soon will
        from rapids_trav.engines.multigpu.one_launch.launch import RankMemory

        RankMemory.wait = _failing(RankMemory.wait, fail)
    elif phase == "building":
        service.build_graph = _failing(service.build_graph, fail, at)
    else:
        service.QUESTIONS["bfs"] = _failing(service.QUESTIONS["bfs"], fail, at)


def _failing(function: Callable, fail: Callable[[], None], at: int = 0) -> Callable:
    """Return a function whose first call fails: at once, or before its `at`-th wait for other ranks."""
    done = []

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if done:
            return function(*args, **kwargs)
        done.append(True)
        if not at:
            fail()
        left = [at]

        def counting(meet: Callable) -> Callable:
            def counted(*call: Any) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    fail()
                return meet(*call)

            return counted

        before = [(owner, name, getattr(owner, name)) for owner, name in _meetings()]
        for owner, name, meet in before:
            setattr(owner, name, counting(meet))
        try:
            return function(*args, **kwargs)
        finally:
            for owner, name, meet in before:
                setattr(owner, name, meet)

    return wrapped


def _meetings() -> list[tuple[type, str]]:
    """Return the methods in which the ranks of this process wait for other ranks."""
    from rapids_trav.distributed.session.devices import has_gpu
    from rapids_trav.engines.multigpu.tcp import TcpCommunicator

    if not has_gpu():
        return [(TcpCommunicator, "_meet")]
    from rapids_trav.distributed.session.guarded_nccl import GuardedNccl

    return [(TcpCommunicator, "_meet"), (GuardedNccl, "_guarded")]


def die_at(frame: pd.DataFrame, pid: int, told: str) -> pd.DataFrame:
    """Return a partition of an answer unchanged; if this process is `pid`, kill it instead, once."""
    if os.getpid() == pid and not Path(told).exists():
        die(told)
    return frame


def waiting(frame: pd.DataFrame, folder: str) -> pd.DataFrame:
    """Say in a folder that this task runs; return a partition when told so there, or after two minutes."""
    Path(folder, "running").touch()
    end = time.monotonic() + 120
    while not Path(folder, "go on").exists() and time.monotonic() < end:
        time.sleep(0.01)
    return frame


def held(dask_worker: Any) -> tuple[int, int, int]:
    """Return how many graphs, ranks and frames of answers this process holds."""
    import gc

    from rapids_trav.distributed.ranks.rank_graph import RankGraph
    from rapids_trav.distributed.session.rank_actor import NAME

    gc.collect()
    ranks = dask_worker.extensions[NAME]._ranks if NAME in dask_worker.extensions else {}
    graphs = sum(type(found) is RankGraph for found in gc.get_objects())
    return graphs, len(ranks), sum(str(key).startswith("rapids-trav-result") for key in dask_worker.data)
