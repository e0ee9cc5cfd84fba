"""Processes with a client of their own: functions that run in them, and how a test starts one."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import dask.dataframe
import numpy as np
import pandas as pd
from distributed import Client
from local_clusters import start_fork_server

from rapids_trav import Graph


@contextmanager
def started(
    function: Callable, *arguments: Any, method: str = "forkserver"
) -> Iterator[tuple[BaseProcess, Connection]]:
    """Call `function(connection, *arguments)` in another process, which is killed in the end."""
    start_fork_server()
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    process = context.Process(target=function, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()  # so that `ours.recv()` raises EOFError if the process ends
    try:
        yield process, ours
    finally:
        process.kill()
        process.join(60)


def client_with_graph(test: Connection, scheduler: str, how: str) -> None:
    client = Client(scheduler)
    ends = np.random.default_rng(1).integers(0, 20_000, (100_000, 2))
    frame = dask.dataframe.from_pandas(pd.DataFrame(ends, columns=["src", "dst"]), npartitions=6)
    if how == "building":
        test.send("ready")
        while True:
            frame.trav.graph(directed=True).close()
    graph = frame.trav.graph()
    kept = graph.bfs(int(ends[0, 0]))
    test.send("ready")
    while how == "searching":
        graph.bfs(int(ends[0, 0]))
    if how == "ending":  # exit without closing anything
        sys.exit(0)
    if how == "client closes":
        client.close()
        test.send("closed")
    test.recv()  # never comes
    del kept


def only_client(test: Connection) -> None:
    """Send the rows of a search by a client that is not Dask's current one, where there is no other."""
    edges = dask.dataframe.from_pandas(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}), npartitions=2)
    alone = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        Client(**alone, set_as_default=False) as client,
        Graph.from_edges(edges, client=client) as graph,
    ):
        answer = graph.bfs(0, predecessors=False)
        with client.as_current():
            test.send(answer.compute().to_numpy().tolist())
