"""Components equal those of NetworkX, in the order of their first nodes."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import assert_like_networkx, graphs
from random_graphs import common

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
