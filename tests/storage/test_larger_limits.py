"""A larger memory limit answers all that a smaller one does, weighted questions included."""

from __future__ import annotations

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
    "pagerank": lambda graph: graph.pagerank(tol=0.01),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_vertices", [50, 500])
def test_no_larger_limit_is_refused(n_vertices, directed, question):
    random = np.random.default_rng(0)
    ends = random.integers(0, n_vertices, (2, N_EDGES))
    edges = pd.DataFrame({"src": ends[0], "dst": ends[1], "w": random.integers(0, 9, N_EDGES)})
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
