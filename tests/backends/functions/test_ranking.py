"""PageRank equals that of NetworkX: ranks, number of iterations, and errors."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import converted, graphs
from random_graphs import common

from rapids_trav.backends.interface import backend


def ranks(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    except Exception as error:
        return type(error)


@common
@given(graph=graphs(weights=("integers", "floats")), data=st.data())
def test_every_option(graph, data):
    pytest.importorskip("scipy")
    vectors = st.none() | st.dictionaries(st.sampled_from([*graph]), st.integers(1, 5), min_size=1)
    options = {
        "alpha": data.draw(st.sampled_from([0.85, 0.5, 0.0])),
        "personalization": data.draw(vectors),
        "nstart": data.draw(vectors),
        "dangling": data.draw(vectors),
        "weight": data.draw(st.sampled_from(["weight", None, "other"])),
        "tol": data.draw(st.sampled_from([1e-6, 1e-10])),
        "max_iter": data.draw(st.sampled_from([100, 3])),
    }
    own = ranks(backend._functions["pagerank"].body, converted(graph), **options)
    theirs = ranks(nx.pagerank, graph, **options)
    if isinstance(theirs, dict):
        assert own == pytest.approx(theirs, abs=1e-13, nan_ok=True)
        assert list(own) == list(theirs)
        assert all(type(rank) is float for rank in own.values())
    else:
        assert own is theirs


def test_personalization_of_nothing():
    with pytest.raises(ZeroDivisionError):
        backend.pagerank(converted(nx.path_graph(3)), personalization={0: 0})


def test_the_empty_graph():
    assert backend.pagerank(converted(nx.Graph())) == {}


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_without_weights_parallel_edges_count_each(kind):
    graph = kind([(0, 1), (0, 1), (0, 1), (0, 2), (1, 2), (2, 3), (2, 0)])
    own = backend.pagerank(converted(graph), weight=None)
    assert own == pytest.approx(nx.pagerank(graph, weight=None), abs=1e-13)
    single = nx.pagerank(nx.Graph(graph), weight=None)
    assert abs(own[1] - single[1]) > 1e-3


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NetworkX's code
@pytest.mark.parametrize("weights", [(float("inf"), 1.0), (1e308, 1e308), (1e-320, 1e-320)])
def test_sums_of_weights_that_are_infinite_are_left_to_networkx(weights):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, weights[0]), (0, 2, weights[1]), (1, 0, 1.0), (2, 1, 1.0)])
    assert repr(ranks(backend.pagerank, converted(graph))) == repr(ranks(nx.pagerank, graph))


@pytest.mark.parametrize("beneath", [nx.DiGraph, nx.MultiDiGraph])
def test_undirected_views_of_directed_graphs_go_to_networkx(beneath):
    graph = beneath()
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 0, 9.0), (1, 2, 2.0), (2, 0, 5.0), (0, 2, 1.0)])
    view = graph.to_undirected(as_view=True)
    for seen in (view, view.subgraph([0, 1, 2])):
        assert "undirected view" in backend.can_run("pagerank", (seen,), {})
    assert backend.can_run("pagerank", (graph.subgraph([0, 1]),), {}) is True
