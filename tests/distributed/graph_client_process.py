"""Program with a client and a graph, which a test kills: `graph_client_process.py SCHEDULER HOW`."""

from __future__ import annotations

import sys

import dask.dataframe
import numpy as np
import pandas as pd
from distributed import Client

import rapids_trav  # noqa: F401  # adds .trav to Dask frames


def main(scheduler: str, how: str) -> None:
    client = Client(scheduler)
    ends = np.random.default_rng(1).integers(0, 20_000, (100_000, 2))
    frame = dask.dataframe.from_pandas(pd.DataFrame(ends, columns=["src", "dst"]), npartitions=6)
    if how == "building":
        print("ready", flush=True)
        while True:
            frame.trav.graph(directed=True).close()
    graph = frame.trav.graph()
    kept = graph.bfs(int(ends[0, 0]))
    print("ready", flush=True)
    while how == "searching":
        graph.bfs(int(ends[0, 0]))
    if how == "idle":
        sys.stdin.read()
    if how == "client closes":
        client.close()
        print("closed", flush=True)
        sys.stdin.read()
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
