"""Workers and scheduler are left as they were after many gangs are opened and closed."""

from __future__ import annotations

import psutil
import pytest
import rank_functions as ranks
from test_gang import extensions

from rapids_trav.distributed.session.conductor import Conductor
from rapids_trav.distributed.session.gang import Gang


def measured(dask_worker):
    process = psutil.Process()
    return process.memory_info().rss, process.num_fds(), process.num_threads()


def conductor(dask_scheduler):
    found = dask_scheduler.plugins[Conductor.name]
    return len(found._gangs), len(found._tasks), found._tickets.waiting()


def open_and_close(client, times):
    for _ in range(times):
        with Gang.open(client) as gang:
            gang.call(ranks.fill, 1_000_000)
            gang.call(ranks.keep).futures("result")


@pytest.mark.slow
def test_a_hundred_gangs(client):
    open_and_close(client, 10)
    before = client.run(measured)
    open_and_close(client, 100)
    after = client.run(measured)
    for worker, (memory, files, threads) in before.items():
        assert after[worker][0] < memory + 20_000_000  # 100 gangs that stay would hold 100 MB
        assert after[worker][1] <= files + 10
        assert after[worker][2] <= threads + 5
    assert set(extensions(client).values()) == {(0, 0)}
    assert client.run_on_scheduler(conductor) == (0, 0, {})


def test_several_at_once_and_calls_in_any_order(client):
    gangs = [Gang.open(client) for _ in range(5)]
    for turn in range(3):
        for gang in gangs[:: 1 - 2 * (turn % 2)]:
            assert gang.call(ranks.add, turn) == [[4 * turn]] * 4
    for gang in gangs:
        gang.close()
    assert set(extensions(client).values()) == {(0, 0)}
    assert client.run_on_scheduler(conductor) == (0, 0, {})
