"""Threads that share a graph: another filter, a first question in another thread, a graph that closes."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from rapids_trav import TravError
from rapids_trav.algorithms.bfs_stream import BfsStream, OpenStreams
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.spilled_build import ResidentRows

EDGES = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4], "w": [7, 2, 3, 5]})


def storage_of(graph):
    return graph.questions.storage


@pytest.mark.parametrize("limit", [None, "1MB"])
def test_a_question_has_the_weights_of_its_own_filter(limit):
    graph = EDGES.trav.graph(weight="w", directed=True, memory_limit=limit)
    resolve, storage = graph.questions.rows.resolve, storage_of(graph)
    mine = storage.gather_view(where=resolve("w < 6"), weighted=True)
    theirs = storage.gather_view(where=resolve("w > 4"), weighted=True)  # in another thread
    assert mine.weight_range() == (2, 5)
    assert theirs.weight_range() == (5, 7)


def test_structures_are_listed_while_another_thread_adds_some():
    graph = EDGES.trav.graph(weight="w", directed=True)
    graph.pagerank()
    structures = storage_of(graph)._all
    listed = structures.held()
    names = [next(listed)[0]]
    while names[-1] != "degrees":
        names.append(next(listed)[0])
    storage_of(graph).gather_view("in", weighted=True)
    assert list(listed) == []  # those that were there


@pytest.mark.parametrize("fits", [True, False])
def test_a_structure_for_two_threads_is_built_and_counted_once(tmp_path, monkeypatch, fits):
    graph = EDGES.trav.graph(directed=True, memory_limit="1MB", spill=tmp_path)
    structures = storage_of(graph)._all
    monkeypatch.setattr(type(graph.budget), "fits", lambda *_: fits)
    first = structures._rebuilt(symmetric=False)
    assert structures._rebuilt(symmetric=False) is first  # in a thread that asked before it was there
    assert structures.backward is first
    in_memory = [part.nbytes for name, part in structures.held() if fits or name == "CSR"]
    assert graph.budget.held()["the structures of the graph"] == sum(in_memory)


def test_rows_given_up_stay_with_the_search_that_reads_them(monkeypatch):
    engine = CpuEngine()
    n, n_edges = 40, 600
    u, v = np.random.default_rng(3).integers(0, n, (2, n_edges), dtype=np.int32)
    rows = {name: engine.build_adjacency(lambda: iter([(u, v)]), n) for name in ("forward", "backward")}

    class Device:
        def reach_outside(self, adjacency, head, begin):
            return adjacency.on_host()

    class Owner:
        pass

    budget, owner = Budget(1 << 16), Owner()
    kept = ResidentRows(Device(), budget)
    kept.get(owner, ("forward", "backward"), rows["forward"])
    give_up_but, stayed = ResidentRows._give_up_but, []

    def given_up_meanwhile(self, owner, staying):
        self.give_up()
        stayed.append(list(staying))
        give_up_but(self, owner, staying)

    monkeypatch.setattr(ResidentRows, "_give_up_but", given_up_meanwhile)
    with budget.hold(budget.free - 100, "another question"), pytest.raises(TravMemoryError):
        kept.get(owner, ("backward", "forward"), rows["backward"])
    assert stayed == [["forward"], []]


def answers():
    yield 0, "frame"
    yield 1, "frame"


def test_a_stream_that_is_opened_as_the_graph_closes_is_refused():
    streams = OpenStreams()
    before = streams.add(BfsStream(answers()))
    assert next(before)[0] == 0
    streams.refuse("This graph is closed.")
    after = streams.add(BfsStream(answers()))
    for stream in (before, after):
        with pytest.raises(TravError, match="closed"):
            next(stream)


def test_a_copy_of_a_graph_has_no_streams():
    graph = EDGES.trav.graph()
    with graph.bfs_stream([0, 1]) as opened:
        next(opened)
        copy = pickle.loads(pickle.dumps(graph))
        copy.close()
        assert next(opened)[0] == 1
