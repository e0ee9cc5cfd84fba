"""Benchmark of a graph larger than GPU memory, without a GPU: the CPU engine stands in for all."""

import json

import numpy as np
import pandas as pd
import pytest
from test_bench import CpuLab, bench_gpu, measured

from rapids_trav import Graph

pytestmark = pytest.mark.slow
beyond = bench_gpu.beyond


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(beyond, "PARTS", 1)  # half of so small an adjacency has no room for the vertices


def rows_of(name, lab=None):
    found = measured("beyond", [name], lab, roots=3)
    json.dumps(found)
    return {row["table"]: row for row in found}


@pytest.mark.parametrize("name", ["rmat8", "rmat9x12", "facebook"])
def test_every_part_is_measured(name):
    found = rows_of(name)
    assert list(found) == list(beyond.TABLES)
    build, search, parts, rival = found.values()
    assert build["budget"] and build["seconds"] > 0
    assert build["adjacency_bytes"] <= 8 * build["edges"]
    assert search["roots"] == search["checked"] == 3 and search["wrong"] == 0
    assert search["gteps_harmonic_mean"] > 0
    assert (parts["checked"], parts["wrong"]) == (1, 0) and 1 < parts["largest"] <= build["vertices"]
    assert rival["edge_list_bytes"] == 8 * build["edges"] and rival["note"].startswith("fits")


def test_edges_are_those_of_the_component():
    cpu = CpuLab(roots=3)
    edges, n_edges = beyond.graphs.made("rmat7x2", "pandas")
    assert n_edges == 256
    graph = cpu.graph(edges)
    src, dst = next(iter(edges())).to_numpy().T
    view, ours = graph.storage.view("out"), cpu.ours(graph)
    for root in beyond.draw_roots(cpu, graph):
        distance = ours.run(ours.prepare(root)).distance
        reached = np.isin(src, graph.ids.decode(np.flatnonzero(distance >= 0))[0])
        loops = int((reached & (src == dst)).sum())
        assert beyond.traversed(cpu, view.out.row_offsets, distance) == int(reached.sum()) - (loops + 1) // 2


def test_checks_end_with_the_time(monkeypatch):
    monkeypatch.setattr(beyond, "CHECK_SECONDS", 1e-9)
    search = rows_of("rmat8")["search"]
    assert (search["roots"], search["checked"]) == (3, 1)


def test_faults_are_found(monkeypatch):
    monkeypatch.setattr(beyond, "broken_rules", lambda *a, **k: ["rule 5: an edge leads too far down"])

    def alone(graph):
        every = np.arange(graph.n_vertices)
        return pd.DataFrame({"vertex": graph.ids.decode(every)[0], "component": every})

    monkeypatch.setattr(Graph, "components", alone)
    found = rows_of("rmat8")
    assert found["search"]["wrong"] == 3 and "rule 5" in found["search"]["note"]
    assert found["components"]["wrong"] == 1


def test_what_cannot_be_had_is_told(monkeypatch):
    class Full(CpuLab):
        def cugraph(self, edges, directed=False):
            raise MemoryError("std::bad_alloc: out_of_memory")

    note = rows_of("rmat8", Full(roots=1))["rival"]["note"]
    assert note == "not built, MemoryError: std::bad_alloc: out_of_memory"
    monkeypatch.setattr(beyond, "PARTS", 1000)
    assert rows_of("rmat6")["build"]["note"].startswith("not built, TravMemoryError")


def test_command_line():
    options = bench_gpu.parse(["beyond", "--graphs", "rmat10x4"])
    assert options.graphs == {"beyond": ["rmat10x4"]}
    assert "beyond" in bench_gpu.parse(["all", "--slow"]).benchmarks
