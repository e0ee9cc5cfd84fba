"""A client whose process ends leaves nothing behind on the workers, and no rank waits for it."""

from __future__ import annotations

import sys

import psutil
import pytest
import rank_functions as ranks
from client_processes import started
from distributed import Client
from lost_workers import wait_until
from test_rank_group import extensions

from rapids_trav.distributed.session.rank_group import RankGroup

MUCH = 100_000_000  # bytes on each worker


def client_with_group(test, scheduler, how):
    client = Client(scheduler, set_as_default=False)
    group = RankGroup.open(client)
    group.call(ranks.fill, MUCH)
    kept = group.call(ranks.keep_much, MUCH)
    test.send("ready")
    if how == "searching":
        group.call(ranks.endless)
    if how == "ending":  # exit without closing anything
        sys.exit(0)
    test.recv()  # never comes
    del kept


def resident(dask_worker):
    return psutil.Process().memory_info().rss


@pytest.mark.parametrize("how", ["idle", "searching", pytest.param("ending", marks=pytest.mark.slow)])
def test_memory_is_freed(client, how):
    before = client.run(resident)
    method = "spawn" if how == "ending" else "forkserver"  # with an interpreter that ends as a user's does
    with started(client_with_group, client.scheduler.address, how, method=method) as (process, told):
        assert told.recv() == "ready"
        if how != "ending":
            during = client.run(resident)
            assert all(during[worker] > before[worker] + MUCH for worker in before)
            assert set(extensions(client).values()) == {(1, 1)}
            process.kill()
        process.join(60)
    wait_until(lambda: set(extensions(client).values()), {(0, 0)})
    wait_until(lambda: all(now < before[worker] + MUCH for worker, now in client.run(resident).items()), True)
    with RankGroup.open(client) as group:
        assert group.call(ranks.add, 1) == [[4]] * 4
