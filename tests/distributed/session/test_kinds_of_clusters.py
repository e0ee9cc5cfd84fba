"""Clusters of other kinds: workers in one process, encrypted connections, asynchronous clients."""

from __future__ import annotations

import asyncio

import pytest
import rank_functions as ranks
from distributed import Client, LocalCluster
from distributed.security import Security

from rapids_trav.distributed.session.gang import Gang
from rapids_trav.errors import TravError


def test_workers_in_one_process():
    """Arrays are copied for each rank there, too."""
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        Gang.open(client) as gang,
    ):
        assert gang.call(ranks.changed_after_receiving, 5_000_000) == [[0, 1, 2]] * 3
        assert gang.call(ranks.changed_after_receiving, 5) == [[0, 1, 2]] * 3
        assert gang.call(ranks.keep).futures("result")[2][0].result()["rank"].tolist() == [2] * 3


def test_encrypted_connections():
    pytest.importorskip("cryptography")
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, security=Security.temporary(), dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        Gang.open(client) as gang,
    ):
        assert all(worker.startswith("tls://") for worker in gang.workers)
        assert gang.call(ranks.changed_after_receiving, 500_000) == [[0, 1]] * 2


def test_asynchronous_clients_are_refused(cluster):
    async def scenario():
        async with Client(cluster.scheduler_address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(TravError, match="client is asynchronous: give one made with"):
                Gang.open(client)

    asyncio.run(scenario())
