"""A worker dies, or alone runs out of memory, at every point in the life of a graph."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import Future

import pytest

from rapids_trav.engines.multigpu.communicator import RankError

pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from graph_faults import arm, die, held, run_out, waiting  # noqa: E402
from lost_workers import (  # noqa: E402
    EDGES,
    SOON,
    SOURCE,
    assert_next_works,
    lose_one,
    lose_one_between,
    lose_one_in_compute,
    wait_for_workers,
    wait_until,
    workers_of,
)


def frame():
    return dask.from_pandas(EDGES, npartitions=6, sort=False)


@pytest.mark.parametrize(
    ("phase", "at"), [("handing over", 0), ("building", 5), ("searching", 4), ("storing", 0)]
)
def test_a_worker_that_is_killed(doomed, phase, at, tmp_path, record_property):
    lose_one(doomed, frame, phase, at, tmp_path / "told", record_property)


def test_a_worker_that_is_killed_while_an_answer_is_computed(doomed, tmp_path, record_property):
    lose_one_in_compute(doomed, frame, tmp_path / "told", record_property)


def begun(function):
    """Return the future of a function in a thread that the test does not wait for if it never ends."""
    future = Future()

    def run():
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def kill_all(client):
    """Kill all three workers, and wait for those that come in place of them."""
    wait_for_workers(client, 3)  # one may have been killed before
    pids = client.run(os.getpid)
    for pid in pids.values():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: set(workers_of(client)).isdisjoint(pids), True)
    wait_for_workers(client, 3)


def test_all_workers_are_killed_while_partitions_are_computed(doomed, tmp_path):
    """The build ends while the workers that come in place of them still compute."""
    slow = frame().map_partitions(waiting, str(tmp_path), meta=EDGES.iloc[:0])
    with doomed.as_current():
        building = begun(lambda: slow.trav.graph(client=doomed))
        wait_until((tmp_path / "running").exists, True)
        kill_all(doomed)
        with pytest.raises(RankError, match="build it again"):
            building.result(timeout=SOON)
    (tmp_path / "go on").touch()


def test_the_frame_of_a_failed_build_is_built_on_new_workers(doomed, tmp_path):
    """Its partitions have the same keys, so what is left of their tasks must not be bound to lost workers."""
    edges = frame()
    doomed.run(arm, die, "handing over", str(tmp_path / "told"), workers=[workers_of(doomed)[1]])
    with doomed.as_current(), pytest.raises(RankError, match="was lost"):
        edges.trav.graph()
    kill_all(doomed)
    begun(lambda: assert_next_works(doomed, lambda: edges)).result(timeout=SOON)


@pytest.mark.parametrize("wait", [False, True])
def test_a_worker_that_is_killed_between_questions(doomed, wait, record_property):
    lose_one_between(doomed, frame, wait, record_property)


@pytest.mark.parametrize(
    ("phase", "at"),
    [
        ("building", 7),
        ("searching", 5),
        pytest.param("building", 0, marks=pytest.mark.slow),
        pytest.param("searching", 0, marks=pytest.mark.slow),
    ],
)
def test_one_worker_that_runs_out_of_memory(doomed, phase, at, tmp_path):
    """No worker is lost, and the next graph is spread over all of them."""
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
    assert_next_works(doomed, frame)
    assert workers_of(doomed) == there


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["building", "searching"])
@pytest.mark.parametrize("at", [1, pytest.param(2, marks=pytest.mark.release), 9])
def test_killed_at_other_meetings(doomed, phase, at, tmp_path, record_property):
    lose_one(doomed, frame, phase, at, tmp_path / "told", record_property)


@pytest.mark.release
@pytest.mark.parametrize("turn", range(2))
def test_killed_again_at_the_answer(doomed, turn, tmp_path, record_property):
    if turn % 2:
        lose_one_in_compute(doomed, frame, tmp_path / "told", record_property)
    else:
        lose_one(doomed, frame, "storing", 0, tmp_path / "told", record_property)


@pytest.mark.release
@pytest.mark.parametrize("turn", range(2))
def test_killed_again_between_questions(doomed, turn, record_property):
    lose_one_between(doomed, frame, bool(turn % 2), record_property)
