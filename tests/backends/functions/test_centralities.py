"""Centralities equal those of NetworkX: values, order of nodes, and errors."""

import random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import converted, graphs
from random_graphs import common

from rapids_trav.backends.interface import backend

SIMPLE = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def answer(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


def same(name, graph, **options):
    own = answer(backend._functions[name].body, converted(graph), **options)
    theirs = answer(getattr(nx, name), graph, **options)
    if isinstance(theirs, dict):
        assert own == pytest.approx(theirs)
        assert list(own) == list(theirs)
        assert {type(value) for value in own.values()} <= {int, float}
    elif isinstance(theirs, tuple):
        assert own == theirs
    else:
        assert own == pytest.approx(theirs)


@common
@given(graph=graphs(kinds=SIMPLE), data=st.data())
def test_closeness(graph, data):
    options = {"wf_improved": data.draw(st.booleans())}
    same("closeness_centrality", graph, **options)
    same("closeness_centrality", graph, u=data.draw(st.sampled_from([*graph])), **options)


@common
@given(graph=graphs(kinds=SIMPLE))
def test_harmonic_eccentricity_diameter_and_average(graph):
    for name in ("harmonic_centrality", "eccentricity", "diameter", "average_shortest_path_length"):
        same(name, graph)
    whole = nx.compose(graph, nx.cycle_graph([*graph], create_using=type(graph)))
    for name in ("eccentricity", "diameter", "average_shortest_path_length"):
        same(name, whole)


@common
@given(graph=graphs(kinds=SIMPLE), data=st.data())
def test_betweenness(graph, data):
    options = {name: data.draw(st.booleans(), name) for name in ("normalized", "endpoints")}
    same("betweenness_centrality", graph, **options)
    k, seed = data.draw(st.integers(2, max(2, len(graph)))), data.draw(st.integers(0, 99))
    if k <= len(graph) and backend._functions["betweenness_centrality"].refusal((graph,), {"k": k}) is None:
        own = backend._functions["betweenness_centrality"].body(
            converted(graph), k=k, seed=random.Random(seed), **options
        )
        assert own == pytest.approx(nx.betweenness_centrality(graph, k=k, seed=seed, **options))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("closeness_centrality", {"distance": "weight"}),
        ("harmonic_centrality", {"nbunch": [0]}),
        ("eccentricity", {"v": 0}),
        ("diameter", {"usebounds": True}),
        ("average_shortest_path_length", {"method": "dijkstra"}),
        ("betweenness_centrality", {"weight": "weight"}),
    ],
)
def test_what_is_left_to_networkx(name, options):
    graph = nx.path_graph(4)
    assert isinstance(backend.can_run(name, (graph,), options), str)
    assert getattr(backend, name)(converted(graph), **options) == getattr(nx, name)(graph, **options)


def test_more_paths_than_a_float_holds_are_left_to_networkx():
    diamonds = nx.Graph()
    for i in range(0, 3 * 1100, 3):
        diamonds.add_edges_from([(i, i + 1), (i, i + 2), (i + 1, i + 3), (i + 2, i + 3)])
    with pytest.raises(NotImplementedError, match="more shortest paths"):
        backend._functions["betweenness_centrality"].body(converted(diamonds))


@pytest.mark.parametrize("name", ["diameter", "average_shortest_path_length", "eccentricity"])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_the_empty_graph(name, kind):
    own = answer(backend._functions[name], converted(kind()))
    assert own == answer(getattr(nx, name), kind())
