"""A question that is repeated after a wait for memory gets the same arguments again."""

import pandas as pd
import pytest

from rapids_trav.algorithms.guard import question
from rapids_trav.algorithms.options import SearchOptions

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})


@pytest.fixture
def asked():
    """Return a graph that asks each question twice, and a list of the arguments of each call."""
    given = []

    class AskedTwice:
        engine, budget = "cpu", None

        @question
        def bfs(self, sources, options):
            given.append((list(sources), list(options.targets)))

    class Budget:
        def ask(self, ask):
            ask()
            ask()

    graph = AskedTwice()
    graph.budget = Budget()
    return graph, given


def test_iterators_give_their_values_each_time(asked):
    graph, given = asked
    graph.bfs(iter([0, 1]), SearchOptions(targets=iter([3])))
    assert given == [([0, 1], [3])] * 2


def test_iterators_as_targets_within_a_limit():
    graph = EDGES.trav.graph(memory_limit="1MB")
    assert graph.bfs(iter([0]), targets=iter([1]))["distance"].isna().sum() == 2
