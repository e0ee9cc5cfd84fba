"""Graphs larger than their budget, through the public API: streamed, shared with the CPU, or on the host.

The answers are compared with those of the CPU engine in memory and of cuGraph.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  registers .trav
from rapids_trav import datasets, generators
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.model.build import in_memory_bytes
from rapids_trav.programs import shipped
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes

from .program_cases import labelled

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

QUESTIONS = ("bfs", "components", "sssp", "pagerank")


def with_costs(frame):
    """Return edges with multiples of 1/8 as weights, whose sums do not depend on the order of adding."""
    cost = np.random.default_rng(len(frame)).integers(1, 64, len(frame)) / 8
    return frame.assign(cost=cost)


EDGES = {
    "rmat": lambda: generators.rmat(12),
    "grid": lambda: generators.grid(60, 60),
    "path": lambda: generators.path(200),  # every iteration streams all pages
    "star": lambda: generators.star(3000),
    "real": lambda: datasets.load("facebook"),
    "loops and multi-edges": lambda: pd.DataFrame(
        {"src": [0, 1, 1, 2, 7] * 800, "dst": [0, 2, 2, 1, 9] * 800}
    ),
}


@pytest.fixture(scope="module")
def cudf():
    return pytest.importorskip("cudf")


@functools.cache
def edges_of(name):
    return with_costs(EDGES[name]())


@functools.cache
def cpu_answers(name, directed):
    graph = edges_of(name).trav.graph(directed=directed, weight="cost")
    return {asked: ask(graph, asked) for asked in QUESTIONS}


def ask(graph, asked, **how):
    """Return the answer to a question as a pandas frame."""
    first = 0  # an id in every graph of this module
    if asked == "bfs":
        program = shipped.breadth_first()
        frame = graph.run(program, initial={first: 0}, sources=first, **how)
    elif asked == "components":
        frame = labelled(graph, **how)
    elif asked == "sssp":
        frame = graph.sssp(first, predecessors=False, **how)
    else:
        frame = graph.pagerank(tol=1e-9, max_iter=500, **how)
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def same(asked, ours, theirs):
    assert list(ours.columns) == list(theirs.columns) and len(ours) == len(theirs)
    for column in ours.columns:
        one, other = (frame[column].astype("float64").to_numpy() for frame in (ours, theirs))
        if asked == "pagerank":
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def paged(cudf):
    """Return a function that makes a graph in `more` times its least budget; None if it then fits."""

    @functools.cache
    def smallest(name, directed, asked):
        frame = cudf.from_pandas(edges_of(name))
        limit = 20_000
        while True:
            try:
                graph = frame.trav.graph(directed=directed, weight="cost", memory_limit=limit)
                for options in HOW.values():  # `components` takes one algorithm or another
                    ask(graph, asked, **options)
                return limit
            except TravMemoryError as error:
                limit = limit_in(error)

    @functools.cache
    def made(name, directed, asked, more):
        limit = int(more * smallest(name, directed, asked))
        frame = cudf.from_pandas(edges_of(name))
        graph = frame.trav.graph(directed=directed, weight="cost", memory_limit=limit)
        return graph if isinstance(graph.storage, Paged) else None

    return made


HOW = {
    "sync": {},
    "async": {"asynchronous": True},
    "hybrid": {"processor": "hybrid"},
    "hybrid async": {"processor": "hybrid", "asynchronous": True},
    "cpu": {"processor": "cpu"},
}


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_whole_matrix(paged, asked, name, directed):
    graph = paged(name, directed, asked, 1)
    if graph is None:
        pytest.skip("so much is enough for the graph in memory")
    theirs = cpu_answers(name, directed)[asked]
    held = graph.budget.used
    for options in HOW.values():
        same(asked, ask(graph, asked, **options), theirs)
        assert graph.budget.used == held
    assert graph.budget.peak <= graph.budget.limit


@pytest.mark.parametrize("share", [0.06, 0.3])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_share_of_the_graph(cudf, asked, share):
    """All questions are asked again with many edges per vertex, in a budget of down to 6 % of the graph."""
    u, v = np.random.default_rng(5).integers(0, 2000, (2, 600_000))
    frame = with_costs(pd.DataFrame({"src": u, "dst": v}))
    frame.loc[0, "src"] = 0  # the questions start here
    whole = cudf.from_pandas(frame).trav.graph(weight="cost")
    theirs = ask(whole, asked)
    limit = int(share * whole.memory()["bytes"].sum())
    del whole
    graph = cudf.from_pandas(frame).trav.graph(weight="cost", memory_limit=limit)
    for options in HOW.values():
        same(asked, ask(graph, asked, **options), theirs)
    assert graph.budget.peak <= limit


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", EDGES)
def test_in_memory_too(cudf, name, directed):
    """With the graph in the GPU's memory, the GPU runs alone, even if "hybrid" is requested."""
    graph = cudf.from_pandas(edges_of(name)).trav.graph(directed=directed, weight="cost")
    for asked in QUESTIONS:
        for options in HOW.values():
            same(asked, ask(graph, asked, **options), cpu_answers(name, directed)[asked])


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", ["rmat", "grid", "real"])
def test_searches_after_programs(paged, name, directed):
    """BFS, paths and neighbourhoods read host memory, and a run before them leaves them enough budget."""
    graph = paged(name, directed, "components", 1.5)
    if graph is None:
        pytest.skip("so much is enough for the graph in memory")
    host = edges_of(name).trav.graph(directed=directed, weight="cost")
    limit = graph.budget.limit

    def same_columns(ours, theirs):
        """Check equal columns; the libraries have different types for columns that may hold nulls."""
        for column in theirs.columns:
            assert ours.to_pandas()[column].fillna(-1).tolist() == theirs[column].fillna(-1).tolist()

    def check():
        theirs = host.bfs(0, deterministic=True)
        same_columns(graph.bfs(0, deterministic=True), theirs)
        same_columns(graph.khop([0], 2).vertices, host.khop([0], 2).vertices)
        target = int(theirs["vertex"].iloc[-1])
        assert len(graph.paths(0, target)) == len(host.paths(0, target))

    try:
        check()
    except TravMemoryError:
        pytest.skip("searches need more than this run")
    same("components", ask(graph, "components"), cpu_answers(name, directed)["components"])
    check()
    assert graph.budget.peak <= limit


@pytest.mark.parametrize("processor", ["gpu", "hybrid"])
def test_against_cugraph(cudf, paged, processor):
    cugraph = pytest.importorskip("cugraph")
    frame = edges_of("rmat")
    low, high = (frame[["src", "dst"]].min(axis=1), frame[["src", "dst"]].max(axis=1))
    frame = frame.assign(src=low, dst=high)[low != high].drop_duplicates(["src", "dst"])
    device = cudf.from_pandas(frame)
    theirs = cugraph.Graph(directed=False)
    theirs.from_cudf_edgelist(device, source="src", destination="dst", weight="cost")
    root = int(frame["src"].iloc[0])
    limit = 100_000
    while True:
        try:
            ours = device.trav.graph(weight="cost", memory_limit=limit)
            rank = ours.pagerank(tol=1e-8, max_iter=500, processor=processor).to_pandas()
            label = ours.components().to_pandas()
            distance = ours.sssp(root, processor=processor, reached_only=True).to_pandas()
            break
        except TravMemoryError:
            limit = int(1.2 * limit)
    assert isinstance(ours.storage, Paged)
    expected = cugraph.pagerank(theirs, tol=1e-8, max_iter=500).to_pandas().sort_values("vertex")
    assert rank["vertex"].tolist() == expected["vertex"].tolist()
    np.testing.assert_allclose(rank["pagerank"], expected["pagerank"], rtol=1e-3, atol=1e-8)

    other = cugraph.weakly_connected_components(theirs).to_pandas().sort_values("vertex")
    smallest = other.groupby("labels")["vertex"].transform("min")
    assert label["component"].tolist() == smallest.tolist()

    other = cugraph.sssp(theirs, source=root).to_pandas().sort_values("vertex")
    other = other[other["distance"] < np.finfo(np.float32).max]
    assert distance["vertex"].tolist() == other["vertex"].tolist()
    np.testing.assert_allclose(distance["distance"], other["distance"], rtol=1e-6)


def limit_in(error):
    """Return the limit that an error names as sufficient."""
    assert str(error).count("memory_limit at least ") == 1
    return parse_bytes(str(error).partition("memory_limit at least ")[2].removesuffix("."))


def a_quarter(frame, directed):
    """Return a quarter of the bytes that the graph takes in memory."""
    n = len(set(frame["src"]) | set(frame["dst"]))
    return in_memory_bytes(False, n, len(frame), directed=directed) // 4


ASKED = {
    "bfs": lambda graph, where: graph.bfs(1, where=where, predecessors=False),
    "tree": lambda graph, where: graph.bfs(1, where=where, deterministic=True),
    "each": lambda graph, where: graph.bfs([1, 2, 3], mode="each", where=where, predecessors=False),
    "backwards": lambda graph, where: graph.levels(1, direction="in", where=where),
    "both ways": lambda graph, where: graph.levels(1, direction="both", where=where),
    "khop": lambda graph, where: graph.khop(1, 1, where=where).vertices,
    "components": lambda graph, where: graph.components(where=where),
    "sssp": lambda graph, where: graph.sssp(1, where=where, predecessors=False),
    "pagerank": lambda graph, where: graph.pagerank(where=where, tol=1e-9, max_iter=500),
}


def alike(ours, theirs):
    """Check that frames of any library are equal: numbers are compared as floats, and nulls match nulls."""
    assert list(ours.columns) == list(theirs.columns) and len(ours) == len(theirs)
    for column in theirs.columns:
        one, other = (
            frame[column].astype("float64").to_numpy(na_value=np.nan)
            for frame in (ours.to_pandas(nullable=True), theirs)
        )
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@functools.cache
def half_open(scale):
    """Return edges of which about half are open, with ids from 0 without gaps."""
    frame = with_costs(generators.rmat(scale))
    ends, _ = pd.factorize(frame[["src", "dst"]].to_numpy().ravel())
    frame = frame.assign(src=ends[::2], dst=ends[1::2])
    return frame.assign(open=np.random.default_rng(3).random(len(frame)) < 0.5)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("first", ["bfs", "each", "pagerank"])
def test_no_question_stands_in_the_way_of_another(cudf, first, directed):
    """Searches fill the budget with rows, which are dropped if a filter, program or direction needs room."""
    frame = half_open(13)
    limit = a_quarter(frame, directed)
    graph = cudf.from_pandas(frame).trav.graph(directed=directed, weight="cost", memory_limit=limit)
    host = frame.trav.graph(directed=directed, weight="cost")
    for question in ASKED.values():
        for where in (None, "open"):
            ASKED[first](graph, None)
            alike(question(graph, where), question(host, where))
            assert graph.budget.peak <= limit


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("asked", ASKED)
def test_the_limit_that_an_error_names_is_enough(cudf, asked, directed):
    """At most two errors name a limit: one for the build and one for the question."""
    frame, named, limit = half_open(12), [], 20_000
    device = cudf.from_pandas(frame)
    while True:
        try:
            graph = device.trav.graph(directed=directed, weight="cost", memory_limit=limit)
            answer = ASKED[asked](graph, "open")
            break
        except TravMemoryError as error:
            limit = limit_in(error)
            named.append(limit)
            assert len(named) <= 2
    assert named and graph.budget is not None and graph.budget.peak <= limit
    alike(answer, ASKED[asked](frame.trav.graph(directed=directed, weight="cost"), "open"))


def test_a_budget_counts_the_searches_themselves(cudf):
    frame = half_open(14)
    limit = a_quarter(frame, True)
    graph = cudf.from_pandas(frame).trav.graph(directed=True, memory_limit=limit)
    at_rest = graph.budget.used
    graph.bfs(1)
    assert graph.budget.used > at_rest and graph.budget.peak == pytest.approx(limit, rel=0.02)
    sources = frame["src"].drop_duplicates().tolist()[:100]
    host = frame.trav.graph(directed=True)
    found = graph.bfs(sources, mode="each", predecessors=False)
    alike(found, host.bfs(sources, mode="each", predecessors=False))
    assert graph.budget.peak <= limit
