"""Answers that stay on the workers until Dask fetches them."""

from __future__ import annotations

import gc
import time

import pytest
import rank_functions as ranks
from distributed import wait

from rapids_trav.distributed.session.gang import Gang
from rapids_trav.distributed.session.kept import KeptOnWorkers
from rapids_trav.distributed.session.worker_ranks import NAME
from rapids_trav.engines.multigpu.errors import RankError


def kept(client):
    """Return the number of answers of which ranks keep frames, summed over all ranks."""

    def count(dask_worker):
        return sum(len(actor._kept) for actor in dask_worker.extensions[NAME]._ranks.values())

    return sum(client.run(count).values())


def test_frames_are_futures_on_their_workers(client):
    with Gang.open(client) as gang:
        answer = gang.call(ranks.keep, 2)
        assert isinstance(answer, KeptOnWorkers)
        assert answer.about == [{"rank": rank, "rows": 6} for rank in range(4)]
        futures = answer.futures("result")
        assert [len(each) for each in futures] == [2] * 4
        for rank, frames in enumerate(futures):
            for k, future in enumerate(frames):
                assert client.who_has([future])[future.key] == (gang.workers[rank],)
                assert future.result().to_dict("list") == {"rank": [rank] * 3, "frame": [k] * 3}
        assert answer.futures("result") == futures
        assert [len(each) for each in answer.futures("trace")] == [1, 0, 0, 0]
        assert answer.futures("no such") == [[]] * 4
    assert futures[3][1].result()["rank"].tolist() == [3] * 3  # frames outlive the gang


def test_frames_outlive_an_error_of_all_ranks_and_the_closing(client):
    with Gang.open(client) as gang:
        futures = gang.call(ranks.keep).futures("result")
    wait([future for each in futures for future in each], timeout=30)
    assert [each[0].result()["rank"].iloc[0] for each in futures] == [0, 1, 2, 3]


def test_frames_that_nobody_fetches_are_dropped(client):
    with Gang.open(client) as gang:
        answer = gang.call(ranks.keep)
        assert kept(client) == 4
        futures = answer.futures("result")
        assert kept(client) == 1  # rank 0 still keeps its trace
        del answer
        gc.collect()
        until = time.monotonic() + 30
        while kept(client) and time.monotonic() < until:
            time.sleep(0.05)
        assert kept(client) == 0
        assert futures[1][0].result()["rank"].tolist() == [1] * 3


@pytest.mark.parametrize("victim", [0, 2])
def test_frames_do_not_outlive_a_failure_before_they_were_kept(client, victim):
    with Gang.open(client) as gang:
        with pytest.raises(RankError):
            gang.call(ranks.one_raises_last, victim)
        assert kept(client) == 0
