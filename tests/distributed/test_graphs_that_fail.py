"""A worker that dies, or runs out of memory alone, at every point in the life of a graph."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import TravError
from rapids_trav.engines.multigpu.errors import RankError

pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from graph_faults import arm, die, die_at, held, run_out  # noqa: E402

SOON = 30.0  # seconds until an error must be there, on a machine that has other things to do
EDGES = pd.DataFrame(np.random.default_rng(8).integers(0, 3000, (12_000, 2)), columns=["src", "dst"])
SOURCE = int(EDGES["src"].iloc[0])


def frame():
    return dask.from_pandas(EDGES, npartitions=6, sort=False)


def workers_of(client):
    return list(client.nthreads())


def wait_until(found, wanted):
    until = time.monotonic() + SOON
    while found() != wanted and time.monotonic() < until:
        time.sleep(0.05)
    assert found() == wanted


def assert_next_works(client):
    """Another graph on the workers that there are now answers, exactly."""
    with client.as_current(), frame().trav.graph() as graph:
        found = graph.bfs(SOURCE, deterministic=True).compute()
    assert_frame_equal(found, EDGES.trav.bfs(SOURCE, deterministic=True))


def assert_freed(client, victim):
    """No worker holds anything of a graph."""
    wait_until(lambda: victim in workers_of(client), False)
    wait_until(lambda: set(client.run(held).values()), {(0, 0, 0)})


def assert_told(error, victim):
    """The error names the worker and the remedy."""
    assert victim in str(error) and "was lost" in str(error), str(error)
    assert "build it again" in str(error)


def seconds_since(told, record_property):
    return recorded(time.time() - float(told.read_text()), record_property)


def recorded(seconds, record_property):
    record_property("seconds from kill to error", round(seconds, 3))
    print(f"{seconds:.3f} s from kill to error")
    return seconds


def lose_one(client, phase, at, told, record_property):
    victim = workers_of(client)[1]
    client.run(arm, die, phase, str(told), at, workers=[victim])
    with client.as_current(), pytest.raises(RankError) as caught:
        graph = frame().trav.graph()
        answer = graph.bfs(SOURCE)
        answer.compute()  # what is lost before it was handed out is told here
    assert seconds_since(told, record_property) < SOON
    assert_told(caught.value, victim)
    if phase in ("searching", "taking"):
        with pytest.raises(RankError, match="was lost"):
            graph.bfs(SOURCE)
        graph.close()
    answer = None
    assert_freed(client, victim)
    assert_next_works(client)


@pytest.mark.parametrize(
    ("phase", "at"), [("handing over", 0), ("building", 5), ("searching", 4), ("taking", 0)]
)
def test_a_worker_that_is_killed(doomed, phase, at, tmp_path, record_property):
    lose_one(doomed, phase, at, tmp_path / "told", record_property)


def lose_one_in_compute(client, told, record_property):
    victim = workers_of(client)[1]
    pid = client.run(os.getpid, workers=[victim])[victim]
    with client.as_current(), frame().trav.graph() as graph:
        answer = graph.bfs(SOURCE)
        with pytest.raises(TravError) as caught:
            answer.map_partitions(die_at, pid, str(told), meta=answer._meta).compute()
        assert seconds_since(told, record_property) < SOON
        assert_told(caught.value, victim)
        with pytest.raises(RankError) as caught:
            graph.bfs(SOURCE)
        assert_told(caught.value, victim)
    del answer
    assert_freed(client, victim)
    assert_next_works(client)


def test_a_worker_that_is_killed_while_an_answer_is_computed(doomed, tmp_path, record_property):
    lose_one_in_compute(doomed, tmp_path / "told", record_property)


def lose_one_between(client, wait, record_property):
    victim = workers_of(client)[1]
    pid = client.run(os.getpid, workers=[victim])[victim]
    with client.as_current(), frame().trav.graph() as graph:
        graph.bfs(SOURCE).compute()
        os.kill(pid, signal.SIGKILL)
        begin = time.time()
        if wait:
            wait_until(lambda: victim in workers_of(client), False)
            wait_until(
                lambda: {graphs for graphs, *_ in client.run(held).values()}, {0}
            )  # without a question
        for ask in (lambda: graph.bfs(SOURCE), lambda: graph.degrees(), lambda: graph.n_self_loops):
            with pytest.raises(RankError) as caught:
                ask()
            assert_told(caught.value, victim)
        assert recorded(time.time() - begin, record_property) < SOON
    assert_freed(client, victim)
    assert_next_works(client)


@pytest.mark.parametrize("wait", [False, True])
def test_a_worker_that_is_killed_between_questions(doomed, wait, record_property):
    lose_one_between(doomed, wait, record_property)


@pytest.mark.parametrize(
    ("phase", "at"), [("building", 0), ("building", 7), ("searching", 0), ("searching", 5)]
)
def test_one_worker_that_runs_out_of_memory(doomed, phase, at, tmp_path):
    """No worker is lost: all of them hold the next graph."""
    there = workers_of(doomed)
    doomed.run(arm, run_out, phase, str(tmp_path / "told"), at, workers=[there[2]])
    with doomed.as_current(), pytest.raises(RankError, match="Unable to allocate") as caught:
        graph = frame().trav.graph()
        graph.bfs(SOURCE)
    assert time.time() - float((tmp_path / "told").read_text()) < SOON
    assert caught.value.rank == 2
    assert there[2] in str(caught.value) and "build it again" in str(caught.value)
    if phase == "searching":
        wait_until(lambda: {graphs for graphs, *_ in doomed.run(held).values()}, {0})  # before it is closed
        graph.close()
    wait_until(lambda: set(doomed.run(held).values()), {(0, 0, 0)})
    assert_next_works(doomed)
    assert workers_of(doomed) == there


# Ten more, each on a cluster of its own.


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["building", "searching"])
@pytest.mark.parametrize("at", [1, 2, 9])
def test_killed_at_other_meetings(doomed, phase, at, tmp_path, record_property):
    lose_one(doomed, phase, at, tmp_path / "told", record_property)


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(2))
def test_killed_again_at_the_answer(doomed, turn, tmp_path, record_property):
    if turn % 2:
        lose_one_in_compute(doomed, tmp_path / "told", record_property)
    else:
        lose_one(doomed, "taking", 0, tmp_path / "told", record_property)


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(2))
def test_killed_again_between_questions(doomed, turn, record_property):
    lose_one_between(doomed, bool(turn % 2), record_property)
