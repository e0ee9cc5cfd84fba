"""Weighted shortest paths equal those of NetworkX, in the order in which it settles nodes, with ties."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import NEWEST, assert_like_networkx, converted, graphs, outcome
from random_graphs import common

from rapids_trav.backends.graphs import structure_of

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


@pytest.mark.parametrize(
    "name", ["multi_source_dijkstra", "multi_source_dijkstra_path", "multi_source_dijkstra_path_length"]
)
@pytest.mark.parametrize("edges", [[("a", "b", -1)], [("a", "c", -1)], [("b", "a", -1)], [("c", "b", -1)]])
def test_negative_weights_and_several_sources_are_as_in_networkx(name, edges):
    graph = nx.DiGraph()
    graph.add_nodes_from("abcd")
    graph.add_weighted_edges_from([*edges, ("c", "d", 2), ("b", "d", 0.5)])
    call = getattr(nx, name)
    targets = [{"target": "c"}, {"target": "d"}] if name == "multi_source_dijkstra" else []
    for arguments in ({}, {"cutoff": 0}, *targets):
        own = outcome(call, converted(graph), ["a", "b"], ordered=NEWEST, **arguments)
        assert own == outcome(call, graph, ["a", "b"], ordered=NEWEST, **arguments)


@pytest.mark.parametrize("weight", [None, "three", 2**70, float("nan"), 1 + 2j])
def test_weights_that_arrays_do_not_hold_are_left_to_networkx(weight):
    from rapids_trav.backends.interface import backend

    graph = nx.path_graph(4)
    graph[1][2]["weight"] = weight
    own = outcome(backend.single_source_dijkstra_path_length, converted(graph), 0)
    assert repr(own) == repr(outcome(nx.single_source_dijkstra_path_length, graph, 0))


def exact(graph, *args, name="single_source_dijkstra", **kwargs):
    """Compare with the backend, the type of each number included."""
    from rapids_trav.backends.interface import backend

    own = outcome(backend._functions[name].body, converted(graph), *args, **kwargs)
    assert repr(own) == repr(outcome(getattr(nx, name), graph, *args, **kwargs))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_integers_among_floats_stay_integers(kind):
    graph = kind()
    graph.add_weighted_edges_from([(0, 1, 1), (1, 2, 2), (2, 3, 1.0), (3, 4, 1), (0, 5, 0.5), (0, 6, True)])
    graph.add_edge(1, 7)
    if graph.is_multigraph():
        graph.add_weighted_edges_from([(0, 1, 1.0), (0, 5, 2), (2, 8, 3.0), (2, 8, 3)])
    exact(graph, 0)
    for target in graph:
        exact(graph, 0, target)
        exact(graph, 0, target, name="dijkstra_path_length")


def test_integers_that_no_float_holds_are_left_to_networkx():
    from rapids_trav.backends.interface import backend

    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2**53), (1, 2, 1), (2, 3, 1.0)])
    own = backend.single_source_dijkstra_path_length(converted(graph), 0)
    assert own[2] == 2**53 + 1 and repr(own) == repr(nx.single_source_dijkstra_path_length(graph, 0))


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.longdouble, np.int8, np.uint64])
def test_narrower_types_of_numpy_are_summed_by_networkx(kind):
    from rapids_trav.backends.interface import backend

    graph = nx.path_graph(5)
    nx.set_edge_attributes(graph, kind(50) / kind(7) if issubclass(kind, np.floating) else kind(50), "weight")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # int8 overflows
        own = outcome(backend.single_source_dijkstra_path_length, converted(graph), 0)
        assert repr(own) == repr(outcome(nx.single_source_dijkstra_path_length, graph, 0))
    with pytest.raises(NotImplementedError, match="a type of NumPy"):
        structure_of(graph).weights("weight")
