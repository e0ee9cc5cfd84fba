"""Dask clusters: one of four workers for all tests, and small ones whose workers may be killed."""

from __future__ import annotations

import dask
import pytest
from distributed import Client
from fake_group import install
from local_clusters import local_cluster

WORKERS = 4


@pytest.fixture(scope="session")
def cluster():
    """Cluster of four worker processes, which tests must leave unharmed."""
    with local_cluster(WORKERS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture
def doomed():
    """Client of a cluster of three workers for one test, which may kill some of them.

    Some time after each loss the cluster ends a worker for good if it happens not to be there, as on a slow
    machine one that has been killed again; that time is beyond the test's end.
    """
    kept = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with kept, local_cluster(3) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def here():
    """Client whose worker is in this process; it is not Dask's current client."""
    with Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, set_as_default=False
    ) as client:
        yield client


@pytest.fixture
def groups(monkeypatch):
    """List of the groups opened during the test, in order; all of them are fake groups."""
    return install(monkeypatch)
