"""Research settings reach the engine, and are refused where they have no meaning."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import TravError, TravWarning
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.storage.build_options import BuildOptions

EDGES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 0]})


class Recorder(CpuEngine):
    """CPU engine that records its options; it accepts any gather setting and uses its own."""

    gathers = ("rows", "replicas")

    def __init__(self):
        self.given = []

    def search(self, view, sources, options):
        self.given.append(options)
        return super().search(view, sources, options)

    def run(self, view, program, state, options):
        self.given.append(options)
        return super().run(view, program, state, options)


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph, **options: graph.bfs(0, **options),
        lambda graph, **options: graph.paths(0, [3], **options),
        lambda graph, **options: graph.levels(0, **options),
    ],
    ids=["bfs", "paths", "levels"],
)
@pytest.mark.parametrize(("tuning", "policy"), [(None, "gap"), ({}, "gap"), ({"policy": "beamer"}, "beamer")])
def test_the_policy_of_a_search(ask, tuning, policy):
    engine = Recorder()
    ask(EDGES.trav.graph(engine=engine), variant="direction", tuning=tuning)
    assert [options.policy for options in engine.given] == [policy]


def test_the_gathering_of_ranks():
    engine = Recorder()
    EDGES.trav.graph(engine=engine).pagerank(tuning={"gather": "replicas", "replication": 4})
    assert {(options.gather, options.replication) for options in engine.given} == {("replicas", 4)}


@pytest.mark.parametrize("compress", [None, True, False])
def test_the_compression_of_pages(compress):
    engine = Recorder()
    EDGES.trav.graph(engine=engine).pagerank(tuning={"compress": compress})
    assert {options.compress for options in engine.given} == {compress}


@pytest.mark.parametrize(("tuning", "n_streams"), [(None, 3), ({"n_streams": 1}, 1), ({"n_streams": 8}, 8)])
def test_the_pages_in_progress_at_once(tuning, n_streams):
    engine = Recorder()
    EDGES.trav.graph(engine=engine).pagerank(tuning=tuning)
    assert {options.n_streams for options in engine.given} == {n_streams}


@pytest.mark.parametrize(
    ("given", "usual", "order", "back_end"),
    [
        ({}, "none", "ids", "radix"),
        ({}, "radix", "degree", "radix"),
        ({"degree_sort": False}, "radix", "ids", "radix"),
        ({"degree_sort": True}, "none", "degree", "radix"),
        ({"degree_sort": True, "tuning": {"sort": "merge"}}, "radix", "degree", "merge"),
    ],
)
def test_the_sort_of_a_graph(given, usual, order, back_end):
    options = BuildOptions(**given)
    assert (options.vertex_order(usual), options.settings.sort or "radix") == (order, back_end)


def test_settings_of_another_method_are_refused():
    graph = EDGES.trav.graph()
    with pytest.raises(
        TravError, match=r"^tuning names 'gather', which is not known here: choose from 'policy'"
    ):
        graph.bfs(0, tuning={"gather": "rows"})
    with pytest.raises(
        TravError, match=r"^tuning names 'policy', which is not known here: choose from 'gather'"
    ):
        graph.pagerank(tuning={"policy": "gap"})


def test_integers_of_numpy_are_integers():
    engine = Recorder()
    tuning = {"n_streams": np.int64(2), "gather": "replicas", "replication": np.int8(4)}
    EDGES.trav.graph(engine=engine).pagerank(tuning=tuning)
    assert {(type(one.n_streams), one.n_streams, one.replication) for one in engine.given} == {(int, 2, 4)}
    BuildOptions(grid=(np.int32(1), np.int64(2)), keep_rows=np.True_)
    BuildOptions(devices=np.array([0, 1]))
    for options in ({"grid": (np.int64(0), 1)}, {"grid": (np.True_, 1)}, {"devices": np.array([-1])}):
        with pytest.raises(TravError, match=next(iter(options))):
            BuildOptions(**options)


@pytest.mark.parametrize("tuning", [{"n_streams": 2}, {"compress": False}])
def test_settings_of_a_gpu_are_not_ignored_silently(tuning):
    with pytest.warns(TravWarning, match="which apply to a GPU") as caught:
        EDGES.trav.graph().pagerank(tuning=tuning)
    assert caught[0].filename == __file__
