"""Other kinds of clusters: workers that start as a user's do, or in one process, encrypted connections."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys

import dask.dataframe
import pandas as pd
import pytest
import rank_functions as ranks
from distributed import Client, LocalCluster
from distributed.security import Security
from local_clusters import local_cluster

from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.errors import TravError


def test_workers_with_interpreters_of_their_own():
    """Workers of other tests are forked from a process that has imported the package."""
    with local_cluster(2, "spawn") as cluster, Client(cluster, set_as_default=False) as client:
        assert not any(client.run(lambda: "rapids_trav" in sys.modules).values())
        edges = dask.dataframe.from_pandas(pd.DataFrame({"src": [0, 1], "dst": [1, 2]}), npartitions=2)
        with edges.trav.graph(client=client) as graph:
            answer = graph.bfs(0)
        with client.as_current():
            assert answer.compute()["distance"].tolist() == [0, 1, 2]


def test_workers_in_one_process():
    """Each rank gets its own copy of an array even there."""
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        RankGroup.open(client) as group,
    ):
        assert group.call(ranks.changed_after_receiving, 5_000_000) == [[0, 1, 2]] * 3
        assert group.call(ranks.changed_after_receiving, 5) == [[0, 1, 2]] * 3
        assert group.call(ranks.keep).futures("result")[2][0].result()["rank"].tolist() == [2] * 3


@pytest.fixture
def security(tmp_path):
    """TLS with one certificate for the scheduler, the workers and the client."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    files = {kind: str(tmp_path / f"{kind}.pem") for kind in ("key", "cert")}
    options = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made = ["openssl", "req", "-x509", *options, "-keyout", files["key"], "-out", files["cert"]]
    subprocess.run(made, check=True, capture_output=True)
    roles = {
        f"tls_{role}_{kind}": files[kind] for role in ("scheduler", "worker", "client") for kind in files
    }
    return Security(require_encryption=True, tls_ca_file=files["cert"], **roles)


def test_encrypted_connections(security):
    with (
        local_cluster(2, security=security) as cluster,
        Client(cluster, set_as_default=False) as client,
        RankGroup.open(client) as group,
    ):
        assert all(worker.startswith("tls://") for worker in group.workers)
        assert group.call(ranks.changed_after_receiving, 500_000) == [[0, 1]] * 2


def test_asynchronous_clients_are_refused(cluster):
    async def scenario():
        async with Client(cluster.scheduler_address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(TravError, match="client is asynchronous: give one made with"):
                RankGroup.open(client)

    asyncio.run(scenario())
