"""Weighted shortest paths equal those of NetworkX, in the order in which it settles nodes, with ties."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import NEWEST, assert_like_networkx, converted, graphs, outcome
from random_graphs import common

weighted = graphs(weights=("integers", "floats"))
cutoffs = st.none() | st.integers(0, 6) | st.sampled_from([0.3, 2.5])
weights = st.sampled_from(["weight", None, "no such attribute"])


@pytest.mark.parametrize(
    "name",
    ["single_source_dijkstra", "single_source_dijkstra_path", "single_source_dijkstra_path_length"],
)
@common
@given(graph=weighted, cutoff=cutoffs, weight=weights, data=st.data())
def test_from_one_source(name, graph, cutoff, weight, data):
    source = data.draw(st.sampled_from([*graph, "not there"]))
    assert_like_networkx(name, graph, source, cutoff=cutoff, weight=weight, ordered=NEWEST)


@pytest.mark.parametrize(
    "name", ["multi_source_dijkstra", "multi_source_dijkstra_path", "multi_source_dijkstra_path_length"]
)
@common
@given(graph=weighted, cutoff=cutoffs, data=st.data())
def test_from_several_sources(name, graph, cutoff, data):
    sources = data.draw(st.lists(st.sampled_from([*graph]), max_size=3))
    assert_like_networkx(name, graph, sources, cutoff=cutoff, ordered=NEWEST)


@pytest.mark.parametrize("name", ["dijkstra_path", "dijkstra_path_length", "single_source_dijkstra"])
@common
@given(graph=weighted, data=st.data())
def test_to_a_target(name, graph, data):
    nodes = st.sampled_from([*graph, "not there"])
    assert_like_networkx(name, graph, data.draw(nodes), data.draw(nodes))


@pytest.mark.parametrize(
    "name", ["all_pairs_dijkstra", "all_pairs_dijkstra_path", "all_pairs_dijkstra_path_length"]
)
@common
@given(graph=graphs(weights=("integers", "floats"), max_nodes=8), cutoff=cutoffs)
def test_from_each(name, graph, cutoff):
    assert_like_networkx(name, graph, cutoff=cutoff, ordered=NEWEST)


def test_negative_weights_are_told_as_by_networkx():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "c", -3), ("c", "b", 1), ("a", "c", 2)])
    assert_like_networkx("single_source_dijkstra", graph, "a")


@pytest.mark.parametrize("weight", [None, "three", 2**70, float("nan"), 1 + 2j])
def test_weights_that_arrays_do_not_hold_are_left_to_networkx(weight):
    from rapids_trav.backends.interface import backend

    graph = nx.path_graph(4)
    graph[1][2]["weight"] = weight
    own = outcome(backend.single_source_dijkstra_path_length, converted(graph), 0)
    assert repr(own) == repr(outcome(nx.single_source_dijkstra_path_length, graph, 0))
