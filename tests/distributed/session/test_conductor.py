"""Scheduler plugin: stuck workers, clusters that shrink, and groups that are closed during a request."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import rank_functions as ranks
from distributed import Client
from lost_workers import SOON, wait_until
from test_rank_group import extensions

from rapids_trav.distributed.session import conductor
from rapids_trav.distributed.session.conductor import Conductor
from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.engines.multigpu.communicator import RankError


def test_a_second_registration_changes_nothing(client, cluster):
    def which(dask_scheduler):
        return id(dask_scheduler.plugins[Conductor.name])

    with RankGroup.open(client) as group:
        first = client.run_on_scheduler(which)
        with Client(cluster, set_as_default=False) as other, RankGroup.open(other) as beside:
            assert client.run_on_scheduler(which) == first
            assert beside.call(ranks.add, 1) == group.call(ranks.add, 1) == [[4]] * 4


def test_workers_of_a_group_are_not_the_first_to_go(client):
    def to_close(dask_scheduler):
        return dask_scheduler.workers_to_close(n=4)

    workers = list(client.nthreads())
    with RankGroup.open(client, workers[:3]):
        assert set(client.run_on_scheduler(to_close)) <= {workers[3]}
    assert len(client.run_on_scheduler(to_close)) > 1


def test_closing_while_at_work_ends_the_work(client, tmp_path):
    group = RankGroup.open(client)
    errors = []

    def ask():
        try:
            group.call(ranks.endless, tmp_path)
        except RankError as error:
            errors.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until((tmp_path / "met").exists, True)
    group.close()
    thread.join(30)
    assert not thread.is_alive() and "The graph is closed" in errors[0]
    assert set(extensions(client).values()) == {(0, 0)}


def test_a_worker_that_is_stopped_is_named(doomed, monkeypatch):
    """It is alive but does not answer: the others report it at the deadline, and closing does not wait."""
    monkeypatch.setattr(conductor, "GRACE", 2.0)  # has an effect as the scheduler is in this process
    with RankGroup.open(doomed, deadline=4.0) as group:
        pid = group.call(ranks.identity)[1][2]
        os.kill(pid, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            with pytest.raises(RankError, match=r"Rank 1 did not answer rank \d within 4 s") as caught:
                group.call(ranks.add, 1)
            assert group.workers[1] in str(caught.value)
            group.close()
            assert time.monotonic() - begin < SOON
            with RankGroup.open(doomed, [group.workers[0], group.workers[2]]) as others:
                assert others.call(ranks.add, 1) == [[2]] * 2
        finally:
            os.kill(pid, signal.SIGKILL)
