"""Asynchronous runs use a new value in the iteration that makes it, synchronous ones in the next (G17)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Program
from rapids_trav.programs import shipped

N = 2000
SUM = Program("sum", "int64", "sum", apply=lambda value, gathered: value + gathered, asynchronous=True)


def path(memory_limit):
    """Return a path with every edge ten times, whose vertices gather in order; paged if there is a limit."""
    src, dst = np.arange(N - 1), np.arange(1, N)
    edges = pd.concat([pd.DataFrame({"src": src, "dst": dst})] * 10)
    return edges.trav.graph(directed=True, memory_limit=memory_limit)


@pytest.mark.parametrize("limit", [None, 200_000], ids=["in memory", "paged"])
def test_a_value_goes_as_far_as_the_order_lets_it(limit):
    graph = path(limit)
    options = {"initial": {0: 0}, "mode": "pull", "max_iterations": 1, "trace": True}
    reached = {}
    for asynchronous in (False, True):
        found = graph.run(shipped.breadth_first(), asynchronous=asynchronous, **options)
        assert (found.trace["pages"].iloc[0] > 1) == (limit is not None)
        values = found.result["value"]
        reached[asynchronous] = int((values < N).sum())
        assert values[: reached[asynchronous]].tolist() == list(range(reached[asynchronous]))
    assert reached[False] == 2
    # One thread reaches all vertices; several reach at least those of the first part of the path.
    assert reached[True] > N / 20


@pytest.mark.parametrize("limit", [None, 200_000], ids=["in memory", "paged"])
def test_a_sum_takes_what_is_new(limit):
    """The second vertex gathers ten edges from the first, the third ten from the second: old or new value."""
    graph, initial = path(limit), np.ones(N, np.int64)
    ends = {
        asynchronous: graph.run(
            SUM, initial=initial, mode="pull", max_iterations=1, asynchronous=asynchronous
        )["value"]
        for asynchronous in (False, True)
    }
    assert ends[False][:4].tolist() == [1, 11, 11, 11]
    assert ends[True][:4].tolist() == [1, 11, 111, 1111]
