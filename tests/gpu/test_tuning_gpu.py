"""Research settings change how the GPU works, but not its answers."""

import numpy as np
import pytest

from rapids_trav import generators

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def edges():
    pytest.importorskip("cudf")
    return generators.rmat(10, 8, seed=3, library="cudf")


@pytest.fixture(scope="module")
def root(edges):
    return int(edges["src"].iloc[0])


def test_both_sorts_number_the_vertices_alike(edges, root):
    graphs = [edges.trav.graph(degree_sort=True, tuning={"sort": sort}) for sort in ("radix", "merge")]
    assert all("degree sort" in graph.build_times for graph in graphs)
    one, other = (graph.ids.order.get() for graph in graphs)
    np.testing.assert_array_equal(one, other)
    plain = edges.trav.graph(degree_sort=False)
    assert plain.ids.order is None
    assert "degree sort" not in plain.build_times
    assert "degree sort" in edges.trav.graph().build_times


def test_policies_give_the_same_distances(edges, root):
    graph = edges.trav.graph()
    found = [
        graph.bfs(root, variant="direction", tuning={"policy": policy})["distance"].fillna(-1).to_numpy()
        for policy in ("gap", "beamer")
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("replication", ["auto", "formula", 1, 32])
def test_ranks_gathered_with_replicas(edges, replication):
    graph = edges.trav.graph()
    ranks = graph.pagerank(tuning={"gather": "replicas", "replication": replication})["pagerank"].to_numpy()
    np.testing.assert_allclose(ranks, graph.pagerank()["pagerank"].to_numpy(), rtol=1e-9)


def test_the_accessor_splits_settings_between_graph_and_search(edges, root):
    asked = {"degree_sort": True, "variant": "direction", "tuning": {"sort": "merge", "policy": "beamer"}}
    found = edges.trav.bfs(root, **asked)["distance"].fillna(-1).to_numpy()
    np.testing.assert_array_equal(found, edges.trav.bfs(root)["distance"].fillna(-1).to_numpy())
