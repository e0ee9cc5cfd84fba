"""What the process that workers are forked from does before: import the package, build a graph and search it.

Its workers need not do so again.
"""

import gc

import pandas as pd
from loopback import run_ranks

from rapids_trav.distributed.ranks import service
from rapids_trav.distributed.ranks.rank import RankState
from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions


def search(communicator):
    state = RankState(communicator, "cpu")
    state.partitions.append((communicator.rank, pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})))
    service.build(state, RankBuildOptions())
    for options in ({"deterministic": True}, {}):
        service.ask(state, "bfs", (0,), options)


run_ranks(2, search)
gc.collect()  # workers count the graphs that they hold,
gc.freeze()  # and need not look at all that was imported each time they do
