"""A question that waits for memory is asked again with what it was given."""

import pandas as pd
import pytest

from rapids_trav.algorithms.guard import question
from rapids_trav.algorithms.options import SearchOptions

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})


@pytest.fixture
def asked():
    """A graph whose questions are asked twice, and what they were given each time."""
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
