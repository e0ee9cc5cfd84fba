"""Closing of graphs."""

import copy
import gc
import weakref

import pandas as pd
import pytest

from rapids_trav import TravError

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 2]})
CLOSED = "^The graph is closed: build it again, and ask questions before "


def test_a_closed_graph_refuses_every_question():
    with EDGES.trav.graph() as graph:
        answer = graph.bfs(0)
    assert answer["distance"].tolist() == [0, 1, 2]
    assert repr(graph) == "<Graph: closed>"
    for ask in (
        lambda: graph.bfs(0),
        lambda: graph.paths(0, 1),
        lambda: graph.khop(0, 1),
        lambda: graph.levels(0),
        lambda: graph.degrees(),
        lambda: graph.memory(),
        lambda: graph.components(),
        lambda: graph.n_vertices,
        lambda: graph.n_self_loops,
        lambda: graph.storage,
        lambda: graph.save("nowhere"),
    ):
        with pytest.raises(TravError, match=CLOSED):
            ask()


def test_closing_again_is_nothing():
    graph = EDGES.trav.graph()
    graph.close()
    graph.close()
    assert repr(copy.copy(graph)) == "<Graph: closed>"


def test_a_closed_graph_holds_nothing():
    graph = EDGES.trav.graph()
    storage = weakref.ref(graph.storage)
    graph.close()
    gc.collect()
    assert storage() is None


def test_a_graph_goes_with_its_last_reference():
    graph = EDGES.trav.graph()
    graph.bfs(0)
    storage = weakref.ref(graph.storage)
    gc.collect()
    gc.disable()
    try:
        del graph
        assert storage() is None
    finally:
        gc.enable()


def test_a_block_that_fails_closes_the_graph():
    with pytest.raises(KeyError), EDGES.trav.graph() as graph:
        raise KeyError
    with pytest.raises(TravError, match=CLOSED):
        graph.bfs(0)
