"""Searches give nodes and edges in the order of NetworkX, and break ties in the same way."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import NEWEST, assert_like_networkx, graphs
from random_graphs import common

limits = st.none() | st.integers(-1, 4)


def sources_of(graph, data):
    return data.draw(st.sampled_from([*graph, "not there"]))


@pytest.mark.parametrize("name", ["bfs_edges", "bfs_tree"])
@common
@given(graph=graphs(), limit=limits, reverse=st.booleans(), data=st.data())
def test_edges_and_tree(name, graph, limit, reverse, data):
    assert_like_networkx(name, graph, data.draw(st.sampled_from([*graph])), reverse, limit)


@pytest.mark.parametrize("name", ["bfs_predecessors", "bfs_successors"])
@common
@given(graph=graphs(), limit=limits, data=st.data())
def test_predecessors_and_successors(name, graph, limit, data):
    assert_like_networkx(name, graph, sources_of(graph, data), limit)


@pytest.mark.parametrize("name", ["bfs_layers", "bfs_labeled_edges"])
@common
@given(graph=graphs(), several=st.booleans(), data=st.data())
def test_from_several_sources(name, graph, several, data):
    sources = (
        data.draw(st.lists(st.sampled_from([*graph]), max_size=4)) if several else sources_of(graph, data)
    )
    if sources != "not there" and (NEWEST or not several):  # older ones search twice from a source
        assert_like_networkx(name, graph, sources)


@pytest.mark.parametrize("name", ["descendants", "ancestors"])
@common
@given(graph=graphs(), data=st.data())
def test_sets(name, graph, data):
    assert_like_networkx(name, graph, sources_of(graph, data))


@common
@given(graph=graphs(), data=st.data())
def test_at_a_distance(graph, data):
    distance = data.draw(st.integers(-1, 4) | st.sampled_from([1.0, 0.5, None]))
    assert_like_networkx("descendants_at_distance", graph, sources_of(graph, data), distance)


@common
@given(graph=graphs(weights=("integers",)), data=st.data())
def test_ego_graph(graph, data):
    n, radius = data.draw(st.sampled_from([*graph])), data.draw(st.integers(0, 3))
    distance = data.draw(st.none() | st.just("weight"))
    assert_like_networkx("ego_graph", graph, n, radius, data.draw(st.booleans()), False, distance)


def test_rows_are_read_from_the_dicts_and_not_from_the_edges():
    """A graph rebuilt from `G.edges()` has another order of discovery."""
    graph = nx.Graph([(0, 1), (2, 3), (0, 3), (1, 2)])
    rebuilt = nx.Graph(graph.edges())
    assert list(nx.bfs_edges(graph, 3)) != list(nx.bfs_edges(rebuilt, 3))
    assert_like_networkx("bfs_edges", graph, 3)
