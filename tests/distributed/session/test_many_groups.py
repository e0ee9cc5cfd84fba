"""Workers and scheduler are left as they were after many groups are opened and closed."""

from __future__ import annotations

import psutil
import pytest
import rank_functions as ranks
from test_rank_group import extensions

from rapids_trav.distributed.session.conductor import Conductor
from rapids_trav.distributed.session.rank_group import RankGroup


def measured(dask_worker):
    process = psutil.Process()
    return process.memory_info().rss, process.num_fds(), process.num_threads()


def conductor(dask_scheduler):
    found = dask_scheduler.plugins[Conductor.name]
    return len(found._groups), len(found._tasks), found._tickets.waiting()


def open_and_close(client, times):
    for _ in range(times):
        with RankGroup.open(client) as group:
            group.call(ranks.fill, 1_000_000)
            group.call(ranks.keep).futures("result")


@pytest.mark.slow
def test_a_hundred_groups(client):
    open_and_close(client, 10)
    before = client.run(measured)
    open_and_close(client, 100)
    after = client.run(measured)
    for worker, (memory, files, threads) in before.items():
        assert after[worker][0] < memory + 20_000_000  # 100 groups that stay would hold 100 MB
        assert after[worker][1] <= files + 10
        assert after[worker][2] <= threads + 5
    assert set(extensions(client).values()) == {(0, 0)}
    assert client.run_on_scheduler(conductor) == (0, 0, {})


def test_several_at_once_and_calls_in_any_order(client):
    groups = [RankGroup.open(client) for _ in range(5)]
    for turn in range(3):
        for group in groups[:: 1 - 2 * (turn % 2)]:
            assert group.call(ranks.add, turn) == [[4 * turn]] * 4
    for group in groups:
        group.close()
    assert set(extensions(client).values()) == {(0, 0)}
    assert client.run_on_scheduler(conductor) == (0, 0, {})
