"""Clients of other clusters, clients that close, and graphs of tasks."""

import threading

import pandas as pd
import pytest

from rapids_trav import Graph, TravError

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from graph_faults import waiting  # noqa: E402
from local_clusters import local_cluster  # noqa: E402
from lost_workers import wait_until  # noqa: E402

EDGES = pd.DataFrame({"src": list("abcd"), "dst": list("bcde")})


def build_and_ask():
    """Build a graph and ask it; a task of a worker runs this."""
    with dask.from_pandas(EDGES, npartitions=2).trav.graph() as graph:
        return graph.bfs("a").compute()["distance"].tolist()


@pytest.fixture
def one_thread():
    """Client of a cluster that runs one task at a time."""
    with local_cluster(1) as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_task_builds_and_asks_on_the_only_thread(one_thread):
    assert one_thread.submit(build_and_ask).result(timeout=60) == [0, 1, 2, 3, 4]


def test_sources_are_computed_by_the_client_of_the_graph(client, here):
    """The current client is that of another cluster, which does not have them."""
    with Graph.from_edges(dask.from_pandas(EDGES, npartitions=2), client=here) as graph:
        near = graph.bfs("a", depth_limit=1, reached_only=True)
        with client.as_current():
            again = graph.bfs(near["vertex"], predecessors=False)
            levels = graph.levels("a", targets=near["vertex"])
        with here.as_current():
            assert again.compute()["distance"].tolist() == [0, 0, 1, 2, 3]
            assert levels.compute()["vertices"].tolist()[:2] == [1, 1]


def test_vertices_of_another_cluster_are_refused(client, here):
    frame = dask.from_pandas(EDGES, npartitions=2)
    with Graph.from_edges(frame, client=client) as graph, Graph.from_edges(frame, client=here) as other:
        found = graph.bfs("a")["vertex"]
        with pytest.raises(TravError, match=r"^The data of a Dask collection that names vertices are lost"):
            other.bfs(found)
        with here.as_current():
            assert len(other.bfs("a")) == 5


def test_edges_of_another_clusters_client_are_refused(client, here):
    edges = here.persist(dask.from_pandas(EDGES, npartitions=2))
    with pytest.raises(TravError, match=r"^Dask has let go of a partition .*futures belong to the client"):
        Graph.from_edges(edges, client=client)


def test_a_client_that_closes_during_a_build_is_named(cluster, tmp_path):
    client = distributed.Client(cluster, set_as_default=False)
    edges = dask.from_pandas(EDGES, npartitions=2).map_partitions(waiting, str(tmp_path), meta=EDGES)

    def close():
        wait_until((tmp_path / "running").exists, True)
        client.close()

    closing = threading.Thread(target=close)
    closing.start()
    with pytest.raises(TravError, match=r"^The client is clos\w+, and its graphs are lost"):
        Graph.from_edges(edges, client=client)
    closing.join()
    (tmp_path / "go on").touch()
