"""Memory limits of a GPU as its user meets them: what makes room for what, and which limit is enough.

A stand-in engine for the GPU builds, keeps and plans as the CUDA engine does, in NumPy arrays.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from common import to_pandas
from gpu_stand_in import Gpu
from pairs import pairs

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.errors import TravError, TravMemoryError
from rapids_trav.programs.shipped import connected_components
from rapids_trav.utilities.sizes import parse_bytes

ENGINES = {"cpu": "cpu", "cuda": Gpu()}


def skewed(n=2000, m=20_000):
    """Return a graph in which a fifth of the edges leave one hub."""
    random = np.random.default_rng(1)
    src = np.where(random.random(m) < 0.2, 0, random.zipf(1.4, m) * 7919 % n)
    cost = random.integers(1, 9, m).astype(np.float32)
    return pd.DataFrame(
        {"src": src, "dst": random.integers(0, n, m), "open": random.random(m) < 0.6, "cost": cost}
    )


QUESTIONS = {
    "bfs": lambda graph, **how: graph.bfs(0, deterministic=True, **how),
    "each": lambda graph, **how: graph.bfs([0, 1, 2, 3, 4], mode="each", predecessors=False, **how),
    "paths": lambda graph, **how: graph.paths(0, [5, 7], deterministic=True, **how),
    "khop": lambda graph, **how: graph.khop(5, 1, **how).edges,
    "levels": lambda graph, **how: graph.levels(0, **how),
    "backwards": lambda graph, **how: graph.levels(0, direction="in", **how),
    "both ways": lambda graph, **how: graph.levels(0, direction="both", **how),
    "components": lambda graph, **how: graph.components(**how),
    "sssp": lambda graph, **how: graph.sssp(0, predecessors=False, **how),
    "pagerank": lambda graph, **how: graph.pagerank(**how).round(9),
    "degrees": lambda graph, where: graph.degrees(),
}


def limit_in(error):
    """Return the limit that a message names as enough."""
    message = str(error)
    assert "are needed for" in message and message.count(": ") == 1 and "\n" not in message
    return parse_bytes(message.partition("give memory_limit at least ")[2].removesuffix("."))


@pairs(engine=list(ENGINES), directed=[True, False], asked=list(QUESTIONS), where=[None, "open"])
def test_the_limit_that_an_error_names_is_enough(engine, directed, asked, where):
    """A build may name a limit, and the question another, each once; at these limits both succeed."""
    edges, question = skewed(), QUESTIONS[asked]
    options = {"directed": directed, "weight": "cost"}
    wanted = to_pandas(question(edges.trav.graph(**options), where=where))

    def ask(limit):
        graph = edges.trav.graph(**options, engine=ENGINES[engine], memory_limit=limit)
        assert graph.budget is not None
        try:
            return question(graph, where=where)
        finally:
            assert graph.budget.peak <= graph.budget.limit

    limit, named = 1000, []
    for _ in range(3):
        try:
            answer = ask(limit)
            break
        except TravMemoryError as error:
            limit = limit_in(error)
            named.append(limit)
    pd.testing.assert_frame_equal(to_pandas(answer), wanted)
    assert named == sorted(named) and len(named) <= (1 if asked == "bfs" and not where else 2)


@functools.cache
def enough_for_each(engine):
    """Return the smallest limit that suffices for each question alone."""
    limit = 1000
    while True:
        try:
            for question in QUESTIONS.values():
                for where in (None, "open"):
                    graph = skewed().trav.graph(
                        directed=True, weight="cost", engine=ENGINES[engine], memory_limit=limit
                    )
                    question(graph, where=where)
            return limit
        except TravMemoryError as error:
            limit = limit_in(error)


@pytest.mark.parametrize("first", ["bfs", "each", "both ways", "pagerank"])
@pytest.mark.parametrize("engine", ENGINES)
def test_no_question_stands_in_the_way_of_another(engine, first):
    """At the smallest limit that suffices for each question alone, all questions succeed in any order."""
    limit = enough_for_each(engine)
    graph = skewed().trav.graph(directed=True, weight="cost", engine=ENGINES[engine], memory_limit=limit)
    QUESTIONS[first](graph, where=None)
    for question in QUESTIONS.values():
        for where in (None, "open"):
            question(graph, where=where)
    assert graph.budget.peak <= graph.budget.limit == limit


def test_rows_of_searches_fill_the_room_and_give_it_up():
    edges = skewed()
    limit = 250_000
    graph = edges.trav.graph(directed=True, weight="cost", engine=ENGINES["cuda"], memory_limit=limit)
    at_rest = graph.budget.used
    graph.bfs(0)
    kept = graph.budget.held()["the rows of a search"]
    assert kept > 0 and graph.budget.free < 40 * graph.n_vertices  # the rest is for the search itself
    assert ("rows of searches", "host") not in {
        tuple(row) for row in graph.memory()[["structure", "place"]].values
    }
    graph.sssp(0)
    assert graph.budget.used == at_rest
    graph.bfs([0, 1, 2, 3], mode="each")
    graph.bfs(0)
    assert graph.budget.held()["the rows of a search"] == kept
    graph.bfs(0, where="open")
    assert graph.budget.peak <= limit


@pytest.mark.parametrize("engine", ENGINES)
def test_a_question_that_fails_leaves_nothing_behind(engine, monkeypatch):
    edges = skewed()
    graph = edges.trav.graph(directed=True, weight="cost", engine=ENGINES[engine], memory_limit=250_000)
    at_rest = graph.budget.used
    graph.levels(0)

    def fails(*arguments, **options):
        raise TravMemoryError("there is none")

    asked = {
        "search": lambda: graph.bfs(0, where="open"),
        "run": lambda: graph.run(
            connected_components(), initial=range(graph.n_vertices), direction="both", where="open"
        ),
        "links": lambda: graph.components(where="open"),
    }
    for name, ask in asked.items():
        with monkeypatch.context() as patch:
            patch.setattr(CpuEngine, name, fails)
            patch.setattr(Gpu, name, fails)
            with pytest.raises(TravMemoryError) as kept:  # keeps every frame of the failure alive
                ask()
        graph.components()
        assert graph.budget.used == at_rest
    assert kept is not None
    with pytest.raises(TravError, match="is not in the edges"):
        graph.bfs(0, where="shut")


def test_many_searches_are_cut_to_fit(monkeypatch):
    edges = skewed()
    sources = list(range(200))
    wanted = edges.trav.graph(directed=True).bfs(sources, mode="each", predecessors=False)
    for engine in ENGINES.values():
        batches = []
        search = CpuEngine.search_each

        def counted(self, view, some, options, batches=batches, search=search):
            batches.append(len(some))
            return search(self, view, some, options)

        with monkeypatch.context() as patch:
            patch.setattr(CpuEngine, "search_each", counted)
            graph = edges.trav.graph(directed=True, engine=engine, memory_limit=300_000)
            found = graph.bfs(sources, mode="each", predecessors=False)
        pd.testing.assert_frame_equal(found, wanted)
        assert sum(batches) == 200 and len(batches) > 1
        assert graph.budget.peak <= 300_000


class Fragmented(Gpu):
    """GPU whose free memory is in pieces of 20 KB."""

    def __init__(self):
        super().__init__()
        self.copied = []

    def reach_outside(self, adjacency, head, begin):
        n_bytes = sum(part.nbytes for part in np.split(adjacency.column_indices, [head, begin])[::2])
        if n_bytes > 20_000:
            raise TravMemoryError("no piece is that large")
        self.copied.append(n_bytes)
        return super().reach_outside(adjacency, head, begin)


def test_memory_in_pieces_holds_fewer_edges():
    gpu, edges = Fragmented(), skewed()
    graph = edges.trav.graph(engine=gpu, memory_limit="300KB")
    whole = edges.trav.graph(engine=Gpu(), memory_limit="300KB")
    assert graph.levels(0).equals(whole.levels(0))
    assert len(gpu.copied) == 1 and 0 < gpu.copied[0] <= 20_000
    assert graph.budget.used < whole.budget.used
