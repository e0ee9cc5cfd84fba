"""Which searches of a rank may take one launch on each GPU; `gpu/test_members_gpu.py` runs them."""

from __future__ import annotations

import pandas as pd
import pytest
from rank_cases import spread

from rapids_trav.distributed.ranks import service

EDGES = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 4], "open": [True, True, False, True]})


@pytest.fixture(scope="module")
def graph():
    return spread(EDGES, (2, 1), directed=True)


def test_ranks_on_cpus_search_the_grid(graph):
    def member(state):
        return state.items[service.GRAPH].storage.view("in").launched.member("in")

    assert graph.on_all(member) == [None, None]
    assert not any("launch" in name for name in graph.frame("memory")["structure"])


def test_edges_of_a_filter_are_searched_on_the_grid(graph):
    def launched(state, where):
        return state.items[service.GRAPH].storage.view("out", where).launched is not None

    assert graph.on_all(launched, None) == [True, True]
    assert graph.on_all(launched, "open") == [False, False]


def test_nothing_is_kept_for_others_without_a_launch(graph):
    assert graph.on_all(lambda state: state.items[service.GRAPH].release()) == [[], []]
