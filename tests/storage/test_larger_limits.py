"""A larger memory limit answers all that a smaller one does, filtered and weighted questions included."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from rapids_trav.errors import TravMemoryError
from rapids_trav.storage.paged import Paged

N_EDGES = 10_000
# Bytes per edge: from the least that keeps edges in files to enough to keep them in memory.
LIMITS = (12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 70, 90, 120)
QUESTIONS = {
    "sssp": lambda graph: graph.sssp(0, predecessors=False),
    "sssp in": lambda graph: graph.sssp(0, direction="in", predecessors=False),
    "sssp both": lambda graph: graph.sssp(0, direction="both", predecessors=False),
    "sssp where": lambda graph: graph.sssp(0, where="open", predecessors=False),
    "pagerank": lambda graph: graph.pagerank(tol=0.01),
}
SEARCHES = {
    "where": lambda graph: graph.levels(0, where="open"),
    "edge": lambda graph: graph.bfs(0, variant="edge", predecessors=False),
    "edge where": lambda graph: graph.bfs(0, variant="edge", where="open", predecessors=False),
    "edge in": lambda graph: graph.bfs(0, variant="edge", direction="in", predecessors=False),
    "both": lambda graph: graph.bfs(0, direction="both", predecessors=False),
    "both where": lambda graph: graph.bfs(0, direction="both", where="open", predecessors=False),
    "khop": lambda graph: graph.khop(0, 1, where="open").edges,
    "components": lambda graph: graph.components(where="open"),
}


def random_edges(n_vertices):
    random = np.random.default_rng(0)
    ends = random.integers(0, n_vertices, (2, N_EDGES))
    weights, is_open = random.integers(0, 9, N_EDGES), random.random(N_EDGES) < 0.8
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "w": weights, "open": is_open})


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_vertices", [50, 500])
def test_no_larger_limit_is_refused(n_vertices, directed, question):
    edges = random_edges(n_vertices)
    answered = []
    for size in LIMITS:
        try:
            graph = edges.trav.graph(weight="w", directed=directed, memory_limit=size * N_EDGES, engine="cpu")
            QUESTIONS[question](graph)
            answered.append((True, isinstance(graph.storage, Paged)))
        except TravMemoryError:
            answered.append((False, None))
    first = answered.index((True, True))
    assert all(is_answered for is_answered, _ in answered[first:])
    assert answered[-1] == (True, False)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("directed", [False, True])
def test_no_search_is_refused_at_a_larger_limit(directed, search):
    edges = random_edges(100)
    options = {"directed": directed, "engine": "cpu"}
    wanted = SEARCHES[search](edges.trav.graph(**options))
    kinds = set()
    for size in range(6, 48, 3):
        graph = edges.trav.graph(**options, memory_limit=size * N_EDGES)
        pd.testing.assert_frame_equal(SEARCHES[search](graph), wanted)
        assert graph.budget.peak <= graph.budget.limit
        kinds.add(isinstance(graph.storage, Paged))
    assert kinds == {True, False}


def test_rows_that_do_not_fit_beside_the_graph_are_in_files():
    edges = random_edges(100)
    graph = edges.trav.graph(memory_limit=16 * N_EDGES, engine="cpu")
    assert set(graph.memory()["place"]) == {"host"}
    pickle.dumps(graph)
    graph.bfs(0, where="open")
    graph.bfs(0, variant="edge")
    places = graph.memory().set_index("structure")
    in_files = places.index[places["place"] == "disk"]
    assert set(in_files) == {"CSR, symmetrised, where 'open'", "COO of CSR, symmetrised"}
    in_memory = places.loc[["vertex ids", "CSR, symmetrised"]]
    assert graph.budget.used == in_memory["bytes"].sum() and (in_memory["place"] == "host").all()
    with pytest.raises(TypeError, match="kept in files cannot be pickled"):
        pickle.dumps(graph)
