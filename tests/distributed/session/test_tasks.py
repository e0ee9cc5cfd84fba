"""A task reaches its rank from any worker, and raises an error when it is gone."""

from __future__ import annotations

import pandas as pd
import pytest
import rank_functions as ranks

from rapids_trav.distributed.session.rank_actor import put_partition
from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.errors import TravError


@pytest.mark.parametrize(
    ("runs_on", "message"),
    [(1, "has no part of this graph, which was closed or lost"), (3, "The graph is closed: build it again")],
    ids=["1", "3"],
)
def test_on_the_ranks_worker_and_on_another(client, runs_on, message):
    with RankGroup.open(client) as group:
        frame, home = pd.DataFrame({"src": [7]}), group.workers[1]

        def put(number):
            task = client.submit(
                put_partition, group._name, home, number, frame, workers=[group.workers[runs_on]], pure=False
            )
            return task.result(timeout=60)

        put(5)
        assert group.call(ranks.numbers) == [[], [(5, 7)], [], []]
        group.close()
        with pytest.raises((TravError, RankError), match=message):
            put(6)
