"""A query that is repeated after a wait for memory gets the same arguments again."""

import pandas as pd

from rapids_trav.memory.budget import Budget

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})


def test_iterators_give_their_values_each_time(monkeypatch):
    graph = EDGES.trav.graph(memory_limit="1MB")
    monkeypatch.setattr(Budget, "ask", lambda budget, work: (work(), work())[1])
    answer = graph.bfs(iter([0]), targets=iter([1]))
    assert answer["distance"].isna().sum() == 2
