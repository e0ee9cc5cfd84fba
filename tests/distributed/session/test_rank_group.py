"""Ranks on the workers of a cluster: their partitions, their answers, and their end."""

from __future__ import annotations

import gc
import threading

import grid_graphs
import numpy as np
import pandas as pd
import pytest
import rank_functions as ranks
from distributed import Client
from lost_workers import wait_until

from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.errors import TravError, UnknownVertexError


@pytest.fixture
def group(client):
    with RankGroup.open(client) as group:
        yield group


def test_one_rank_on_each_worker(client, group):
    assert group.workers == tuple(client.nthreads())
    found = group.call(ranks.identity)
    assert [rank for rank, *_ in found] == [0, 1, 2, 3]
    assert len({pid for _, _, pid, _ in found}) == 4
    assert group.device == "cpu" and {device for _, device, *_ in found} == {"cpu"}
    assert all(thread.startswith("rapids-trav-rank") for *_, thread in found)


def test_ranks_talk_and_remember(group):
    assert group.call(ranks.add, 1, 2, factor=10) == [[40, 80]] * 4
    assert group.call(ranks.gathered, 7) == [[[7, 0], [7, 1], [7, 2], [7, 3]]] * 4
    group.call(ranks.remember, "x", np.arange(3))
    assert [found.tolist() for found in group.call(ranks.remembered, "x")] == [[0, 1, 2]] * 4


@pytest.mark.parametrize("shape", [(2, 2), (1, 4), (4, 1)])
def test_a_search_is_exact(group, shape):
    graph = grid_graphs.random_graph(5, 2000, 9000)
    parts = group.call(ranks.distances, 5, shape, 17)
    distance = np.concatenate([distance for distance, _ in parts])[: graph.n]
    predecessor = np.concatenate([predecessor for _, predecessor in parts])[: graph.n]
    wanted = graph.distance([17])
    assert np.array_equal(distance, wanted)
    assert np.array_equal(predecessor, graph.smallest_predecessor(wanted, "out"))


def test_the_scheduler_tells_the_workers(client, monkeypatch):
    """The scheduler is asked, as the client's own summary is at times overwritten by one without workers."""
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": {}})
    with RankGroup.open(client) as group:
        assert len(group.workers) == 4


def test_chosen_workers_in_the_order_given(client):
    workers = list(client.nthreads())[2:0:-1]
    with RankGroup.open(client, workers) as group:
        assert group.workers == tuple(workers)
        pids = [pid for _, _, pid, _ in group.call(ranks.identity)]
    here = client.run(lambda dask_worker: __import__("os").getpid(), workers=workers)
    assert pids == [here[worker] for worker in workers]


def test_partitions_go_where_they_lie(client, group):
    frames = [pd.DataFrame({"src": [10 * k]}) for k in range(6)]
    at = [2, 0, 2, 1, 3, 0]
    futures = [
        client.submit(lambda frame: frame, frame, workers=[group.workers[rank]], pure=False)
        for frame, rank in zip(frames, at, strict=True)
    ]
    group.hand_over(futures)
    wanted = [[(k, 10 * k) for k in range(6) if at[k] == rank] for rank in range(4)]
    assert [sorted(found) for found in group.call(ranks.numbers)] == wanted


def test_partitions_from_elsewhere_are_spread(client):
    *inside, outside = client.nthreads()
    frame = pd.DataFrame({"src": [5]})
    futures = [
        client.submit(lambda frame, k: frame, frame, k, workers=[outside], pure=False) for k in range(6)
    ]
    with RankGroup.open(client, inside) as group:
        group.hand_over(futures)
        assert [len(found) for found in group.call(ranks.numbers)] == [2, 2, 2]


def test_a_partition_that_failed_raises_its_error(client, group):
    with pytest.raises(ZeroDivisionError):
        group.hand_over([client.submit(lambda: 1 // 0, pure=False)])
    assert group.call(ranks.add, 1) == [[4]] * 4


def test_an_error_of_all_ranks_leaves_the_group_alive(group):
    group.call(ranks.remember, "x", 1)
    with pytest.raises(UnknownVertexError, match=r"The graph has no vertex 7: take one"):
        group.call(ranks.all_raise)
    assert group.call(ranks.remembered, "x") == [1] * 4
    assert group.error is None


def test_what_cannot_travel(group):
    with pytest.raises(TypeError, match=r"pickle"):
        group.call(ranks.unpicklable)
    with pytest.raises(TypeError, match=r"argument"):
        group.call(ranks.add, no_such_option=1)
    assert group.call(ranks.add, 1) == [[4]] * 4


def test_closing(client):
    group = RankGroup.open(client)
    assert not group.closed
    group.close()
    group.close()
    assert group.closed
    with pytest.raises(TravError, match=r"graph is closed: build it again"):
        group.call(ranks.add, 1)
    with pytest.raises(TravError, match=r"graph is closed"):
        group.hand_over([])


def extensions(client):
    from rapids_trav.distributed.session.rank_actor import NAME

    def count(dask_worker):
        handlers = [name for name in dask_worker.handlers if name.startswith("rapids-trav-ranks")]
        return len(dask_worker.extensions[NAME]._ranks), len(handlers)

    return client.run(count)


def test_a_group_that_is_dropped_is_closed(client):
    group = RankGroup.open(client)
    assert set(extensions(client).values()) == {(1, 1)}
    del group
    gc.collect()
    wait_until(lambda: set(extensions(client).values()), {(0, 0)})


def test_wrong_workers(client):
    with pytest.raises(TravError, match=r"no worker 'tcp://10.0.0.9:1': choose from 'tcp"):
        RankGroup.open(client, ["tcp://10.0.0.9:1"])
    worker = next(iter(client.nthreads()))
    with pytest.raises(TravError, match=f"workers names '{worker}' twice: name each worker once"):
        RankGroup.open(client, [worker, worker])
    with pytest.raises(TravError, match=r"0 of 4 workers have a GPU"):
        RankGroup.open(client, device="cuda")
    assert set(extensions(client).values()) == {(0, 0)}


def test_a_client_that_was_closed(cluster):
    other = Client(cluster, set_as_default=False)
    group = RankGroup.open(other)
    other.close()
    with pytest.raises(TravError, match=r"client is closed, and its graphs are lost: make another client"):
        group.call(ranks.add, 1)
    group.close()
    with pytest.raises(TravError, match=r"client is closed"):
        RankGroup.open(other)


def test_a_group_does_not_travel(group, client):
    import pickle

    with pytest.raises(TravError, match=r"cannot be pickled"):
        pickle.dumps(group)


@pytest.mark.parametrize("calls", [60, pytest.param(1000, marks=pytest.mark.release)])
def test_two_clients_and_threads_with_overlapping_workers(client, cluster, calls):
    """Small calls of groups that share some workers finish, and each gets its own answers."""
    workers = list(client.nthreads())
    wrong = []

    def ask(group, times):
        for k in range(times):
            if group.call(ranks.add, k) != [[3 * k]] * 3:
                wrong.append((group.workers, k))

    with (
        Client(cluster, set_as_default=False) as other,
        RankGroup.open(client, workers[:3]) as one,
        RankGroup.open(other, workers[:0:-1]) as two,
    ):
        threads = [threading.Thread(target=ask, args=(group, calls // 4)) for group in (one, two, one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(240)
        assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_an_error_names_its_rank_again(client):
    with RankGroup.open(client) as group:
        with pytest.raises(RankError) as first:
            group.call(ranks.one_raises, 2)
        with pytest.raises(RankError) as second:
            group.call(ranks.add, 1)
        assert str(first.value) == str(second.value) and second.value.rank == 2
        assert group.error is not None and group.error.rank == 2
