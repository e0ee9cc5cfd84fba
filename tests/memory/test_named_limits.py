"""The limit that a refused question names is enough for it on any graph: it is raised only once."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pandas as pd
import pytest
from gpu_stand_in import Gpu
from memory_cases import QUESTIONS as MEASURED
from memory_cases import Asked
from pairs import FULL

from rapids_trav import Program
from rapids_trav.algorithms.validation import check_tree
from rapids_trav.errors import TravMemoryError
from rapids_trav.graph import Graph
from rapids_trav.graph.local import LocalGraph
from rapids_trav.memory.budget import Budget
from rapids_trav.utilities.sizes import parse_bytes

LARGEST = Program("largest", "int64", "max")
ENGINES = {"cpu": "cpu", "cuda": Gpu()}
QUESTIONS = {
    "bfs": lambda graph, root, some, tree: graph.bfs(root),
    "bfs in": lambda graph, root, some, tree: graph.bfs(root, direction="in"),
    "bfs reached": lambda graph, root, some, tree: graph.bfs(root, reached_only=True),
    "bfs where": lambda graph, root, some, tree: graph.bfs(root, where="open"),
    "each": lambda graph, root, some, tree: graph.bfs(some, mode="each"),
    "paths": lambda graph, root, some, tree: graph.paths(root, some),
    "paths each": lambda graph, root, some, tree: graph.paths(some, some, mode="each"),
    "khop": lambda graph, root, some, tree: graph.khop(root, 2),
    "levels": lambda graph, root, some, tree: graph.levels(root),
    "levels each": lambda graph, root, some, tree: graph.levels(some, mode="each"),
    "degrees": lambda graph, root, some, tree: graph.degrees("in"),
    "validate": lambda graph, root, some, tree: check_tree(graph, tree, root),
    "self-loops": lambda graph, root, some, tree: graph.n_self_loops,
    "duplicates": lambda graph, root, some, tree: graph.n_duplicate_edges,
    "pagerank": lambda graph, root, some, tree: graph.pagerank(tol=0.01),
    "run": lambda graph, root, some, tree: graph.run(LARGEST, initial=1),
    "sssp": lambda graph, root, some, tree: graph.sssp(root),
    "sssp both": lambda graph, root, some, tree: graph.sssp(root, direction="both"),
    "sssp where": lambda graph, root, some, tree: graph.sssp(root, where="open"),
}
for mode in ("auto", "pull", "notify", "push"):
    QUESTIONS[f"sssp {mode}"] = lambda graph, root, *_, mode=mode: graph.sssp(
        root, mode=mode, asynchronous=False, predecessors=False
    )
NOT_OUTSIDE_A_GPU = ("sssp push",)
SHAPES = ("plain", "hub", "path", "dense", "hub", "plain")


@functools.cache
def edges_of(shape, seed):
    """Return edges with gaps between the ids and with weights, some of which are zero."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(20, 1500)), int(random.integers(10, 8000))
    src, dst = random.integers(0, n, (2, m))
    if shape == "hub":
        src[random.random(m) < 0.3] = 0
    elif shape == "path":
        src, dst = np.arange(n - 1), np.arange(1, n)
    elif shape == "dense":
        src, dst = random.integers(0, 1 + n // 40, (2, m))
    w = random.integers(0, 3, len(src)) if seed % 2 else random.random(len(src))
    return pd.DataFrame({"src": 3 * src, "dst": 3 * dst, "w": w, "open": random.random(len(src)) < 0.6})


def named_in(refused):
    return parse_bytes(str(refused).partition("give memory_limit at least ")[2].removesuffix("."))


def least_to_build(edges, options):
    """Return the limit that a build names when it has next to no memory."""
    try:
        edges.trav.graph(memory_limit=100, **options)
    except TravMemoryError as error:
        return named_in(error)
    return 100


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_is_raised_once(engine, question):
    if engine == "cuda" and question in NOT_OUTSIDE_A_GPU:
        pytest.skip("a GPU pushes along edges in its memory alone")
    refusals = 0
    # Two of the graphs, one of them directed: the questions and the engines take turns at them.
    first = list(QUESTIONS).index(question) + list(ENGINES).index(engine)
    for seed in range(6) if FULL else (first % 6, (first + 3) % 6):
        edges, directed = edges_of(SHAPES[seed], seed), bool(seed % 2)
        root, some = edges["src"].iloc[0], edges["dst"].drop_duplicates()[:4].tolist()
        options = {"weight": "w", "directed": directed, "order": {4: "degree", 5: "locality"}.get(seed)}
        tree = edges.trav.graph(**options).bfs(root)
        options |= {"engine": ENGINES[engine]}
        least = least_to_build(edges, options)
        for share in (1, 1.5, 3):
            limit = int(share * least)
            graph = edges.trav.graph(**options, memory_limit=limit)
            try:
                QUESTIONS[question](graph, root, some, tree)
            except TravMemoryError as error:
                refusals += 1
                graph = edges.trav.graph(**options, memory_limit=named_in(error))
                QUESTIONS[question](graph, root, some, tree)
            assert graph.budget.peak <= graph.budget.limit
    assert refusals or not question.startswith(("components", "run", "pagerank", "sssp", "validate"))


def test_a_limit_enough_for_bfs_is_enough_for_levels_and_paths():
    random = np.random.default_rng(5)
    ends = random.integers(0, 20_000, (2, 120_000)) * 3
    graph = pd.DataFrame({"src": ends[0], "dst": ends[1]}).trav.graph(memory_limit="421kB")
    graph.bfs(0)
    assert graph.levels(0)["vertices"].sum() == graph.n_vertices
    assert graph.paths(0, 3)["vertex"].iloc[-1] == 3


@pytest.mark.parametrize("limit", range(100_000, 1_000_001, 50_000))
def test_any_limit_is_enough_for_both_directions(limit):
    """With some limits, rows by source would fit the memory, but not those by destination beside them."""
    random = np.random.default_rng(0)
    edges = pd.DataFrame({"src": random.integers(0, 500, 40_000), "dst": random.integers(0, 500, 40_000)})
    graph = edges.trav.graph(memory_limit=limit, directed=True)
    assert len(graph.bfs(0)) == 500


def test_a_refusal_foresees_what_is_said_to_be_needed():
    budget = Budget(1000)
    budget.allocate(100, "vertex ids")

    def question(foreseen, refused):
        with budget.hold(200, "values", lambda: foreseen), budget.hold(refused, "messages"):
            pass

    for foreseen, refused, enough in ((900, 800, 1200), (5000, 950, 5300), (0, 950, 1250)):
        with pytest.raises(TravMemoryError) as found:
            budget.ask(lambda foreseen=foreseen, refused=refused: question(foreseen, refused))
        assert named_in(found.value) == enough
    with pytest.raises(TravMemoryError) as found:  # what was foreseen ended with its block
        budget.ask(lambda: budget.allocate(950, "messages"))
    assert named_in(found.value) == 100 + 950
    assert budget.used == 100


def test_counting_what_is_foreseen_may_itself_be_refused():
    budget = Budget(1000)

    def counted():
        budget.require(10**6, "what is foreseen")
        return 0

    def question():
        with budget.hold(10, "values", counted):
            budget.allocate(2000, "messages")

    with pytest.raises(TravMemoryError, match="what is foreseen"):
        budget.ask(question)
    assert budget.used == 0


def test_a_limit_with_which_more_is_held_counts_that_too():
    budget = Budget(1000, lambda n_bytes: n_bytes if n_bytes < 2000 else n_bytes + 500)
    for needed, enough in ((1500, 1500), (2000, 2500)):
        with pytest.raises(TravMemoryError) as refused:
            budget.allocate(needed, "values")
        assert named_in(refused.value) == enough


class Asking(Exception):
    """A query that was about to run."""


def test_every_query_is_measured(monkeypatch):
    """Methods and properties of a graph that ask are those that a question of `memory_cases` calls."""
    kinds = [part for base in Graph.__mro__ for part in vars(base).items()]
    codes = {name: getattr(part, "func", getattr(part, "fget", part)) for name, part in kinds}
    queries = {
        name
        for name, part in codes.items()
        if not name.startswith("_")
        and {"ask", "bfs_stream"} & {*getattr(getattr(part, "__code__", None), "co_names", ())}
    }
    assert {"bfs", "bfs_stream", "sssp", "n_self_loops", "path_layout"} <= queries

    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "w": 1.0})
    asked, called = Asked.of(edges, memory_limit="1MB"), set()

    def note(*arguments):
        called.add(sys._getframe(1).f_code.co_name)
        raise Asking

    for name in ("ask", "bfs_stream"):
        monkeypatch.setattr(LocalGraph, name, note)
    for question, ask in MEASURED.items():
        if question != "validate":  # a function of a graph, which no method calls
            with pytest.raises(Asking):
                ask(asked)
    assert queries - called == {"save", "memory"}  # they take no memory that a limit counts
    assert called <= queries
