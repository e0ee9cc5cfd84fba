"""`Graph.bfs_stream` on a GPU: searches run ahead of the answers, within memory that is counted."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import UnknownVertexError

from .small_graphs import random

pytestmark = pytest.mark.gpu

ROOTS = [int(vertex) for vertex in random(700, 2000, symmetric=False).u[:9]]


@pytest.fixture
def begun(monkeypatch):
    """Return a list with an entry for each search that was queued."""
    from rapids_trav.engines.cuda.bfs import queued

    put, numbers = queued._Queue.put, []

    def counted(queue, source):
        numbers.append(len(numbers))
        put(queue, source)

    monkeypatch.setattr(queued._Queue, "put", counted)
    return numbers


def edges():
    graph = random(700, 2000, symmetric=False)
    return pd.DataFrame({"src": graph.u, "dst": graph.v, "odd": graph.u % 2 == 1})


def same_distances(frame, other):
    assert_frame_equal(frame.drop(columns="predecessor"), other.drop(columns="predecessor"))


@pytest.mark.parametrize("order", ["ids", "degree"])
@pytest.mark.parametrize("limit", [None, "1GB"])
@pytest.mark.parametrize("directed", [True, False])
def test_answers_are_those_of_bfs(engine, begun, limit, directed, order):
    graph = edges().trav.graph(engine=engine, memory_limit=limit, directed=directed, order=order)
    for root, frame in graph.bfs_stream(ROOTS):
        same_distances(frame, graph.bfs(root))
    assert len(begun) == len(ROOTS)


@pytest.mark.parametrize(
    "options",
    [
        {"deterministic": True},
        {"deterministic": True, "where": "odd"},
        {"predecessors": False, "depth_limit": 2},
        {"deterministic": True, "direction": "both", "reached_only": True},
    ],
)
def test_options(engine, begun, options):
    graph = edges().trav.graph(engine=engine, directed=True)
    for root, frame in graph.bfs_stream(ROOTS, **options):
        assert_frame_equal(frame, graph.bfs(root, **options))
    assert len(begun) == len(ROOTS)


def test_searches_run_ahead_of_the_answers(engine, begun):
    graph = edges().trav.graph(engine=engine)
    stream = graph.bfs_stream(itertools.cycle(ROOTS))
    for number in range(1, 5):
        next(stream)
        assert len(begun) == number + 3


def test_an_unknown_root(engine):
    stream = edges().trav.graph(engine=engine).bfs_stream([ROOTS[0], 10_000, ROOTS[1]])
    next(stream)
    with pytest.raises(UnknownVertexError, match=r"^roots contains 1 unknown vertex: 10000"):
        next(stream)


def test_memory_within_a_limit(engine, begun):
    counts = {}
    for limit in (None, "1GB", 80_000):
        begun.clear()
        graph = edges().trav.graph(engine=engine, memory_limit=limit)
        stream = graph.bfs_stream(itertools.cycle(ROOTS))
        root, frame = next(stream)
        same_distances(frame, graph.bfs(root))
        counts[limit] = len(begun)
        if limit is not None:
            used = graph.budget.used
            stream.close()
            assert (graph.budget.used < used) == (counts[limit] > 0)
            assert graph.budget.peak <= graph.budget.limit
    assert counts[None] == counts["1GB"] == 4 > counts[80_000]


def test_edges_outside_gpu_memory_are_searched_one_by_one(engine, begun):
    graph = random(700, 20_000, symmetric=False)
    many = pd.DataFrame({"src": graph.u, "dst": graph.v})
    paged = many.trav.graph(engine=engine, memory_limit=100_000)
    assert "host" in paged.memory()["place"].tolist()
    for root, frame in paged.bfs_stream(ROOTS):
        same_distances(frame, paged.bfs(root))
    assert begun == []


def test_what_the_searches_allocate_is_what_is_counted(engine, monkeypatch):
    """In flight are the working memory of one search and the arrays of all of them."""
    from rapids_trav.engines.cuda.bfs import queued
    from rapids_trav.memory.model.search import QueryBytes

    sizes = []
    own, memory = queued.Outputs, queued.Workspace.memory

    def outputs(*of):
        made = own(*of)
        found = made.search()
        sizes.append(found.distance.nbytes + found.predecessor.nbytes)
        return made

    def working(workspace, n_bytes, keep):
        sizes.append(n_bytes)
        return memory(workspace, n_bytes, keep)

    monkeypatch.setattr(queued, "Outputs", outputs)
    monkeypatch.setattr(queued.Workspace, "memory", working)
    n = 40_000
    ids = np.arange(n)
    wide = pd.DataFrame({"src": ids, "dst": (ids * 7 + 1) % n})
    graph = wide.trav.graph(engine=engine, memory_limit="1GB")
    stream = graph.bfs_stream(itertools.cycle([0, 1]), reached_only=True)
    next(stream)
    in_flight = sum(sizes) - sizes[-1]  # one search has been answered
    assert len(sizes) == 5
    ahead = QueryBytes(False, n, 4).ahead(3)
    assert 0.5 * in_flight < ahead and in_flight <= ahead
