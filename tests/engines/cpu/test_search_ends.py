"""The ends of searches: the last level, the counts on the way, and vertices that are no longer looked at."""

import numpy as np
import pytest
from test_cpu_engine import view_of

from rapids_trav import generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.bfs import multi_source
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit.kernels import Threads

ENGINE = CpuEngine()
PATH = [(v, v + 1) for v in range(40)]


@pytest.mark.parametrize("targets", [[1, 5], [5, 1], [5, 5, 2]])
@pytest.mark.parametrize("variant", ENGINE.variants)
def test_a_search_ends_with_its_last_target(variant, targets):
    view = view_of(PATH, 41)
    options = BfsOptions(variant, targets=np.array(targets))
    wanted = [*range(6), *[-1] * 35]
    assert ENGINE.search(view, np.array([0]), options).distance.tolist() == wanted
    together = ENGINE.search_each(view, np.array([0, 3]), options).distance
    last = max(abs(target - 3) for target in targets)
    distance = abs(np.arange(41) - 3)
    assert together.tolist() == [wanted, np.where(distance <= last, distance, -1).tolist()]


def test_searches_together_meet_at_a_vertex_that_counts_once(monkeypatch):
    monkeypatch.setattr(multi_source, "Threads", lambda: Threads(1))  # one word for both searches
    beyond = [(v, v + 1) for v in range(10, 200)]  # enough edges that no level is pulled
    view = view_of([(0, 1), (1, 2), *beyond], 201)
    trace = multi_source.search(view, np.array([0, 2]), BfsOptions(trace=True)).trace
    assert [(row.direction, row.frontier) for row in trace][:2] == [("push", 2), ("push", 1)]


def test_searches_together_pull_a_level_with_most_of_the_edges():
    view = view_of(generators.star(100).to_numpy(), 100)
    trace = multi_source.search(view, np.array([0]), BfsOptions(trace=True)).trace
    assert trace[0].direction == "pull"
