"""Answers whose frames are Dask data on the workers, as long as somebody has a future of them."""

from __future__ import annotations

import gc
import signal
import threading
import time

import pytest
import rank_functions as ranks
from distributed import Client
from lost_workers import wait_until

from rapids_trav.distributed.session.rank_group import KeptOnWorkers, RankGroup
from rapids_trav.engines.multigpu.communicator import RankError


def stored(client):
    """Return the number of frames of answers that each worker holds."""

    def count(dask_worker):
        return sum("result" in str(key) or "trace" in str(key) for key in dask_worker.data)

    return list(client.run(count).values())


@pytest.fixture(autouse=True)
def nothing_stored(client):
    """Wait until frames of earlier tests are freed, which their tracebacks may have kept."""
    gc.collect()
    wait_until(lambda: stored(client), [0] * 4)


def test_frames_are_futures_on_their_workers(client):
    with RankGroup.open(client) as group:
        answer = group.call(ranks.keep, 2)
        assert isinstance(answer, KeptOnWorkers)
        assert answer.about == [{"rank": rank, "rows": 6} for rank in range(4)]
        futures = answer.futures("result")
        assert [len(each) for each in futures] == [2] * 4
        assert {future.status for each in futures for future in each} == {"finished"}  # from the start
        for rank, frames in enumerate(futures):
            for k, future in enumerate(frames):
                assert client.who_has([future])[future.key] == (group.workers[rank],)
                assert future.result().to_dict("list") == {"rank": [rank] * 3, "frame": [k] * 3}
                assert future.type is type(future.result())
        assert [len(each) for each in answer.futures("trace")] == [1, 0, 0, 0]
        assert answer.futures("no such") == [[]] * 4


@pytest.mark.parametrize("close", [True, False])
def test_frames_outlive_the_group(client, close):
    group = RankGroup.open(client)
    futures = group.call(ranks.keep).futures("result")
    if close:
        group.close()
    del group
    gc.collect()
    assert [each[0].result()["rank"].iloc[0] for each in futures] == [0, 1, 2, 3]


def test_frames_outlive_an_error_of_all_ranks_and_of_one(client):
    with RankGroup.open(client) as group:
        futures = group.call(ranks.keep).futures("result")
        with pytest.raises(TypeError):
            group.call(ranks.add, no_such_option=1)
        with pytest.raises(RankError):
            group.call(ranks.one_raises, 2)
    assert [each[0].result()["rank"].iloc[0] for each in futures] == [0, 1, 2, 3]


def test_frames_that_nobody_needs_are_freed(client):
    with RankGroup.open(client) as group:
        answer = group.call(ranks.keep)
        assert stored(client) == [2, 1, 1, 1]
        first = answer.futures("result")[0][0]
        del answer
        wait_until(lambda: stored(client), [1, 0, 0, 0])
        assert first.result()["rank"].tolist() == [0] * 3
        del first
        wait_until(lambda: stored(client), [0, 0, 0, 0])


def test_answers_in_turn(client):
    """Every answer has its own keys, and none of the earlier ones stays."""
    with RankGroup.open(client) as group:
        for turn in range(25):
            answer = group.call(ranks.keep, 1 + turn % 3)
        assert [len(each) for each in answer.futures("result")] == [1] * 4
        wait_until(lambda: stored(client), [2, 1, 1, 1])


def interrupt_when_all_are_there(folder, thread):
    while len(list(folder.iterdir())) < 4:
        time.sleep(0.01)
    signal.pthread_kill(thread, signal.SIGINT)


def test_a_caller_who_is_interrupted_leaves_no_frames(client, tmp_path, interruptible):
    with RankGroup.open(client) as group:
        given = (tmp_path, threading.get_ident())
        threading.Thread(target=interrupt_when_all_are_there, args=given, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            group.call(ranks.keep_when_told, tmp_path)
        (tmp_path / "go on").touch()
        assert group.call(ranks.add, 1) == [[4]] * 4  # when that request has been answered
        wait_until(lambda: stored(client), [0, 0, 0, 0])


def test_frames_go_with_their_client(client, cluster):
    with Client(cluster, set_as_default=False) as other:
        group = RankGroup.open(other)
        answer = group.call(ranks.keep)
        assert stored(client) == [2, 1, 1, 1]
    wait_until(lambda: stored(client), [0, 0, 0, 0])
    assert answer.futures("result")[0][0].status == "cancelled"


@pytest.mark.parametrize("victim", [0, 2])
def test_frames_do_not_outlive_a_failure_before_they_were_kept(client, victim):
    with RankGroup.open(client) as group:
        with pytest.raises(RankError):
            group.call(ranks.one_raises_last, victim)
        assert stored(client) == [0, 0, 0, 0]
