"""Dask clusters: one of four workers for all tests, and small ones whose workers may be killed."""

from __future__ import annotations

import multiprocessing
import sys
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from fake_gang import install

WORKERS = 4
sys.path.append(str(Path(__file__).parents[1] / "engines" / "multigpu"))  # `grid_graphs`, also for workers


@cache
def start_fork_server():
    """Start the process that workers are forked from, with `worker_process` imported.

    Such workers start, and build their first graph, in a fraction of the time of others, and end without the
    seconds that an interpreter takes to clear up.
    """
    get_mp_context()  # which replaces the list of imports when it is called first
    multiprocessing.get_context("forkserver").set_forkserver_preload(["distributed", "worker_process"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        for name, value in dask.config.get("distributed.nanny.pre-spawn-environ").items():
            patch.setenv(name, str(value))
        forkserver.ensure_running()


@contextmanager
def local_cluster(n_workers: int, method: str = "forkserver", **options):
    """Start a cluster of processes with one thread each and no memory limit."""
    settings = {
        "distributed.worker.multiprocessing-method": method,
        "distributed.worker.memory.terminate": False,
    }
    with dask.config.set(settings):
        if method == "forkserver":
            start_fork_server()
        with LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs="CRITICAL",
            **options,
        ) as cluster:
            yield cluster


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
def gangs(monkeypatch):
    """List of the gangs opened during the test, in order; all of them are fake gangs."""
    return install(monkeypatch)
