"""A cluster of four workers for all tests of a session, and small ones for workers that are to die."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster
from fake_gang import install

WORKERS = 4
sys.path.append(str(Path(__file__).parents[1] / "engines" / "multigpu"))  # graphs, for the workers as well


@contextmanager
def local_cluster(n_workers: int, **options):
    """Start processes with one thread each; their memory is nobody's business here."""
    with (
        dask.config.set({"distributed.worker.memory.terminate": False}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs="CRITICAL",
            **options,
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="session")
def cluster():
    """Four worker processes, which no test may harm."""
    with local_cluster(WORKERS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture
def doomed():
    """A client of three workers of its own, of which a test may kill some."""
    with local_cluster(3) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def here():
    """A client whose worker is in this process; it is not the current one."""
    with Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, set_as_default=False
    ) as client:
        yield client


@pytest.fixture
def gangs(monkeypatch):
    """Gangs whose ranks are threads of this process, in the order in which they are opened."""
    return install(monkeypatch)
