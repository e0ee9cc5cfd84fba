"""What each question asks of the GPU on behalf of the host, as counted by the emulated CuPy.

A launch, an operation on arrays and a wait take the host about ten microseconds each, an allocation one, and
a search of a small graph takes a hundred.  A change that asks for more has to raise the number here.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

from rapids_trav import Graph

pytestmark = pytest.mark.gpu

STEP, FIRST = 3, 5  # ids are 5, 8, 11 ...
SOURCES = FIRST + STEP * np.arange(64)

QUESTIONS = {
    "bfs": lambda graph: graph.bfs(5),
    "bfs, reached_only": lambda graph: graph.bfs(5, reached_only=True),
    "bfs, targets": lambda graph: graph.bfs(5, targets=[11, 17]),
    "bfs, deterministic": lambda graph: graph.bfs(5, deterministic=True),
    "bfs, depth_limit": lambda graph: graph.bfs(5, depth_limit=2),
    "bfs, each of 64": lambda graph: graph.bfs(SOURCES, mode="each"),
    "paths": lambda graph: graph.paths(5, [11, 17]),
    "levels": lambda graph: graph.levels(5),
    "khop": lambda graph: graph.khop(5, 1),
    "components": lambda graph: graph.components(),
    "pagerank": lambda graph: graph.pagerank(),
    "sssp": lambda graph: graph.sssp(5),
    "distances": lambda graph: graph.distances(([5, 11], [17, 20])),
}

# Launches, operations, allocations, waits: the most that a question may ask for, once it has been asked before.
MOST = {
    "bfs": (3, 1, 3, 3),
    "bfs, reached_only": (2, 22, 21, 6),
    "bfs, targets": (3, 18, 17, 6),
    "bfs, deterministic": (4, 1, 4, 3),
    "bfs, depth_limit": (3, 1, 3, 3),
    "bfs, each of 64": (20, 47, 37, 14),
    "paths": (4, 76, 71, 14),
    "levels": (2, 22, 22, 6),
    "khop": (2, 50, 43, 12),
    "components": (9, 23, 23, 6),
    "pagerank": (20, 32, 17, 19),
    "sssp": (15, 46, 39, 13),
    "distances": (14, 53, 46, 12),
}


@pytest.fixture
def graph(cupy, monkeypatch):
    """Return a graph of a frame of the stand-in of cuDF, in the GPU's memory."""
    pytest.importorskip("cupy._counting", reason="counts requests of the emulated CuPy")
    from . import frames_on_device

    for name, module in frames_on_device.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    n, n_edges = 300, 1500
    random = np.random.default_rng(1)
    ends = ((n * random.random(n_edges) ** power).astype(np.int64) for power in (2, 3))
    src, dst = (FIRST + STEP * end for end in ends)
    weights = random.integers(1, 9, n_edges)
    frame = frames_on_device.DataFrame({"src": src, "dst": dst, "w": weights})
    return Graph.from_edges(frame, engine="cuda", weight="w")


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_asks_the_gpu_for_no_more(graph, name):
    from cupy._counting import counting

    ask = QUESTIONS[name]
    for _ in range(2):  # builds what is kept
        ask(graph)
    with counting() as counts:
        ask(graph)
    found = (counts.launches, counts.operations, counts.allocations, counts.waits)
    over = [f"{one} for {most}" for one, most in zip(found, MOST[name], strict=True) if one > most]
    assert not over, f"{name}: {found}, and {MOST[name]} are allowed"


def test_what_is_counted(cupy):
    counting = pytest.importorskip("cupy._counting").counting
    values = cupy.arange(8)
    with counting() as counts:
        views = values[2:].reshape(2, 3)
        assert (counts.operations, counts.allocations, counts.waits) == (0, 0, 0)
        doubled = views + views
        assert (counts.operations, counts.allocations, counts.waits) == (1, 1, 0)
        assert int(doubled.max()) == 14
        assert (counts.operations, counts.allocations, counts.waits) == (3, 2, 1)
        with counting() as inner:
            cupy.flatnonzero(values > 3)
        assert (inner.operations, inner.waits) == (2, 1)
    assert counts.waits == 2
