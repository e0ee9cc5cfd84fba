"""Unweighted shortest paths equal those of NetworkX, in the same order."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import assert_like_networkx, graphs
from random_graphs import common

cutoffs = st.none() | st.integers(-1, 5) | st.sampled_from([0.5, 1.5, float("inf"), float("nan")])


@pytest.mark.parametrize("name", ["single_source_shortest_path_length", "single_source_shortest_path"])
@common
@given(graph=graphs(), cutoff=cutoffs, data=st.data())
def test_from_one_source(name, graph, cutoff, data):
    source = data.draw(st.sampled_from([*graph, "not there", ["unhashable"]]))
    assert_like_networkx(name, graph, source, cutoff=cutoff)


@pytest.mark.parametrize("name", ["all_pairs_shortest_path_length", "all_pairs_shortest_path"])
@common
@given(graph=graphs(max_nodes=10), cutoff=cutoffs)
def test_from_each_source(name, graph, cutoff):
    assert_like_networkx(name, graph, cutoff=cutoff)


@pytest.mark.parametrize("name", ["bidirectional_shortest_path", "has_path"])
@common
@given(graph=graphs(), data=st.data())
def test_between_two(name, graph, data):
    nodes = st.sampled_from([*graph, "not there"])
    assert_like_networkx(name, graph, data.draw(nodes), data.draw(nodes))


def test_a_graph_wide_enough_to_pull_is_in_the_same_order():
    for seed in range(5):
        graph = nx.gnm_random_graph(400, 6000, seed=seed, directed=seed % 2 == 1)
        graph = nx.relabel_nodes(graph, {v: (v * 37) % 1000 for v in graph})
        for name in ("single_source_shortest_path_length", "single_source_shortest_path"):
            assert_like_networkx(name, graph, next(iter(graph)))
