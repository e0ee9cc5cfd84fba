"""An allocation that fails anywhere raises `TravMemoryError` and leaves nothing behind."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, Program, TravError, TravMemoryError
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.jit.kernels import Threads
from rapids_trav.storage.memory_errors import is_out_of_memory, telling_of_memory

# The functions by which the package makes new NumPy arrays; pandas calls some of them as well.
ALLOCATING = (
    "arange", "array", "bincount", "concatenate", "cumsum", "diff", "divmod", "empty", "empty_like",
    "flatnonzero", "full", "full_like", "nonzero", "ones", "repeat", "searchsorted", "tile", "unique",
    "where", "zeros", "zeros_like",
)  # fmt: skip
MOST_POINTS = 60  # points of failure in a question, evenly spread


class Allocations:
    """Counter of the allocations of a question, which fails one of them, or all from one on.

    Threads that earlier tests left behind, such as those of a Dask cluster, allocate too and are not counted.
    """

    def __init__(self, fails=0, for_good=False):
        self.count, self._fails, self._for_good = 0, fails, for_good
        self._asks = threading.current_thread()

    def _is_of_the_question(self):
        thread = threading.current_thread()
        return thread is self._asks or thread.name.startswith("rapids_trav")

    def __call__(self, real):
        def allocate(*arguments, **options):
            if not self._is_of_the_question():
                return real(*arguments, **options)
            self.count += 1
            if self.count == self._fails or (self._for_good and self.count > self._fails > 0):
                raise np._core._exceptions._ArrayMemoryError((1 << 50,), np.dtype(np.int64))
            return real(*arguments, **options)

        return allocate

    @contextmanager
    def injected(self):
        with pytest.MonkeyPatch.context() as patch:
            for name in ALLOCATING:
                patch.setattr(np, name, self(getattr(np, name)))
            yield self


def edges():
    random = np.random.default_rng(0)
    ends = 3 * random.integers(0, 300, (2, 900))
    return pd.DataFrame(
        {"src": ends[0], "dst": ends[1], "w": random.integers(1, 9, 900), "open": random.random(900) < 0.7}
    )


largest = Program("largest", "int64", "max")
VALUES = list(range(300))
ROOT, SOME = int(edges()["src"][0]), edges()["dst"].drop_duplicates()[:5].tolist()
QUESTIONS = {
    **{
        f"bfs {variant}": lambda graph, variant=variant: graph.bfs(ROOT, variant=variant, predecessors=False)
        for variant in CpuEngine.variants
    },
    "bfs deterministic": lambda graph: graph.bfs(ROOT, deterministic=True),
    "bfs reached": lambda graph: graph.bfs(ROOT, reached_only=True, predecessors=False),
    "bfs where": lambda graph: graph.bfs(ROOT, where="open", deterministic=True),
    "each": lambda graph: graph.bfs(SOME, mode="each", deterministic=True),
    "paths": lambda graph: graph.paths(ROOT, SOME, deterministic=True),
    "khop": lambda graph: graph.khop(ROOT, 2).vertices,
    "levels": lambda graph: graph.levels(ROOT),
    "degrees": lambda graph: graph.degrees(),
    "components": lambda graph: graph.components(),
    "sssp": lambda graph: graph.sssp(ROOT, predecessors=False),
    "sssp tree": lambda graph: graph.sssp(ROOT),
    "pagerank": lambda graph: graph.pagerank(),
    "run": lambda graph: graph.run(largest, initial=VALUES[: graph.n_vertices]),
}


def points(n):
    """Return which of n allocations to make fail."""
    return sorted({1 + i * n // MOST_POINTS for i in range(MOST_POINTS)} & set(range(1, n + 1)))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("limit", [None, "10MB", "120kB"], ids=["no limit", "in memory", "in files"])
def test_questions(limit, question):
    graph = edges().trav.graph(weight="w", directed=True, memory_limit=limit)
    ask = QUESTIONS[question]
    for _ in range(2):  # so that all is compiled that later calls use: Numba cannot compile injected failures
        wanted = ask(graph)
    at_rest = None if limit is None else graph.budget.used
    with Allocations().injected() as counted:
        ask(graph)
    assert counted.count
    for point in points(counted.count):
        with Allocations(point).injected():
            try:
                ask(graph)
            except TravError as error:
                assert isinstance(error, TravMemoryError) and "\n" not in str(error)
                assert "ran out of memory" in str(error)
        if limit is not None:
            assert graph.budget.used == at_rest
    pd.testing.assert_frame_equal(ask(graph), wanted)


def test_a_failure_in_every_question_is_told_and_not_swallowed():
    """Nearly all allocations are needed, so nearly all failures must end a question with an error."""
    with Allocations().injected() as counted, ThreadPoolExecutor(1) as another:
        another.submit(np.zeros, 8).result()
    assert not counted.count  # a thread of another owner

    graph = edges().trav.graph(weight="w", directed=True)
    for name, ask in QUESTIONS.items():
        for _ in range(2):  # so that all has been built that later calls use
            ask(graph)
        with Allocations().injected() as counted:
            ask(graph)
        told = 0
        for point in points(counted.count):
            with Allocations(point).injected():
                try:
                    ask(graph)
                except TravMemoryError:
                    told += 1
        assert told >= 0.9 * len(points(counted.count)), name


@pytest.mark.parametrize("limit", [None, "10MB", "120kB"])
def test_building_and_opening(limit, tmp_path):
    frame = edges()
    graph = frame.trav.graph(weight="w", directed=True)
    wanted = graph.components()
    graph.save(tmp_path / "graph")
    makes = {
        "build": lambda: frame.trav.graph(weight="w", directed=True, memory_limit=limit),
        "open": lambda: Graph.open(tmp_path / "graph", engine="cpu", memory_limit=limit),
    }
    for make in makes.values():
        with Allocations().injected() as counted:
            make()
        told = 0
        for point in points(counted.count):
            for for_good in (False, True):  # a build may be retried with the edges outside memory
                with Allocations(point, for_good).injected():
                    try:
                        make()
                    except TravMemoryError:
                        told += 1
        assert told
        pd.testing.assert_frame_equal(make().components(), wanted)


def test_saving(tmp_path):
    graph = edges().trav.graph(weight="w", directed=True)
    with Allocations().injected() as counted:
        graph.save(tmp_path / "counted")
    told = 0
    for point in points(counted.count):
        folder = tmp_path / f"graph {point}"
        with Allocations(point).injected():
            try:
                graph.save(folder)
            except TravMemoryError as error:
                assert "save ran out of memory" in str(error)
                told += 1
        if folder.exists():  # the save did without the failed allocation
            assert Graph.open(folder, engine="cpu").n_vertices == graph.n_vertices
    assert told and not list(tmp_path.glob(".*"))


class Coded(RuntimeError):
    def __init__(self, status):
        super().__init__(f"cudaError {status}")
        self.status = status


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (MemoryError("std::bad_alloc: out_of_memory: CUDA error"), True),
        (RuntimeError("reduce failed: cudaErrorMemoryAllocation: out of memory"), True),
        (RuntimeError("std::bad_alloc: out_of_memory: RMM failure"), True),
        (Coded(2), True),
        (Coded(700), False),
        (RuntimeError("dictionary changed size during iteration"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_libraries_raise(error, is_one):
    assert is_out_of_memory(error) == is_one
    with pytest.raises(TravMemoryError if is_one else type(error)), telling_of_memory("bfs", CpuEngine()):
        raise error


def test_threads_that_the_system_does_not_start_are_done_without(monkeypatch):
    def refuse(self, *arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    with Threads(4) as team:
        found = team.run(lambda begin, end: end - begin, 1000, grain=10)
    assert sum(found) == 1000
