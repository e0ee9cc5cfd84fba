"""Actual allocations, and not only declared ones, stay within the memory limit.

NumPy's allocations are counted by tracemalloc. Pages of mapped files are not among them and do not count
towards the limit.
"""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import threading
from dataclasses import replace

import pandas as pd
import pytest
from memory_cases import LONG, PEAK, QUESTIONS, SLACK, Asked, N, shapes, taken
from pairs import pairs

from rapids_trav.algorithms import (
    khop,
    levels,
    pagerank,
    run,
    sssp,
    validation,
)
from rapids_trav.engines.cpu.programs import push
from rapids_trav.engines.cpu.programs import run as gas
from rapids_trav.engines.cpu.programs.blocks import executor as blocks
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.model.search import QueryBytes
from rapids_trav.published.largegraph import path_layout
from rapids_trav.storage.edge_rows import EdgeRows
from rapids_trav.storage.limited import Limited
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes

pytestmark = pytest.mark.slow
GRAPHS = {
    "hub": {"directed": False},
    "gaps": {"directed": True},
    "by degree": {"directed": True, "degree_sort": True},
    "path": {"directed": True},
    "star": {"directed": False},
}
LIMITS = {"outside": 140 * N, "in memory": 10**9}


@functools.cache
def asked_of(name, limit):
    edges = shapes()["gaps" if name == "by degree" else name]
    asked = Asked.of(edges, **GRAPHS[name], memory_limit=LIMITS[limit])
    assert isinstance(asked.graph.storage, Paged if limit == "outside" else Limited)
    return asked


def is_asked(limit, name, question):
    """Leave out an iteration for each vertex, and what takes more than the edges in memory."""
    is_long, is_large = name == "path" and question in LONG, question == "betweenness of edges"
    return not is_long and not (is_large and limit == "outside")


@pairs(limit=list(LIMITS), name=list(GRAPHS), question=list(QUESTIONS), allowed=is_asked)
def test_a_question_takes_what_it_declares(limit, name, question):
    asked = asked_of(name, limit)
    QUESTIONS[question](asked)
    found = taken(asked, QUESTIONS[question])
    assert found.undeclared <= SLACK, f"{found.measured / N:.1f} and {found.declared / N:.1f} bytes a vertex"
    assert asked.graph.budget.peak <= asked.graph.budget.limit


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_limit_that_is_just_enough_is_kept(question):
    edges, limit = shapes()["hub"], 1000
    while True:
        try:
            graph = edges.trav.graph(weight="w", memory_limit=limit)
            asked = replace(easy(), graph=graph)
            QUESTIONS[question](asked)
            break
        except TravMemoryError as error:
            limit = parse_bytes(str(error).partition("give memory_limit at least ")[2].removesuffix("."))
    found = taken(asked, QUESTIONS[question])
    assert graph.budget.used + found.measured <= limit + SLACK


def test_an_event_loop_of_this_process_is_not_counted():
    """Schedulers and monitors of clusters that other tests left running allocate all the time."""
    loop = asyncio.new_event_loop()

    def allocate():
        bytearray(4 * SLACK)
        loop.call_later(0.0005, allocate)

    loop.call_soon(allocate)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        found = taken(asked_of("hub", "outside"), QUESTIONS["bfs direction"])
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()
    assert found.undeclared <= SLACK


@functools.cache
def easy():
    return Asked.of(shapes()["hub"])


def nothing(*arguments, **options):
    return 0


@pytest.mark.parametrize(
    ("where", "name", "question"),
    [
        (QueryBytes, "search", "bfs auto"),
        (QueryBytes, "answer", "bfs reached"),
        (QueryBytes, "answer", "each reached"),
        (QueryBytes, "paths", "paths each"),
        (QueryBytes, "levels", "levels"),
        (levels, "DEGREES_BYTES", "degrees"),
        (khop, "KHOP_BYTES", "khop"),
        (QueryBytes, "components", "components"),
        (pagerank, "question_bytes", "pagerank"),
        (sssp, "question_bytes", "sssp push"),
        (run, "question_bytes", "run pull"),
        (gas, "working_bytes", "pagerank"),
        (push, "push_bytes", "sssp push sync"),
        (blocks, "block_state_bytes", "sssp paths"),
        (blocks, "block_state_bytes", "run paths"),
        (blocks, "edge_bytes", "sssp paths"),  # the edges in the places
        (validation, "TREE_BYTES", "validate"),
        (path_layout, "layout_bytes", "path layout"),
        (path_layout, "layout_bytes", "path layout relaxed"),
    ],
)
def test_a_declaration_that_is_left_out_is_noticed(where, name, question, monkeypatch):
    stars = dict.fromkeys(("sssp push", "sssp push sync", "khop"), "star")
    shape = (stars | {"levels": "path"}).get(question, "hub")
    asked = asked_of(shape, "outside")
    if question == "khop":  # memory that the search leaves free would serve to read edges
        asked = Asked.of(shapes()["star"], memory_limit=40 * N)
        monkeypatch.setattr(EdgeRows, "inside", lambda *arguments: pd.DataFrame())
        monkeypatch.setitem(QUESTIONS, "khop", lambda asked: asked.graph.khop(asked.root, 2).vertices)
    QUESTIONS[question](asked)
    assert taken(asked, QUESTIONS[question]).undeclared <= SLACK
    monkeypatch.setattr(where, name, nothing if callable(getattr(where, name)) else 0)
    assert taken(asked, QUESTIONS[question], tries=2).undeclared > SLACK


RESIDENT = f"""{PEAK}
import numpy as np, pandas as pd, rapids_trav

n = 1_000_000
random = np.random.default_rng(0)
ends = random.integers(0, n, (2, 2 * n))
edges = pd.DataFrame({{"src": ends[0], "dst": ends[1]}})
questions = {{"bfs": lambda graph: graph.bfs(0), "components": lambda graph: graph.components(),
             "pagerank": lambda graph: graph.pagerank(tol=0.01), "levels": lambda graph: graph.levels(0)}}
small = edges.head(1000).trav.graph(memory_limit="1MB", vertices=[0])
for question in questions.values():
    question(small)
graph = edges.trav.graph(memory_limit="120MB")
for name, question in questions.items():
    answer, taken = with_peak(lambda: question(graph))
    size = int(answer.memory_usage(deep=True).sum())
    print(name, taken - size, graph.budget.limit)
    del answer
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_resident_memory_stays_within_the_limit():
    """The system counts the process's own memory, without mapped files."""
    run = subprocess.run([sys.executable, "-c", RESIDENT], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    lines = [line.split() for line in run.stdout.splitlines()]
    assert len(lines) == 4
    for name, taken_bytes, limit in lines:
        assert int(taken_bytes) <= int(limit) + (16 << 20), name
