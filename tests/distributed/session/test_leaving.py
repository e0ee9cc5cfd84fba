"""Memory that other ranks read is freed when all ranks have left, however a graph ends."""

from __future__ import annotations

import pytest
import rank_functions as ranks
from lost_workers import wait_until

from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.engines.multigpu.communicator import RankError


@pytest.mark.parametrize("fails", [False, True])
def test_no_rank_frees_what_another_may_read(client, tmp_path, fails):
    log = tmp_path / "log"

    def lines():
        return log.read_text().split("\n")[:-1] if log.exists() else []

    with RankGroup.open(client) as group:
        group.call(ranks.export, str(log))
        assert lines() == []
        if fails:
            with pytest.raises(RankError):
                group.call(ranks.one_raises, 2)
            wait_until(lambda: sorted(lines()), [f"left {rank}" for rank in range(4)])
    wait_until(lambda: len(lines()), 8)
    told = lines()
    assert sorted(told[:4]) == [f"left {rank}" for rank in range(4)]
    assert sorted(told[4:]) == [f"freed {rank}" for rank in range(4)]
