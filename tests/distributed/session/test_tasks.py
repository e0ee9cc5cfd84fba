"""Tasks reach their rank from any worker, and raise an error when it is gone."""

from __future__ import annotations

import pandas as pd
import pytest
import rank_functions as ranks

from rapids_trav.distributed.session.gang import Gang
from rapids_trav.distributed.session.tasks import put_partition, take_frame
from rapids_trav.engines.multigpu.errors import RankError
from rapids_trav.errors import TravError


@pytest.mark.parametrize("runs_on", [1, 3])
def test_on_the_ranks_worker_and_on_another(client, runs_on):
    with Gang.open(client) as gang:
        frame, home = pd.DataFrame({"src": [7]}), gang.workers[1]

        def run(function, *arguments):
            task = client.submit(
                function, gang._name, home, *arguments, workers=[gang.workers[runs_on]], pure=False
            )
            return task.result(timeout=60)

        run(put_partition, 5, frame)
        assert gang.call(ranks.numbers) == [[], [(5, 7)], [], []]
        answer = gang.call(ranks.keep)
        assert run(take_frame, answer.token, "result", 0)["rank"].tolist() == [1] * 3
        with pytest.raises(TravError, match="no longer on its worker: ask the graph again"):
            run(take_frame, answer.token, "result", 0)
        gang.close()
        with pytest.raises((TravError, RankError), match="was closed"):
            run(take_frame, answer.token, "result", 0)
