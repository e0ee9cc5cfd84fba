"""Frames that workers have stored, and the scheduler learns of: or does not, and they are freed."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
import rank_functions as ranks
from distributed import Client
from lost_workers import wait_until
from test_kept import nothing_stored, stored

from rapids_trav.distributed.session import conductor
from rapids_trav.distributed.session.rank_actor import RankActor
from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.engines.multigpu.communicator import RankError

__all__ = ["nothing_stored"]  # a fixture of each test here, too


def known(dask_scheduler):
    """Return the workers, the bytes and the number of clients of each frame that the scheduler knows."""
    tasks = [task for key, task in dask_scheduler.tasks.items() if "rapids-trav-result" in str(key)]
    return sorted((next(iter(task.who_has)).address, task.nbytes, len(task.who_wants)) for task in tasks)


def test_the_scheduler_knows_each_frame(client):
    with RankGroup.open(client) as group:
        answer = group.call(ranks.keep_much, 8_000_000)
        assert [address for address, *_ in client.run_on_scheduler(known)] == sorted(group.workers)
        for _, nbytes, clients in client.run_on_scheduler(known):
            assert 8_000_000 <= nbytes < 8_100_000 and clients == 1
        del answer
        wait_until(lambda: client.run_on_scheduler(known), [])
        wait_until(lambda: stored(client), [0] * 4)


def slow_to_answer(told, most_seconds=60):
    """Let this worker store the frames of its next answer at once, but tell of it when the file is there."""
    answer = RankActor.call

    async def call(self, *args, **kwargs):
        RankActor.call = answer
        reply = await answer(self, *args, **kwargs)
        end = time.monotonic() + most_seconds
        while not told.exists() and time.monotonic() < end:
            await asyncio.sleep(0.01)
        return reply

    RankActor.call = call


def fails_to_store():
    """Let this worker fail as it stores the frames of its next answer."""
    store = RankActor._store

    def failing(*_):
        RankActor._store = store
        raise MemoryError("out of luck")

    RankActor._store = failing


def test_frames_of_others_are_freed_if_one_cannot_store_its_own(client):
    with RankGroup.open(client) as group:
        client.run(fails_to_store, workers=[group.workers[2]])
        with pytest.raises(RankError, match=rf"{group.workers[2]} failed.*out of luck"):
            group.call(ranks.keep)
        wait_until(lambda: stored(client), [0] * 4)
        assert client.run_on_scheduler(known) == []


@pytest.mark.parametrize("how", ["group", "client"])
def test_frames_of_an_answer_that_comes_too_late(client, cluster, how, tmp_path):
    """The group or its client is closed when all but one rank have answered."""
    other = Client(cluster, set_as_default=False)
    group = RankGroup.open(other)
    client.run(slow_to_answer, tmp_path / "told", workers=[group.workers[1]])
    errors = []

    def ask():
        try:
            group.call(ranks.keep)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: stored(client), [2, 1, 1, 1])
    (group if how == "group" else other).close()
    (tmp_path / "told").touch()
    wait_until(lambda: stored(client), [0] * 4)
    thread.join(30)
    assert not thread.is_alive() and len(errors) == 1
    if how == "group":
        assert isinstance(errors[0], RankError) and "is closed" in str(errors[0])
    assert client.run_on_scheduler(known) == []
    other.close()


def test_frames_of_a_client_that_has_just_gone(client, monkeypatch):
    """No connection is left that would release them later, so they are not registered."""
    register, asked = conductor.register, []
    monkeypatch.setattr(conductor, "register", lambda *args: asked.append(args) or register(*args))
    with RankGroup.open(client) as group:
        name = group._name

        def replaced(dask_scheduler):
            dask_scheduler.plugins[conductor.Conductor.name]._groups[name].client = "gone"

        client.run_on_scheduler(replaced)
        group.call(ranks.keep)
        assert asked == [] and client.run_on_scheduler(known) == []
        assert stored(client) == [2, 1, 1, 1]
    assert stored(client) == [0] * 4  # as soon as close() has returned


def test_the_error_of_a_lost_frame_names_its_worker():
    with pytest.raises(RankError, match=r"^Worker tcp://there, which held rank 3, was lost; "):
        conductor.raise_lost("worker tcp://there, which held rank 3, was lost", 3)
