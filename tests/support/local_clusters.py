"""Clusters of worker processes on this machine, and the process that these are forked from."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver

import dask
import pytest
from distributed import LocalCluster
from distributed.utils import get_mp_context

METHOD = "distributed.worker.multiprocessing-method"


@cache
def start_fork_server():
    """Start the process that workers are forked from, with `worker_process` imported.

    Such workers start, and build their first graph, in a fraction of the time of others, and end without the
    seconds that an interpreter takes to clear up.
    """
    with dask.config.set({METHOD: "forkserver"}):
        context = get_mp_context()  # replaces the list of imports when it is called first
    context.set_forkserver_preload(["worker_process"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        for name, value in dask.config.get("distributed.nanny.pre-spawn-environ").items():
            patch.setenv(name, str(value))
        forkserver.ensure_running()


@contextmanager
def local_cluster(n_workers: int, method: str = "forkserver", **options):
    """Start a cluster of processes with one thread each and no memory limit."""
    with dask.config.set({METHOD: method, "distributed.worker.memory.terminate": False}):
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
