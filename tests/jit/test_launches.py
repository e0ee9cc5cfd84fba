"""Kernel launches of a search (SYSTEMS P7): many levels per launch, and the counter that shows it."""

import threading

import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit.launches import count_launches, launched

N = 100_000


@pytest.fixture(scope="module")
def path():
    return pd.DataFrame({"src": np.arange(N - 1), "dst": np.arange(1, N)}).trav.graph()


def search(graph, **options):
    return graph.engine.search(graph.storage.view(), np.array([0]), BfsOptions(**options))


def test_a_long_path_is_few_launches(path):
    with count_launches() as launches:
        found = search(path)
    levels = int(found.distance.max())
    assert levels == N - 1
    assert 0 < launches.total() < levels / 100
    assert launches["push_levels"] >= 1


def test_a_plain_search_launches_once_a_level(path):
    for variant, name in (("push", "_push"), ("frontier", "_expand")):
        with count_launches() as launches:
            found = search(path, variant=variant, depth_limit=50)
        assert found.distance.max() == 50
        assert launches == {name: 50}


def test_a_trace_takes_one_level_at_a_time(path):
    with count_launches() as launches:
        found = search(path, depth_limit=50, trace=True)
    assert len(found.trace) == 50 <= launches.total()


def test_blocks_count_apart():
    with count_launches() as outer:
        launched("one")
        with count_launches() as inner:
            launched("two")
            launched("two")
        other = threading.Thread(target=launched, args=("elsewhere",))
        other.start()
        other.join()
    launched("behind")
    assert (outer, inner) == ({"one": 1}, {"two": 2})
