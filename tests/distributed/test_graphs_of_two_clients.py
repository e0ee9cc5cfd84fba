"""Searches of two clients, each in several threads, on workers that both graphs are spread over."""

from __future__ import annotations

import threading

import pytest
from client_processes import only_client, started
from distributed_cases import edges_of
from turns_at_work import watch, watched

from rapids_trav.distributed import clusters

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")
pytest.importorskip("rapids_trav.distributed.session.rank_group")

THREADS = 4


def search(graph, wanted, first, times, wrong):
    """Search from one source after another; append wrong answers and errors to `wrong`."""
    try:
        for k in range(first, first + times):
            source = k % len(wanted)
            found = graph.levels(source) if k % 5 else graph.bfs(source, predecessors=False)
            with graph.questions._client.as_current():
                found = found.compute()
            if k % 5 == 0:
                found = found.groupby("distance", dropna=False).size().reset_index(name="vertices")
            if found["vertices"].tolist() != wanted[source]:
                wrong.append((source, found))
    except BaseException as error:
        wrong.append(error)


@pytest.mark.parametrize("searches", [40, pytest.param(1000, marks=pytest.mark.release)])
def test_overlapping_workers(client, cluster, monkeypatch, searches):
    """Two of the four workers have ranks of both graphs, in a different order in each."""
    from rapids_trav.distributed.session.rank_group import RankGroup

    workers = list(client.nthreads())
    one, two = edges_of("int", seed=1), edges_of("int", n_edges=70, seed=2)
    with distributed.Client(cluster, set_as_default=False) as other:
        chosen = {client.id: workers[:3], other.id: workers[:0:-1]}
        monkeypatch.setattr(
            clusters, "open_group", lambda of, device: RankGroup.open(of, chosen[of.id], device=device)
        )
        wrong = []
        threads = []
        with (
            dask.from_pandas(one, npartitions=4).trav.graph(client=client) as first,
            dask.from_pandas(two, npartitions=5).trav.graph(client=other, directed=True) as second,
        ):
            assert {graph.questions._group.workers for graph in (first, second)} == {
                tuple(of) for of in chosen.values()
            }
            for graph, edges, directed in ((first, one, False), (second, two, True)):
                local = edges.trav.graph(directed=directed)
                wanted = [local.levels(source)["vertices"].tolist() for source in range(10)]
                for k in range(THREADS // 2):
                    each = searches // THREADS
                    arguments = graph, wanted, k * each, each, wrong
                    threads.append(threading.Thread(target=search, args=arguments, daemon=True))
            client.run(watch)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(900)
            served = client.run(watched)
            assert not any(thread.is_alive() for thread in threads)
    assert wrong == []
    assert {most for _, most in served.values()} == {1}  # even on workers with ranks of both graphs
    assert [served[worker][0] for worker in workers] == [searches // 2, searches, searches, searches // 2]


def test_a_graph_needs_no_current_client():
    """The client that is given builds the graph and asks it."""
    with started(only_client) as (_, told):
        assert told.poll(120) and told.recv() == [[0, 0], [1, 1], [2, 2], [3, 3]]
