"""RMM's allocations stay within a GPU's memory limit, and a failed allocation is reported."""

from __future__ import annotations

import functools
import gc
from contextlib import contextmanager

import numpy as np
import pytest
from memory_cases import BY_PATHS, LONG, QUESTIONS, Asked, shapes, size_of

from rapids_trav.csr.paths import PathLayout
from rapids_trav.errors import TravError, TravMemoryError
from rapids_trav.memory.model.build import device_build_bytes
from rapids_trav.storage.limited import Limited
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes

pytestmark = pytest.mark.gpu

N = 1 << 20
SLACK = 1 << 20  # bytes that do not grow with the graph: 1 for each vertex
SMALL = 3000
POINTS = 60  # at most this many allocations of a question are made to fail
LIMITED = 12  # limits under which a question fails
ASKED = {
    **{name: ask for name, ask in QUESTIONS.items() if name not in BY_PATHS},
    "bfs fused": lambda asked: asked.graph.bfs(asked.root, variant="fused"),
    "bfs private": lambda asked: asked.graph.bfs(asked.root, variant="private"),
}
SHAPES = {
    "hub": {"directed": False},
    "gaps": {"directed": True},
    "by id": {"directed": True, "degree_sort": False},
    "path": {"directed": True},
    "star": {"directed": False},
}
# On a path these need one launch for each vertex.
STEPS = {*LONG, "bfs frontier", "bfs direction", "bfs private", "each", "each reached", "each repeated"}
STEPS |= {"paths each", "paths weighted", "sssp", "sssp push", "sssp push sync", "sssp reached"}
STEPS |= {
    "bfs stream",
    "closeness",
    "harmonic",
    "eccentricity",
    "diameter",
    "betweenness",
    "betweenness of edges",
    "distances",
}
# From 240 bytes a vertex on, the star is in memory.
LIMITS = {"outside": 220 * N, "in memory": 2 * 10**9}


@functools.cache
def edges_of(name, n):
    return shapes(n)["gaps" if name == "by id" else name]


def asked_of(name, n, **options):
    import cudf

    edges = edges_of(name, n)
    graph = cudf.from_pandas(edges).trav.graph(weight="w", **SHAPES[name], **options)
    root = int(edges["src"][0])
    return Asked(graph, root, edges["dst"].drop_duplicates()[:5].tolist(), graph.bfs(root))


@pytest.fixture
def counted(cupy):
    """Yield RMM's statistics of all allocations of a test."""
    pytest.importorskip("cudf")
    rmm = pytest.importorskip("rmm")
    from rmm.allocators.cupy import rmm_cupy_allocator

    before = rmm.mr.get_current_device_resource()
    resource = rmm.mr.StatisticsResourceAdaptor(before)
    rmm.mr.set_current_device_resource(resource)
    try:
        with cupy.cuda.using_allocator(rmm_cupy_allocator):
            yield resource
    finally:
        gc.collect()
        rmm.mr.set_current_device_resource(before)


def measured(resource, asked, question):
    """Return the peak without earlier allocations and the answer, and the peak of the declared bytes."""
    budget = asked.graph.budget
    gc.collect()
    at_rest = budget.used
    budget._peak = at_rest
    resource.push_counters()
    try:
        answer = question(asked)
    finally:
        found = resource.pop_counters()
    assert question.__name__ and budget.peak <= budget.limit
    return found.peak_bytes - size_of(answer), budget.peak - at_rest


def asks(name, limit, question):
    """Return whether a question applies to a graph of this shape under this limit."""
    if name == "path" and question in STEPS:
        return False
    # These need a list of all edges: the graph in memory takes less.
    return not (limit == "outside" and question in ("bfs edge", "betweenness of edges"))


@pytest.mark.long
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", SHAPES)
def test_questions_take_what_they_declare(counted, name, limit):
    """One test asks all questions of a graph, as building it takes long, and lists those that exceed."""
    asked = asked_of(name, N, memory_limit=LIMITS[limit])
    assert isinstance(asked.graph.storage, Paged if limit == "outside" else Limited)
    exceeding = {}
    for question in ASKED:
        if asks(name, limit, question):
            ASKED[question](asked)  # compiles and builds
            taken, declared = measured(counted, asked, ASKED[question])
            if taken > declared + SLACK:
                exceeding[question] = f"{taken / N:.1f} bytes a vertex, declared {declared / N:.1f}"
    assert not exceeding


@pytest.mark.long
@pytest.mark.parametrize("question", [name for name in ASKED if name != "bfs edge"])
def test_the_limit_that_is_just_enough_is_kept(counted, question):
    edges, limit, n = edges_of("hub", N // 8), 1000, N // 8
    import cudf

    frame, easy = cudf.from_pandas(edges), asked_of("hub", n)
    while True:
        try:
            graph = frame.trav.graph(weight="w", memory_limit=limit)
            asked = Asked(graph, easy.root, easy.some, easy.tree)
            ASKED[question](asked)
            break
        except TravMemoryError as error:
            limit = parse_bytes(str(error).partition("give memory_limit at least ")[2].removesuffix("."))
    at_rest = graph.budget.used
    taken, _ = measured(counted, asked, ASKED[question])
    assert at_rest + taken <= limit + SLACK


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
def test_a_build_by_ranges_takes_what_the_model_says(counted, cupy, dtype, symmetric):
    from rapids_trav.engines.cuda.build.in_memory import build_adjacency

    n, n_edges = 1 << 16, 1 << 22
    u, v = (cupy.random.default_rng(seed).integers(0, n, n_edges).astype(np.int32) for seed in (1, 2))
    weights = [] if dtype is None else [cupy.arange(n_edges).astype(dtype)]
    n_entries = n_edges * (2 if symmetric else 1)
    weight = weights[0].dtype.itemsize if weights else 0
    size = n_edges * (8 + weight)
    counted.push_counters()
    built = build_adjacency(lambda: [(u, v, *weights)], n, symmetric=symmetric, large=n_entries)
    taken = counted.pop_counters().peak_bytes + size  # the edges were there before
    declared = device_build_bytes(n, n_entries, weight, symmetric=symmetric, large=n_entries)
    assert built.n_edges <= n_entries
    at_once = device_build_bytes(n, n_entries, weight, symmetric=symmetric, large=None)
    # Ranges are cut between blocks of rows, so that one may have a little more than its part.
    assert taken <= 1.05 * declared + SLACK < at_once


class Failing:
    """Allocator that fails one of CuPy's allocations, or those of CuPy and cuDF that would exceed a limit.

    RMM's resources with Python callbacks cannot be used: they free memory while an exception is raised.
    """

    def __init__(self, rmm, allocate):
        self.count = self.fails = 0
        self._rmm, self._allocate = rmm, allocate
        self.statistics = rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource())

    def allocate(self, size):
        self.count += 1
        if self.count == self.fails:
            raise MemoryError("injected")
        return self._allocate(size)

    @property
    def held(self):
        return self.statistics.allocation_counts.current_bytes

    @contextmanager
    def limited(self, n_bytes):
        """Limit allocations inside the context to `n_bytes`."""
        mr = self._rmm.mr
        mr.set_current_device_resource(mr.LimitingResourceAdaptor(self.statistics, n_bytes))
        try:
            yield
        finally:
            mr.set_current_device_resource(self.statistics)


@pytest.fixture
def failing(cupy, monkeypatch):
    pytest.importorskip("cudf")
    rmm = pytest.importorskip("rmm")
    from rapids_trav.engines.cuda.runtime import memory

    before = rmm.mr.get_current_device_resource()
    injection = Failing(rmm, memory._rmm_allocator())
    monkeypatch.setattr(memory, "_rmm_allocator", lambda: injection.allocate)  # it is kept
    rmm.mr.set_current_device_resource(injection.statistics)
    try:
        with cupy.cuda.using_allocator(injection.allocate):
            yield injection
    finally:
        gc.collect()
        rmm.mr.set_current_device_resource(before)


def answers_alike(one, other):
    """Return whether two answers agree in everything that is the same in every run of a question."""
    if one is None or isinstance(one, int):
        return one == other
    if isinstance(one, tuple):
        return all(map(answers_alike, one, other))
    if isinstance(one, PathLayout):
        pairs = ((getattr(layout, name) for layout in (one, other)) for name in ("vertices", "starts"))
        return all(np.array_equal(*pair) for pair in pairs)
    kept = [name for name in one.columns if name not in ("predecessor", "step", "pagerank")]
    return len(one) == len(other) and ("step" in one.columns or one[kept].equals(other[kept]))


def at_rest(failing, budget):
    """Return bytes allocated and held, without the rows that searches keep while there is room for them."""
    gc.collect()
    if budget is None:
        return failing.held, 0
    rows = budget.held().get("the rows of a search", 0)
    return failing.held - rows, budget.used - rows


@pytest.mark.long
@pytest.mark.parametrize("limit", [None, "100MB", "outside"])
@pytest.mark.parametrize("question", ASKED)
def test_an_allocation_that_fails_is_told(failing, question, limit):
    if limit == "outside" and question in ("bfs edge", "betweenness of edges", "self-loops", "duplicates"):
        pytest.skip("needs a list of all edges, or is asked in memory alike")
    options = (
        {} if limit is None else {"memory_limit": 170 * SMALL + 400_000 if limit == "outside" else limit}
    )
    asked = asked_of("gaps", SMALL, **options)
    assert limit != "outside" or isinstance(asked.graph.storage, Paged)
    ask = ASKED[question]
    wanted = ask(asked)
    failing.count = failing.fails = 0
    failing.statistics.push_counters()
    ask(asked)
    n_points, told = failing.count, 0
    peak = failing.statistics.pop_counters().peak_bytes
    before = at_rest(failing, asked.graph.budget)

    def tried(which):
        nonlocal told
        try:
            ask(asked)
        except TravError as error:
            assert isinstance(error, TravMemoryError), error
            told += 1
        failing.fails = 0
        after = at_rest(failing, asked.graph.budget)
        assert after[0] <= before[0] and after[1] <= before[1], which

    for point in sorted({1 + i * n_points // POINTS for i in range(min(n_points, POINTS))}):
        failing.count, failing.fails = 0, point
        tried(f"allocation {point} of {n_points}")
    for n_bytes in sorted({i * peak // LIMITED for i in range(LIMITED)}):
        with failing.limited(n_bytes):
            tried(f"{n_bytes} of {peak} bytes")
    assert told or not n_points
    assert answers_alike(ask(asked), wanted)
