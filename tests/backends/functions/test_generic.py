"""`shortest_path` and `shortest_path_length` in every combination of their arguments."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import converted, graphs, outcome
from random_graphs import common


@pytest.mark.parametrize("name", ["shortest_path", "shortest_path_length"])
@common
@given(graph=graphs(weights=("integers", "floats"), max_nodes=10), data=st.data())
def test_every_combination(name, graph, data):
    ends = st.none() | st.sampled_from([*graph, "not there"])
    arguments = {
        "source": data.draw(ends),
        "target": data.draw(ends),
        "weight": data.draw(st.none() | st.just("weight") | st.just(lambda u, v, data: 1)),
        "method": data.draw(st.sampled_from(["dijkstra", "bellman-ford", "no such method"])),
    }
    call = getattr(nx, name)
    assert outcome(call, converted(graph), **arguments) == outcome(call, graph, **arguments)
