"""What each question asks of the GPU on behalf of the host, as counted by the emulated CuPy.

A launch, an operation on arrays and a wait take the host about ten microseconds each, an allocation one, and
a search of a small graph takes a hundred.  A change that asks for more has to raise the number here.
"""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.errors import TravMemoryError, UnknownVertexError

from .small_graphs import GraphView, nine

pytestmark = pytest.mark.gpu

STEP, FIRST = 3, 5  # ids are 5, 8, 11 ...
LAST = FIRST + STEP * 286  # has few edges
SOURCES = FIRST + STEP * np.arange(64)

QUESTIONS = {
    "bfs": lambda graph: graph.bfs(5),
    "bfs, reached_only": lambda graph: graph.bfs(5, reached_only=True),
    "bfs, targets": lambda graph: graph.bfs(5, targets=[11, 17]),
    "bfs, deterministic": lambda graph: graph.bfs(5, deterministic=True),
    "bfs, depth_limit": lambda graph: graph.bfs(5, depth_limit=2),
    "bfs, each of 64": lambda graph: graph.bfs(SOURCES, mode="each"),
    "paths": lambda graph: graph.paths(5, [11, 17]),
    "paths, each": lambda graph: graph.paths([5, 8, 14], [17, 11, 23], mode="each"),
    "levels": lambda graph: graph.levels(5),
    "khop": lambda graph: graph.khop(LAST, 1),
    "components": lambda graph: graph.components(),
    "pagerank": lambda graph: graph.pagerank(),
    "sssp": lambda graph: graph.sssp(5),
    "distances": lambda graph: graph.distances(([5, 11], [17, 20])),
}

# Questions with several right answers, such that there is one.
ANY_TREE = {
    "bfs": lambda graph: graph.bfs(5, deterministic=True),
    "bfs, reached_only": lambda graph: graph.bfs(5, reached_only=True, deterministic=True),
    "bfs, targets": lambda graph: graph.bfs(5, targets=[11, 17], predecessors=False),
    "bfs, depth_limit": lambda graph: graph.bfs(5, depth_limit=2, deterministic=True),
    "bfs, each of 64": lambda graph: graph.bfs(SOURCES, mode="each", deterministic=True),
    "paths": lambda graph: graph.paths(5, [11, 17], deterministic=True),
    "paths, each": lambda graph: graph.paths([5, 8, 14], [17, 11, 23], mode="each", deterministic=True),
    "sssp": lambda graph: graph.sssp(5, predecessors=False),
}

# Launches, operations, allocations, waits: the most that a question asks for, once it has been asked before.
MOST = {
    "bfs": (3, 0, 3, 1),
    "bfs, reached_only": (4, 1, 4, 1),
    "bfs, targets": (5, 2, 5, 2),
    "bfs, deterministic": (6, 1, 4, 1),
    "bfs, depth_limit": (3, 0, 3, 1),
    "bfs, each of 64": (22, 14, 8, 9),
    "paths": (6, 3, 6, 2),
    "paths, each": (12, 23, 18, 9),
    "levels": (3, 5, 6, 1),
    "khop": (6, 6, 10, 3),
    "components": (5, 8, 9, 1),
    "pagerank": (2, 12, 11, 4),
    "sssp": (13, 36, 31, 10),
    "distances": (16, 27, 23, 10),
}

# The same with ids in a range: the host finds the source.
MOST_OF_A_RANGE = {
    "bfs": (2, 0, 2, 1),
    "bfs, reached_only": (3, 1, 3, 1),
    "bfs, targets": (4, 2, 4, 2),
    "paths": (5, 3, 5, 2),
    "levels": (2, 5, 5, 1),
}


@pytest.fixture
def build(cupy, monkeypatch):
    """Return a function that builds a graph of a frame of the stand-in of cuDF, in the GPU's memory."""
    pytest.importorskip("cupy._counting", reason="counts requests of the emulated CuPy")
    from . import frames_on_device

    for name, module in frames_on_device.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return lambda columns, **how: Graph.from_edges(frames_on_device.DataFrame(columns), engine="cuda", **how)


@pytest.fixture
def graph(build):
    return build(edges(), weight="w")


def edges(step=STEP):
    """Return the columns of the edges."""
    n, n_edges = 300, 1500
    random = np.random.default_rng(1)
    ends = ((n * random.random(n_edges) ** power).astype(np.int64) for power in (2, 3))
    src, dst = (FIRST + step * end for end in ends)
    return {"src": src, "dst": dst, "w": random.integers(1, 9, n_edges)}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_asks_the_gpu_for_no_more(graph, name):
    asks_for_no_more(graph, name, MOST)


@pytest.mark.parametrize("name", MOST_OF_A_RANGE)
def test_a_vertex_of_a_range_of_ids_is_known_without_the_gpu(build, name):
    asks_for_no_more(build(edges(step=1), weight="w"), name, MOST_OF_A_RANGE)


def asks_for_no_more(graph, name, most):
    from cupy._counting import counting

    ask, allowed = QUESTIONS[name], most[name]
    for _ in range(2):  # builds what is kept
        ask(graph)
    with counting() as counts:
        ask(graph)
    found = (counts.launches, counts.operations, counts.allocations, counts.waits)
    over = [f"{one} for {most}" for one, most in zip(found, allowed, strict=True) if one > most]
    assert not over, f"{name}: {found}, and {allowed} are allowed"


def rows_of(frame, columns):
    """Return the rows of a frame of either library, None for null."""
    if hasattr(frame, "to_host"):
        lists = frame.to_host()
        return list(zip(*(lists[name] for name in columns), strict=True))
    plain = frame[columns].astype(object)
    return list(plain.where(plain.notna(), None).itertuples(index=False, name=None))


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_that_of_the_cpu(graph, name):
    asked = ANY_TREE.get(name, QUESTIONS[name])
    on_cpu = Graph.from_edges(pd.DataFrame(edges()), engine="cpu", weight="w")
    theirs = asked(on_cpu)
    for _ in range(3):  # what is kept from one to the next does not change it
        ours = asked(graph)
        for one, other in zip(ours, theirs, strict=True) if name == "khop" else [(ours, theirs)]:
            columns = list(other.columns)
            assert list(one.columns) == columns
            for row, expected in zip(rows_of(one, columns), rows_of(other, columns), strict=True):
                assert row == pytest.approx(expected, nan_ok=True) if name == "pagerank" else row == expected


def test_edges_of_a_neighbourhood_keep_the_numbers_of_their_rows(graph):
    on_cpu = Graph.from_edges(pd.DataFrame(edges()), engine="cpu", weight="w")
    expected = on_cpu.khop(LAST, 1).edges.index.tolist()
    for _ in range(3):  # by the index of rows from the second on
        labels = graph.khop(LAST, 1).edges.index
        assert labels.name is None
    assert labels.column.values.dtype == np.int64
    assert labels.column.values.tolist() == expected


APART = {  # questions about a graph of two parts
    "reached": lambda graph: graph.bfs(2, reached_only=True),
    "whole": lambda graph: graph.bfs([3, 0]),
    "each": lambda graph: graph.bfs([4, 1, 4], mode="each"),
    "each, reached": lambda graph: graph.bfs([4, 1], mode="each", reached_only=True),
    "without predecessors": lambda graph: graph.bfs([4, 1], mode="each", predecessors=False),
    "levels": lambda graph: graph.levels(0),
    "levels of each": lambda graph: graph.levels([0, 5], mode="each"),
    "paths": lambda graph: graph.paths(0, [5, 3, 4, 3, 0]),
    "targets": lambda graph: graph.bfs(0, targets=[2, 1, 2]),
    "paths to nowhere": lambda graph: graph.paths([0, 1], [5]),
    "paths of each": lambda graph: graph.paths([5, 1, 5], [4, 2], mode="each"),
    "array": lambda graph: graph.bfs(np.array([0, 3], np.uint8), reached_only=True),
    "khop": lambda graph: graph.khop([1, 5], 1).vertices,
    "khop of one": lambda graph: graph.khop(4, 0).edges,
}


@pytest.mark.parametrize("ids", ["range", "gaps", "int32"])
@pytest.mark.parametrize("degree_sort", [False, True])
@pytest.mark.parametrize("name", APART)
def test_what_is_not_reached(build, name, degree_sort, ids):
    columns = {"src": np.array([0, 1, 2, 4]), "dst": np.array([1, 2, 3, 5])}  # two paths: one right answer
    if ids == "int32":
        columns = {name: ends.astype(np.int32) for name, ends in columns.items()}
    if ids == "gaps":
        columns |= {"src": np.append(columns["src"], 40), "dst": np.append(columns["dst"], 50)}
    ours = build(columns, degree_sort=degree_sort)
    theirs = APART[name](Graph.from_edges(pd.DataFrame(columns), engine="cpu"))
    for _ in range(2):
        found = APART[name](ours)
        assert list(found.columns) == list(theirs.columns)
        assert rows_of(found, found.columns) == rows_of(theirs, found.columns)


@pytest.mark.parametrize("few", [1, 2, 100])
@pytest.mark.parametrize("name", ["paths", "targets", "paths of each", "array"])
def test_many_numbers_are_copied_and_few_pinned(build, cupy, monkeypatch, name, few):
    from rapids_trav.engines.cuda.runtime import memory

    monkeypatch.setattr(memory, "FEW", few)
    pinned = [isinstance(memory.HostNumbers.empty(n, np.int32).argument, int) for n in (few, few + 1)]
    assert pinned == [True, False]
    columns = {"src": np.array([0, 1, 2, 4]), "dst": np.array([1, 2, 3, 5])}
    theirs = APART[name](Graph.from_edges(pd.DataFrame(columns), engine="cpu"))
    found = APART[name](build(columns))
    assert rows_of(found, found.columns) == rows_of(theirs, found.columns)


@pytest.mark.parametrize("unknown", [7, [7], -1, 2**40, [0, 7], np.array([7])])
@pytest.mark.parametrize("ask", ["bfs", "reached", "levels", "paths", "targets", "khop", "each"])
def test_unknown_vertices_are_refused(build, ask, unknown):
    graph = build({"src": np.array([0, 1, 2, 4]), "dst": np.array([1, 2, 3, 5])})
    questions = {
        "bfs": lambda: graph.bfs(unknown),
        "reached": lambda: graph.bfs(unknown, reached_only=True),
        "levels": lambda: graph.levels(unknown),
        "paths": lambda: graph.paths(unknown, [3, 5]),
        "targets": lambda: graph.paths(0, unknown),
        "khop": lambda: graph.khop(unknown, 2),
        "each": lambda: graph.bfs(unknown, mode="each"),
    }
    what = {"targets": "targets", "khop": "seeds"}.get(ask, "sources")
    shown = {7: "7", -1: "-1", 2**40: str(2**40)}.get(unknown, "7") if isinstance(unknown, int) else "7"
    with pytest.raises(UnknownVertexError, match=f"^{what} contains 1 unknown vertex: {shown}:"):
        questions[ask]()


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


def test_arguments_are_kept_and_their_graph_is_not(cupy):
    from rapids_trav.engines.cuda import CudaEngine

    engine = CudaEngine()
    workspace = engine.fused.workspace()

    def search(view, n_sources=1, **options):
        return workspace.search(view, n_sources, BfsOptions(**options), 1)

    view, other = GraphView(nine(), engine), GraphView(nine(), engine)
    first = search(view)
    assert search(view) is first
    options = {"depth_limit": 2}, {"hub_degree": 4}, {"predecessors": False}, {"trace": True}
    changes = {"n_sources": 2}, *options
    for change in changes:
        assert search(view, **change) is not first
        first = search(view)
    assert search(other) is not first
    kept, rows = search(view), weakref.ref(view.out)
    assert search(view) is kept
    del view
    gc.collect()
    assert rows() is None


def test_bytes_are_counted_only_if_memory_runs_out(cupy):
    from rapids_trav.engines.cuda.device_memory import device_memory

    counted = []

    def n_bytes():
        counted.append(True)
        return 3 << 30

    with device_memory("a search", n_bytes):
        assert not counted
    with (
        pytest.raises(TravMemoryError, match=r"^a search needs about 3\.\d+ G"),
        device_memory("a search", n_bytes),
    ):
        raise MemoryError
    assert counted == [True]
