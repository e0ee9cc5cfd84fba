"""Print the rows of a search by a client that is not Dask's current one, in a process without another."""

import dask.dataframe as dd
import pandas as pd
from distributed import Client

from rapids_trav import Graph

if __name__ == "__main__":
    edges = dd.from_pandas(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}), npartitions=2)
    alone = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        Client(**alone, set_as_default=False) as client,
        Graph.from_edges(edges, client=client) as graph,
    ):
        answer = graph.bfs(0, predecessors=False)
        with client.as_current():
            print(answer.compute().to_numpy().tolist())
