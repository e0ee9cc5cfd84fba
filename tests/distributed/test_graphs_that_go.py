"""Workers are left as they were after a graph is closed, dropped or abandoned in any way."""

from __future__ import annotations

import gc
import signal

import numpy as np
import pandas as pd
import psutil
import pytest
from client_processes import client_with_graph, started
from pandas.testing import assert_frame_equal

from rapids_trav import TravError
from rapids_trav.engines.multigpu.communicator import RankError

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from graph_faults import held  # noqa: E402
from lost_workers import wait_until  # noqa: E402

EDGES = pd.DataFrame(np.random.default_rng(2).integers(0, 500, (2000, 2)), columns=["src", "dst"])
SOURCE = int(EDGES["src"].iloc[0])


def graph_of(client, edges=EDGES, **options):
    return dask.from_pandas(edges, npartitions=6, sort=False).trav.graph(client=client, **options)


def everything(client):
    """Return the counts of `held` on the workers, and of groups, tasks and requests on the scheduler."""

    def on_scheduler(dask_scheduler):
        from rapids_trav.distributed.session.conductor import Conductor

        conductor = dask_scheduler.plugins.get(Conductor.name)
        if conductor is None:
            return 0, 0, 0
        return len(conductor._groups), len(conductor._tasks), len(conductor._tickets.waiting())

    return set(client.run(held).values()), client.run_on_scheduler(on_scheduler)


def at_work(dask_scheduler):
    """Return whether the scheduler serves a request."""
    from rapids_trav.distributed.session.conductor import Conductor

    return bool(dask_scheduler.plugins[Conductor.name]._tickets.waiting())


NOTHING = {(0, 0, 0)}, (0, 0, 0)


def assert_freed(client):
    wait_until(lambda: everything(client), NOTHING)


def assert_next_works(client):
    with client.as_current(), graph_of(client) as graph:
        found = graph.bfs(SOURCE, deterministic=True).compute()
    assert_frame_equal(found, EDGES.trav.bfs(SOURCE, deterministic=True))


def measured(dask_worker):
    process = psutil.Process()
    return process.memory_info().rss, process.num_fds(), process.num_threads()


def build_and_close(client, edges, times):
    for _ in range(times):
        with client.as_current(), graph_of(client, edges) as graph:
            graph.bfs(int(edges["src"].iloc[0])).compute()


@pytest.mark.parametrize(
    "times", [pytest.param(30, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.release)]
)
def test_many_graphs(client, times):
    """A graph takes at least 2 MB on each worker, and its answer and partitions take half of that."""
    edges = pd.DataFrame(np.random.default_rng(3).integers(0, 100_000, (400_000, 2)), columns=["src", "dst"])
    build_and_close(client, edges, 15)
    before = client.run(measured)
    build_and_close(client, edges, times)
    after = client.run(measured)
    for worker, (memory, files, threads) in before.items():
        grown = tuple(now - then for now, then in zip(after[worker], before[worker], strict=True))
        print(f"{worker}: {memory >> 20} MiB before; {grown[0] / 2**20:+.1f} MiB, {grown[1:]} files, threads")
        assert after[worker][0] < memory + 40_000_000  # of 100, as much as if one in five stayed
        assert after[worker][1] <= files + 10
        assert after[worker][2] <= threads + 5
    assert_freed(client)


def test_a_few_graphs(client):
    build_and_close(client, EDGES, 3)
    left = {(graphs, ranks) for graphs, ranks, _ in everything(client)[0]}
    assert left == {(0, 0)}  # as soon as close() has returned
    assert_freed(client)  # answers a little later, when Dask has heard that nobody needs them


def of_last_request(dask_worker):
    (rank,) = dask_worker.extensions["rapids_trav_rank"]._ranks.values()
    return rank._progress


@pytest.mark.parametrize(
    "question",
    [
        lambda graph, ids, told: graph.bfs(ids, mode="each", progress=told),
        lambda graph, ids, told: graph.levels(ids, mode="each", progress=told),
        lambda graph, ids, told: graph.paths(ids, [SOURCE], mode="each", progress=told),
    ],
)
def test_an_interrupt_ends_the_searches_of_all_ranks(client, interruptible, question):
    told = []

    def interrupt(*progress):
        told.append(progress)
        signal.raise_signal(signal.SIGINT)

    ids = np.repeat(EDGES["src"].unique(), 100)
    with client.as_current(), graph_of(client) as graph:
        with pytest.raises(KeyboardInterrupt):
            question(graph, ids, interrupt)
        wait_until(lambda: client.run_on_scheduler(at_work), False)
        done = client.run(of_last_request).values()
        assert {(total, unit) for _, total, unit in [*done, *told]} == {(len(ids), "sources")}
        assert len(told) == 1
        assert told[0][0] <= min(of_rank for of_rank, _, _ in done) <= max(of_rank for of_rank, _, _ in done)
        assert max(of_rank for of_rank, _, _ in done) < len(ids)
        found = graph.bfs(SOURCE, deterministic=True).compute()
    assert_frame_equal(found, EDGES.trav.bfs(SOURCE, deterministic=True))
    assert_freed(client)


@pytest.mark.parametrize("during", ["partitions", "phases"])
def test_a_build_that_is_interrupted_leaves_nothing(client, interruptible, during):
    def interrupt(done, total, unit):
        if unit == during:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        graph_of(client, progress=interrupt)
    assert_freed(client)
    assert_next_works(client)


@pytest.mark.parametrize("raises", [False, True])
def test_closing_collects_garbage_only_after_an_error(client, raises):
    """A full collection takes most of the time of closing, and a graph is in no cycle without a traceback."""

    def watch(dask_worker):
        gc.disable()
        dask_worker.collected = []
        gc.callbacks.append(lambda phase, about: dask_worker.collected.append(about["generation"]))

    def count(dask_worker):
        gc.callbacks.pop()
        gc.enable()
        return len(dask_worker.collected)

    graph = graph_of(client)
    graph.bfs(SOURCE).compute()
    client.run(watch)
    if raises:
        with pytest.raises(TravError, match="unknown"):
            graph.bfs(10**6)
    graph.close()
    assert all((found > 0) == raises for found in client.run(count).values())
    assert_freed(client)


def test_a_graph_without_references(client):
    graph = graph_of(client)
    answer = graph.bfs(SOURCE, deterministic=True)
    assert everything(client)[0] == {(1, 1, 1)}
    del graph
    gc.collect()
    wait_until(lambda: everything(client), ({(0, 0, 1)}, (0, 0, 0)))
    with client.as_current():
        assert_frame_equal(answer.compute(), EDGES.trav.bfs(SOURCE, deterministic=True))
    del answer
    assert_freed(client)


def test_a_graph_that_is_refused(client):
    with pytest.raises(TravError, match="null"):
        graph_of(client, EDGES.assign(src=EDGES["src"].where(EDGES["src"] != SOURCE)))
    assert_freed(client)
    assert_next_works(client)


def test_a_client_that_closes(client, cluster):
    other = distributed.Client(cluster, set_as_default=False)
    graph = graph_of(other)
    with graph_of(client) as own:
        other.close()
        with pytest.raises(TravError, match=r"client is closed, and its graphs are lost"):
            graph.bfs(SOURCE)
        graph.close()
        with client.as_current():
            found = own.bfs(SOURCE, deterministic=True).compute()
            assert_frame_equal(found, EDGES.trav.bfs(SOURCE, deterministic=True))
    assert_freed(client)


def test_workers_that_are_restarted(doomed):
    graph = graph_of(doomed)
    lost = list(doomed.nthreads())
    answer = graph.bfs(SOURCE)
    doomed.restart()
    with pytest.raises(RankError, match=r"was lost.*build it again") as caught:
        graph.bfs(SOURCE)
    assert any(worker in str(caught.value) for worker in lost)
    with doomed.as_current(), pytest.raises(Exception, match=r"cancelled|lost"):
        answer.compute()
    assert_next_works(doomed)
    graph.close()
    assert_freed(doomed)


@pytest.mark.parametrize("how", ["building", "searching", "idle", "client closes", "ending"])
def test_a_client_process_that_ends(client, how):
    method = "spawn" if how == "ending" else "forkserver"  # with an interpreter that ends as a user's does
    with (
        graph_of(client) as graph,
        started(client_with_graph, client.scheduler.address, how, method=method) as (process, told),
    ):
        assert told.recv() == "ready"
        if how == "client closes":
            assert told.recv() == "closed"
        elif how != "ending":
            if how != "idle":
                wait_until(lambda: client.run_on_scheduler(at_work), True)
            process.kill()
        if how != "client closes":
            process.join(60)
        wait_until(lambda: everything(client), ({(1, 1, 0)}, (1, 0, 0)))  # only the graph of this process
        with client.as_current():
            found = graph.bfs(SOURCE, deterministic=True).compute()
        assert_frame_equal(found, EDGES.trav.bfs(SOURCE, deterministic=True))
    assert_freed(client)
