"""A client whose process ends leaves nothing behind on the workers, and no rank waits for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import rank_functions as ranks
from client_process import MUCH
from lost_workers import wait_until
from test_gang import extensions

from rapids_trav.distributed.session.gang import Gang


def resident(dask_worker):
    return psutil.Process().memory_info().rss


@pytest.mark.parametrize("how", ["idle", "searching", "ending"])
def test_memory_is_freed(client, how):
    before = client.run(resident)
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("client_process.py"), client.scheduler.address, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        if how != "ending":
            during = client.run(resident)
            assert all(during[worker] > before[worker] + MUCH for worker in before)
            assert set(extensions(client).values()) == {(1, 1)}
            process.kill()
        process.wait(60)
    wait_until(lambda: set(extensions(client).values()), {(0, 0)})
    wait_until(lambda: all(now < before[worker] + MUCH for worker, now in client.run(resident).items()), True)
    with Gang.open(client) as gang:
        assert gang.call(ranks.add, 1) == [[4]] * 4
