"""Benchmark of small questions, without a GPU: a run on the CPU, and answers that are wrong."""

import json

import numpy as np
import pandas as pd
import pytest
from test_bench import CpuLab, bench_gpu, graphs, measured

from benchmarks.pages import tables as readme_tables
from rapids_trav.algorithms.khop import Neighborhood

questions = bench_gpu.BENCHMARKS["questions"]

pytestmark = pytest.mark.slow


def test_one_run_has_every_row_of_latency():
    options = bench_gpu.parse(["latency"])
    assert options.benchmarks == list(bench_gpu.GROUPS["latency"])
    assert options.graphs["evenness"] == tuple(f"rmat{scale}" for scale in range(20, 27))
    assert {"facebook", "rmat22"} <= set(options.graphs["questions"])
    assert all(graphs.check_name(name) is None for names in options.graphs.values() for name in names)


@pytest.mark.parametrize("name", ["rmat7", "facebook"])
def test_questions(name):
    found = measured("questions", [name])
    search = {row["name"]: row for row in found if row["table"] == "search"}
    asked = {row["name"]: row for row in found if row["table"] == "questions"}
    assert list(search) == [questions.DEVICE, questions.WALL, questions.HOST]
    assert list(asked) == list(questions.QUESTIONS)
    assert all(row["checked"] == 2 and row["wrong"] == 0 for row in asked.values())
    assert all(row["roots"] == 4 and row["median_ms"] > 0 for row in asked.values())
    json.dumps(found)


def test_tables_of_a_page_are_made_of_the_rows():
    facts = {"run": "a", "digest": "d"}
    found = [
        *measured("questions", ["facebook"]), *measured("evenness", ["rmat6"]),
        *measured("streamed", ["rmat5"]), *measured("strings", ["rmat5"], roots=2),
    ]  # fmt: skip
    named = {"rmat5": {"streamed": "rmat24", "strings": "rmat20"}}
    rows = [
        {**row, "graph": named.get(row["graph"], {}).get(row["benchmark"], row["graph"])} | facts
        for row in found
    ]
    tables = readme_tables.TABLES[readme_tables.LATENCY,]
    made = {name: table(readme_tables.Run(rows)) for name, table in tables.items() if name != "latency-run"}
    assert len(made["latency"]) == 3 and made["latency"][2].startswith("| scale 6 |")
    assert made["stream"][2].endswith("| 100.0% |")
    assert len(made["questions"]) == 2 + 3 + len(questions.QUESTIONS)
    assert all("| - |" not in line.replace("| - | - | - |", "") for line in made["questions"])
    assert not any("-" in line.split("|")[2:] for line in made["strings"][2:])


class Wrong:
    """A graph whose answers differ from the right ones in one value."""

    def __init__(self, graph):
        self._graph = graph

    def __getattr__(self, name):
        return getattr(self._graph, name)

    def bfs(self, root, *, deterministic=False, reached_only=False, targets=None, **how):
        frame = self._graph.bfs(root, reached_only=reached_only, targets=targets, **how)
        if "variant" in how:
            return frame
        if deterministic:
            least = self._graph.bfs(root, deterministic=True)["predecessor"]
            return frame.assign(predecessor=least.where(least != least.max(), root))
        wrong = frame["distance"] == (frame["distance"].max() if targets is None else frame["distance"])
        return frame.assign(distance=frame["distance"].where(~wrong.fillna(False), 77))

    def levels(self, root):
        return self._graph.levels(root).assign(vertices=1)

    def paths(self, root, targets):
        return self._graph.paths(root, targets).assign(vertex=root)

    def khop(self, root, k):
        found = self._graph.khop(root, k)
        return Neighborhood(found.vertices, found.edges[1:])

    def components(self):
        return self._graph.components().assign(component=0)

    def pagerank(self):
        return self._graph.pagerank() * np.array([1, 1.01])


@pytest.fixture
def apart():
    """Edges of which two vertices are not reached from the roots, and these."""
    edges = graphs.load("rmat6", "pandas")
    apart = pd.DataFrame({"src": [100], "dst": [101]}, dtype="int32")
    edges = pd.concat([edges, apart], ignore_index=True)
    reached = CpuLab().graph(edges).bfs(int(edges["src"].iloc[0]), reached_only=True)
    return edges, reached["vertex"].tolist()[:3]


@pytest.mark.parametrize("name", questions.QUESTIONS)
def test_a_wrong_answer_is_told(name, apart, monkeypatch):
    edges, roots = apart
    cpu = CpuLab()
    monkeypatch.setattr(questions, "QUESTIONS", {name: questions.QUESTIONS[name]})
    (row,) = questions.questions(cpu, Wrong(cpu.graph(edges)), edges, roots)
    assert (row["checked"], row["wrong"]) == (2, 2) and row["note"].startswith(f"root {roots[0]}")


def test_right_answers_about_a_part_of_the_graph_are_right(apart):
    edges, roots = apart
    cpu = CpuLab()
    rows = list(questions.questions(cpu, cpu.graph(edges), edges, roots))
    assert [row["name"] for row in rows] == list(questions.QUESTIONS)
    for row in rows:
        assert (row["checked"], row["wrong"]) == (2, 0), row
