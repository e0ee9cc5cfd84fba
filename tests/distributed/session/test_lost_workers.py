"""A killed worker, or a rank that fails alone: an error names it, and nothing hangs."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import psutil
import pytest
import rank_functions as ranks
from client_processes import started
from distributed import Client, wait
from lost_workers import SOON, wait_for_workers, wait_until
from test_rank_group import extensions

from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.errors import TravError

VICTIM = 1


def kill(group, rank=VICTIM, after=0.0, met=None):
    """Kill the worker of a rank `after` seconds from when the ranks have met, while the caller goes on.

    They have met when the file `met` is there, if one is named, and otherwise by now.
    """
    pid = group.call(ranks.identity)[rank][2]

    def when_due():
        if met is not None:
            wait_until(met.exists, True)
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=when_due)
    thread.start()
    return thread


def assert_named(error, group, rank=VICTIM):
    assert error.rank == rank
    assert f"Worker {group.workers[rank]}, which held rank {rank}, was lost" in str(error)
    assert "build it again" in str(error)


def assert_next_works(client, lost, n_workers=2):
    """Check that the other workers, and a new group on them, still work."""
    wait_until(lambda: lost in client.nthreads(), False)
    with RankGroup.open(client) as group:
        assert lost not in group.workers and len(group.workers) >= n_workers
        assert group.call(ranks.add, 1) == [[len(group.workers)]] * len(group.workers)
    assert client.submit(lambda: 1, pure=False).result(timeout=SOON) == 1


def lose_one(client, function, folder, after=0.0):
    with RankGroup.open(client) as group:
        kill(group, after=after, met=folder / "met")
        begin = time.monotonic()
        with pytest.raises(RankError) as caught:
            group.call(function, folder)
        assert time.monotonic() - begin < after + SOON
        assert_named(caught.value, group)
        with pytest.raises(RankError, match=r"was lost"):
            group.call(ranks.add, 1)
        assert_next_works(client, group.workers[VICTIM])


@pytest.mark.parametrize("function", [ranks.build_forever, ranks.endless])
def test_killed_while_building_or_searching(doomed, function, tmp_path):
    lose_one(doomed, function, tmp_path)


def test_killed_between_calls(doomed):
    with RankGroup.open(doomed) as group:
        group.call(ranks.fill, 8_000_000)
        kill(group).join()
        with pytest.raises(RankError) as caught:
            for _ in range(1000):
                group.call(ranks.add, 1)
        assert_named(caught.value, group)
        assert_next_works(doomed, group.workers[VICTIM])


def lose_frames(client, wait):
    """Kill a worker that has frames of an answer; what needs them raises, whether or not Dask knows."""
    with RankGroup.open(client) as group:
        futures = group.call(ranks.keep, 3).futures("result")
        kill(group).join()
        if wait:
            wait_until(lambda: group.workers[VICTIM] in client.nthreads(), False)
        total = client.submit(lambda frames: len(frames), futures[VICTIM], pure=False)
        for asked in (total, *futures[VICTIM]):
            with pytest.raises(RankError) as caught:
                asked.result(timeout=SOON)
            assert_named(caught.value, group)
        for rank, frames in enumerate(futures):
            if rank != VICTIM:
                assert [frame.result(timeout=SOON)["rank"].tolist() for frame in frames] == [[rank] * 3] * 3
        assert_next_works(client, group.workers[VICTIM])


@pytest.mark.parametrize("wait", [False, True])
def test_killed_with_frames(doomed, wait):
    lose_frames(doomed, wait)


def test_killed_while_partitions_are_handed_over(doomed):
    with RankGroup.open(doomed) as group:
        frames = [
            doomed.submit(lambda k: pd.DataFrame({"src": np.arange(k, k + 9)}), k, workers=[group.workers[0]])
            for k in range(4)
        ]
        wait(frames)
        kill(group).join()
        with pytest.raises(RankError, match=rf"{group.workers[VICTIM]}, .*was lost"):
            for _ in range(1000):
                group.hand_over(frames)
        assert_next_works(doomed, group.workers[VICTIM])


def test_killed_while_opening(doomed):
    """Opening ends with an error, whichever step it has reached."""
    for after in (0.0, 0.01, 0.03):
        with RankGroup.open(doomed) as group:
            kill(group, after=after)
            try:
                for _ in range(1000):
                    RankGroup.open(doomed, group.workers).close()
            except RankError as error:
                assert "was lost" in str(error)
            except TravError as error:
                assert f"no worker '{group.workers[VICTIM]}'" in str(error)
            else:
                pytest.fail("no error after a worker was killed")
        wait_until(lambda lost=group.workers[VICTIM]: lost in doomed.nthreads(), False)
        wait_for_workers(doomed, 3)


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (ranks.one_raises, (2,), "Rank 2 failed alone: out of luck at"),
        (ranks.one_raises, (2, MemoryError), "Rank 2 failed alone: out of luck at 8,589,934,592 bytes"),
        (ranks.one_raises, (2, MemoryError, True), "Rank 2 failed while building: out of luck at"),
        (ranks.one_raises, (2, SystemExit), "Rank 2 failed alone: SystemExit"),
        (ranks.one_raises_last, (2,), "Rank 2 failed alone: out of luck"),
    ],
)
def test_one_rank_fails(client, function, arguments, said):
    with RankGroup.open(client) as group:
        group.call(ranks.fill, 8_000_000)
        begin = time.monotonic()
        with pytest.raises(RankError, match=said) as caught:
            group.call(function, *arguments)
        assert time.monotonic() - begin < SOON
        assert caught.value.rank == 2
        assert group.workers[2] in str(caught.value)
        wait_until(lambda: set(client.run(items).values()), {0})
        with RankGroup.open(client) as other:  # before the failed group is closed
            assert other.call(ranks.add, 1) == [[4]] * 4
    assert set(extensions(client).values()) == {(0, 0)}


def items(dask_worker):
    from rapids_trav.distributed.session.rank_actor import NAME

    return sum(len(actor._state.items) for actor in dask_worker.extensions[NAME]._ranks.values())


def test_a_silent_rank_is_named_at_the_deadline(client):
    with RankGroup.open(client, deadline=3.0) as group:
        begin = time.monotonic()
        with pytest.raises(RankError, match=r"Rank 3 did not answer rank \d within 3 s") as caught:
            group.call(ranks.one_is_silent, 3)
        assert time.monotonic() - begin < SOON
        assert caught.value.rank == 3 and group.workers[3] in str(caught.value)


def test_a_worker_that_joins_later_is_ignored(doomed):
    with RankGroup.open(doomed) as group:
        group.call(ranks.remember, "x", 1)
        doomed.cluster.scale(4)
        doomed.wait_for_workers(4, timeout=60)
        assert len(group.workers) == 3 and group.call(ranks.remembered, "x") == [1] * 3
        with RankGroup.open(doomed) as other:
            assert len(other.call(ranks.add, 1)) == 4


def test_workers_that_restart_are_others(doomed):
    with RankGroup.open(doomed) as group:
        before = set(doomed.run(os.getpid).values())  # the system may give a port again
        doomed.restart()
        with pytest.raises(RankError, match=r"was lost"):
            group.call(ranks.add, 1)
        assert not before & set(doomed.run(os.getpid).values())
        with RankGroup.open(doomed) as other:
            assert len(other.call(ranks.add, 1)) == 3


@pytest.mark.release
@pytest.mark.parametrize("function", [ranks.build_forever, ranks.endless])
@pytest.mark.parametrize("turn", range(10))
def test_killed_many_times_at_work(doomed, turn, function, tmp_path):
    lose_one(doomed, function, tmp_path, 0.1 * turn)


@pytest.mark.release
@pytest.mark.parametrize("turn", range(10))
def test_killed_many_times_with_frames(doomed, turn):
    lose_frames(doomed, bool(turn % 2))


# ---- a client whose process ends leaves nothing behind on the workers, and no rank waits for it


MUCH = 100_000_000  # bytes on each worker


def client_with_group(test, scheduler, how):
    client = Client(scheduler, set_as_default=False)
    group = RankGroup.open(client)
    group.call(ranks.fill, MUCH)
    kept = group.call(ranks.keep_much, MUCH)
    test.send("ready")
    if how == "searching":
        group.call(ranks.endless)
    if how == "ending":  # exit without closing anything
        sys.exit(0)
    test.recv()  # never comes
    del kept


def resident(dask_worker):
    return psutil.Process().memory_info().rss


@pytest.mark.parametrize("how", ["idle", "searching", pytest.param("ending", marks=pytest.mark.slow)])
def test_memory_is_freed(client, how):
    before = client.run(resident)
    method = "spawn" if how == "ending" else "forkserver"  # with an interpreter that ends as a user's does
    with started(client_with_group, client.scheduler.address, how, method=method) as (process, told):
        assert told.recv() == "ready"
        if how != "ending":
            during = client.run(resident)
            assert all(during[worker] > before[worker] + MUCH for worker in before)
            assert set(extensions(client).values()) == {(1, 1)}
            process.kill()
        process.join(60)
    wait_until(lambda: set(extensions(client).values()), {(0, 0)})
    wait_until(lambda: all(now < before[worker] + MUCH for worker, now in client.run(resident).items()), True)
    with RankGroup.open(client) as group:
        assert group.call(ranks.add, 1) == [[4]] * 4
