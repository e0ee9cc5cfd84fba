"""Checks of what follows when a worker is killed that holds a part of a graph.

`frame` returns the edges as a Dask frame: of pandas for ranks on CPUs, of cuDF for ranks on GPUs.
"""

from __future__ import annotations

import gc
import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from common import rows
from distributed.core import Status
from graph_faults import arm, die, die_at, held

from rapids_trav import TravError
from rapids_trav.engines.multigpu.communicator import RankError

SOON = 50.0  # seconds within which an error must be raised: before ranks give up one that is silent, after 60
EDGES = pd.DataFrame(np.random.default_rng(8).integers(0, 3000, (12_000, 2)), columns=["src", "dst"])
SOURCE = int(EDGES["src"].iloc[0])


def workers_of(client):
    return list(client.nthreads())


def wait_until(found, wanted, seconds=30.0):
    until = time.monotonic() + seconds
    while (now := found()) != wanted and time.monotonic() < until:
        time.sleep(0.05)
    assert now == wanted


def wait_for_workers(client, n, seconds=30.0):
    """Wait until the client's own cluster has `n` workers, any of which may be killed.

    A worker joins the scheduler before its nanny has heard that it started.  If it is killed in between, its
    nanny never closes, and the cluster waits for that without end (distributed 2026.7, no longer 2026.8;
    CONTRIBUTING.md shows it).
    """
    wait_until(lambda: len(workers_of(client)), n, seconds)
    nannies = client.cluster.workers.values()
    wait_until(lambda: {nanny.process.status for nanny in nannies}, {Status.running}, seconds)


def assert_next_works(client, frame):
    """Check that another graph, on the workers that remain, answers exactly."""
    with client.as_current(), frame().trav.graph() as graph:
        found = graph.bfs(SOURCE, deterministic=True).compute()
    assert rows(found) == rows(EDGES.trav.bfs(SOURCE, deterministic=True))


def assert_recovered(client, frame, victim):
    """Check that the victim is gone, that no worker holds anything of a graph, and that another one works."""
    gc.collect()  # tracebacks of errors that were caught hold answers
    wait_until(lambda: victim in workers_of(client), False)
    wait_until(lambda: set(client.run(held).values()), {(0, 0, 0)})
    assert_next_works(client, frame)


def assert_told(error, victim):
    """Check that the error names the worker and the remedy."""
    assert victim in str(error) and "was lost" in str(error), str(error)
    assert "build it again" in str(error)


def seconds_since(told, record_property):
    return recorded(time.time() - float(told.read_text()), record_property)


def recorded(seconds, record_property):
    record_property("seconds from kill to error", round(seconds, 3))
    print(f"{seconds:.3f} s from kill to error")
    return seconds


def lose_one(client, frame, phase, at, told, record_property):
    victim = workers_of(client)[1]
    client.run(arm, die, phase, str(told), at, workers=[victim])
    with client.as_current(), pytest.raises(RankError) as caught:
        graph = frame().trav.graph()
        answer = graph.bfs(SOURCE)
        answer.compute()
    assert seconds_since(told, record_property) < SOON
    assert_told(caught.value, victim)
    if phase in ("searching", "launching", "storing"):
        with pytest.raises(RankError, match="was lost"):
            graph.bfs(SOURCE)
        graph.close()
    answer = None
    assert_recovered(client, frame, victim)


def lose_one_in_compute(client, frame, told, record_property):
    victim = workers_of(client)[1]
    pid = client.run(os.getpid, workers=[victim])[victim]
    with client.as_current(), frame().trav.graph() as graph:
        answer = graph.bfs(SOURCE)
        with pytest.raises(TravError) as caught:
            answer.map_partitions(die_at, pid, str(told), meta=answer._meta).compute()
        assert seconds_since(told, record_property) < SOON
        assert_told(caught.value, victim)
        with pytest.raises(RankError) as caught:
            graph.bfs(SOURCE)
        assert_told(caught.value, victim)
    del answer
    assert_recovered(client, frame, victim)


def lose_one_between(client, frame, wait, record_property):
    victim = workers_of(client)[1]
    pid = client.run(os.getpid, workers=[victim])[victim]
    with client.as_current(), frame().trav.graph() as graph:
        graph.bfs(SOURCE).compute()
        os.kill(pid, signal.SIGKILL)
        begin = time.time()
        if wait:
            wait_until(lambda: victim in workers_of(client), False)
            wait_until(
                lambda: {graphs for graphs, *_ in client.run(held).values()}, {0}
            )  # even before another question is asked
        for ask in (lambda: graph.bfs(SOURCE), lambda: graph.degrees(), lambda: graph.n_self_loops):
            with pytest.raises(RankError) as caught:
                ask()
            assert_told(caught.value, victim)
        assert recorded(time.time() - begin, record_property) < SOON
    assert_recovered(client, frame, victim)
