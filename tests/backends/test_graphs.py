"""Graphs of the backend behave as NetworkX graphs when they are read, changed, copied or viewed."""

import copy
import pickle

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given
from networkx_cases import KINDS, converted, graphs, plain
from random_graphs import common

from rapids_trav.backends.graphs import CLASSES, LAZY, structure_of, to_networkx
from rapids_trav.backends.interface import backend


def is_read(graph):
    return LAZY not in graph.__dict__


@common
@given(graph=graphs())
def test_materialised_graphs_are_equal_in_order_and_attributes(graph):
    graph.graph["name"] = "G"
    for node in graph:
        graph.nodes[node]["size"] = 1
    own = converted(graph)
    assert not is_read(own)
    assert plain(own) == plain(graph) and dict(own.nodes(data=True)) == dict(graph.nodes(data=True))
    assert is_read(own) and own.graph == {"name": "G"}
    assert isinstance(own, type(graph)) and own.is_multigraph() == graph.is_multigraph()
    if graph.is_directed():
        assert plain(own.reverse()) == plain(graph.reverse())
        assert {v: list(own._pred[v]) for v in own} == {v: list(graph._pred[v]) for v in graph}
    assert nx.utils.graphs_equal(to_networkx(converted(graph)), graph)


@pytest.mark.parametrize("kind", KINDS)
def test_both_directions_of_an_edge_have_one_dict_of_their_own(kind):
    graph = kind([(0, 1), (1, 2), (2, 2)])
    own = converted(graph)
    own.add_edge(0, 1, 0, color="red") if graph.is_multigraph() else own.add_edge(0, 1, color="red")
    other = own._pred if graph.is_directed() else own._adj
    assert own._adj[0][1] is other[1][0]
    assert "color" not in str(dict(graph.adj))


def test_counting_and_finding_read_no_dicts():
    own = converted(nx.path_graph(5))
    assert (len(own), own.order(), own.number_of_nodes(), list(own)) == (5, 5, 5, [0, 1, 2, 3, 4])
    assert 4 in own and 5 not in own and [] not in own
    assert not is_read(own)


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.add_edge(0, 9),
        lambda graph: graph.remove_node(2),
        lambda graph: graph.remove_edge(1, 2),
        lambda graph: graph.add_edges_from([(7, 8)]),
        lambda graph: graph.clear_edges(),
        lambda graph: nx.set_edge_attributes(graph, 5, "weight"),
    ],
)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_changes_are_seen(kind, change):
    plain_graph = nx.path_graph(5, create_using=kind)
    own = converted(plain_graph)
    assert nx.single_source_dijkstra_path_length(own, 1)  # fills the cache, which the change must invalidate
    change(own)
    change(plain_graph)
    for name in ("single_source_dijkstra_path_length", "single_source_shortest_path_length"):
        assert getattr(nx, name)(own, 1) == getattr(nx, name)(plain_graph, 1)


def test_clearing_the_cache_by_hand_loses_nothing():
    own = converted(nx.path_graph(4))
    own.__networkx_cache__.clear()
    assert list(nx.bfs_edges(own, 0)) == [(0, 1), (1, 2), (2, 3)]
    assert own.number_of_edges() == 3


def test_views_follow_the_graph_beneath():
    own = converted(nx.path_graph(6))
    view = own.subgraph([0, 1, 2, 4])
    assert nx.has_path(view, 0, 2) and not nx.has_path(view, 0, 4)
    own.add_edge(2, 4)
    assert nx.has_path(view, 0, 4)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph))])
def test_copies(again):
    own = backend.from_pandas_edgelist(
        pd.DataFrame({"source": [0, 1], "target": [1, 2]}), create_using=nx.DiGraph
    )
    other = again(own)
    assert list(other.edges) == [(0, 1), (1, 2)] and type(other) is type(own)
    assert nx.descendants(other, 0) == {1, 2}


@pytest.mark.parametrize("directed, multigraph", CLASSES)
def test_empty_graphs_can_be_made_and_filled(directed, multigraph):
    kind, base = CLASSES[directed, multigraph]
    graph = kind([(0, 1), (1, 2)])
    graph.add_edge(2, 3)
    assert list(nx.bfs_edges(graph, 0)) == list(nx.bfs_edges(base([(0, 1), (1, 2), (2, 3)]), 0))
    assert type(graph.copy()) is kind


def test_a_graph_that_changed_under_its_conversion_is_an_error():
    graph = nx.path_graph(4)
    own = converted(graph)
    graph.add_edge(0, 3)
    with pytest.raises(RuntimeError, match="convert it again"):
        structure_of(own).weights("weight")


def test_what_is_not_dispatched_runs_networkx_on_our_graph():
    graph = nx.karate_club_graph()
    own = converted(graph)
    assert nx.triangles(own) == nx.triangles(graph)
    assert nx.compose_all([own, own]).number_of_edges() == graph.number_of_edges()
    assert nx.bellman_ford_path(own, 0, 33) == nx.bellman_ford_path(graph, 0, 33)
    assert nx.maximum_flow_value(own, 0, 33, capacity="weight") == nx.maximum_flow_value(
        graph, 0, 33, capacity="weight"
    )


@pytest.mark.parametrize("times", [1, 2])
def test_nodes_are_found_as_in_a_dictionary(times):
    """The first look goes through the nodes; later ones use their index."""
    nodes = [3, "a", (1, 2), 2.5, "c"]
    for node in (*nodes, 3.0, None, "b", True, float("nan"), [3], {}):
        structure = structure_of(nx.path_graph(nodes))
        for _ in range(times):
            found = structure.find(node)
        hashable = not isinstance(node, list | dict)
        assert found == (dict(zip(nodes, range(5), strict=True)).get(node) if hashable else None)


@pytest.mark.parametrize("kind", KINDS)
def test_filtered_views_have_the_edges_that_they_show(kind):
    graph = kind()
    graph.add_weighted_edges_from(
        [(0, 1, 1), (0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 0, 5), (1, 3, 6), (4, 4, 1)]
    )
    edges = [*graph.edges(keys=True)] if graph.is_multigraph() else [*graph.edges]
    views = (
        graph.edge_subgraph(edges[1:4]),
        graph.subgraph([0, 1, 3]),
        nx.subgraph_view(graph, filter_edge=lambda u, v, *key: (u + v) % 2 == 1),
        nx.restricted_view(graph, [3], edges[:2]),
    )
    for view in views:
        own, source = converted(view), next(iter(view))
        for name in ("single_source_shortest_path", "single_source_dijkstra"):
            assert plain(getattr(nx, name)(own, source)) == plain(getattr(nx, name)(view, source))
        if graph.is_directed():
            assert nx.ancestors(own, 1) == nx.ancestors(view, 1)
        assert plain(own) == plain(view)


@pytest.mark.parametrize("nodes", [range(4), [0, 2, 4, 6], "abcd"])
def test_an_edge_to_what_is_no_node_never_reaches_a_kernel(nodes):
    graph = nx.path_graph(list(nodes), nx.DiGraph)
    first = next(iter(nodes))
    other = 3_000_000 if isinstance(first, int) else "z"
    graph._adj[first][other] = {}
    with pytest.raises(RuntimeError, match="does not have"):
        converted(graph)
    del graph._adj[first][other]
    own = converted(graph)
    graph._pred[list(nodes)[1]] = {other: {}}  # as many as before
    with pytest.raises(RuntimeError, match="convert it again"):
        _ = structure_of(own).incoming


@pytest.mark.parametrize("kind", ["compose", "disjoint_union", "intersection", "cartesian_product"])
@pytest.mark.parametrize("first", [True, False])
def test_calls_take_our_graph_beside_an_ordinary_one(kind, first):
    graph, other = nx.path_graph(4), nx.cycle_graph(4)
    given = (converted(graph), other) if first else (graph, converted(other))
    call = getattr(nx, kind)
    assert plain(call(*given)) == plain(call(graph, other, backend="networkx"))
    assert plain(nx.compose_all([*given, graph])) == plain(nx.compose(graph, other, backend="networkx"))
    assert converted(graph).__networkx_backend__ == "trav"
