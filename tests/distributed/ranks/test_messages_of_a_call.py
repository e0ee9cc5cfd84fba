"""Upper bounds on the messages between ranks in a question: a round costs about as much as a small search."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from rank_cases import same, spread

from rapids_trav import generators
from rapids_trav.distributed.ranks import service

GRIDS = [(2, 1), (1, 2), (2, 2)]


def counted(state, *question):
    """Ask a rank a question; return its traffic, and the number of levels of the search."""
    communicator = state.communicator
    before = communicator.traffic
    service.ask(state, *question)
    return communicator.traffic - before


def levels_of(graph, source):
    return int(graph.local.bfs(source)["distance"].max())


def dense(spaced):
    """Return edges between few vertices, whose ids are consecutive or not."""
    edges = generators.rmat(7, 40)[["src", "dst"]].astype("int64")
    codes = np.unique(edges, return_inverse=True)[1].reshape(-1, 2)
    return pd.DataFrame(codes * (3 if spaced else 1), columns=["src", "dst"])


@pytest.mark.parametrize("spaced", [False, True])
@pytest.mark.parametrize("shape", GRIDS)
def test_a_search_of_a_dense_graph(shape, spaced):
    """Sums find the source unless ids are consecutive, begin each level and end it; rows are one message."""
    graph = spread(dense(spaced), shape)
    source = int(graph.local.bfs(0)["vertex"][1])
    levels = levels_of(graph, source)
    size, along = shape[0] * shape[1], shape[1] - 1
    for of in graph.on_all(counted, "bfs", (source,), {}):
        assert of.sums == spaced + levels + 2  # of the last level nothing comes
        assert of.messages == (levels + 1) * along + 2 * along + size - 1
    for of in graph.on_all(counted, "bfs", (source,), {"predecessors": False}):
        assert of.messages == (levels + 1) * along + size - 1
    same(graph.frame("bfs", source, deterministic=True), graph.local.bfs(source, deterministic=True))


@pytest.mark.parametrize("shape", GRIDS)
def test_a_search_of_a_sparse_graph(shape):
    """Without tables of all vertices, places and predecessors take a request and a reply more."""
    edges = pd.DataFrame({"src": 5 * np.arange(60), "dst": 5 * np.arange(1, 61)})
    graph = spread(edges, shape)
    levels = levels_of(graph, 0)
    size, along = shape[0] * shape[1], shape[1] - 1
    for of in graph.on_all(counted, "bfs", (0,), {}):
        assert of.sums == 2 + levels + 2
        assert of.messages == (levels + 1) * along + 2 * along + 3 * (size - 1)


@pytest.mark.parametrize("options", [{}, {"reached_only": True}, {"mode": "each"}], ids=str)
def test_only_rows_whose_number_is_unknown_are_counted_together(options):
    graph = spread(dense(True), (2, 1))
    traffic = {}
    for name in ({}, options):
        traffic[str(name)] = graph.on_all(counted, "bfs", ([0],), {"predecessors": False, **name})
    more = [a.messages - b.messages for a, b in zip(traffic[str(options)], traffic["{}"], strict=True)]
    assert more == [int("reached_only" in options)] * 2
