"""Components equal those of NetworkX, in the order of their first nodes."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import assert_like_networkx, graphs
from random_graphs import common

from rapids_trav.backends.functions.connected import _labels
from rapids_trav.backends.graphs import from_networkx, structure_of

UNDIRECTED, DIRECTED = (nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph)


@pytest.mark.parametrize("name", ["connected_components", "number_connected_components", "is_connected"])
@common
@given(graph=graphs(UNDIRECTED))
def test_undirected(name, graph):
    assert_like_networkx(name, graph)


@pytest.mark.parametrize(
    "name", ["weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected"]
)
@common
@given(graph=graphs(DIRECTED))
def test_directed(name, graph):
    assert_like_networkx(name, graph)


@common
@given(graph=graphs(UNDIRECTED), data=st.data())
def test_of_one_node(graph, data):
    assert_like_networkx("node_connected_component", graph, data.draw(st.sampled_from([*graph, "not there"])))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_the_null_graph(kind):
    name = "is_weakly_connected" if kind is nx.DiGraph else "is_connected"
    assert_like_networkx(name, kind())


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("directed", [False, True])
def test_labels_are_the_smallest_of_each_component(seed, directed):
    graph = nx.gnm_random_graph(2000, 400 * (seed + 1), seed=seed, directed=directed)
    labels = _labels(structure_of(from_networkx(graph)))
    components = nx.weakly_connected_components(graph) if directed else nx.connected_components(graph)
    for component in components:
        assert set(labels[list(component)]) == {min(component)}
