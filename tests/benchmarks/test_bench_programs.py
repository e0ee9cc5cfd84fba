"""Benchmarks of vertex programs, without a GPU: the CPU engine stands in for both sides."""

import json

import numpy as np
import pandas as pd
import pytest
from test_bench import CpuLab, bench_gpu, measured

from rapids_trav.engines.runs import RunOptions

pytestmark = pytest.mark.slow

programs, replication = bench_gpu.programs, bench_gpu.replication

NAMES = ("rapids_trav", "cugraph")


class Ours:
    """Stand-in for cuGraph that returns our answers in its format, with rows in reverse order."""

    spoiled = None

    def __init__(self, edges, directed):
        self._graph = CpuLab().graph(edges, directed=directed, weight="weight")

    def pagerank(self, dtype, tolerance, most):
        if self.spoiled == "refused":
            raise RuntimeError("out of memory\nand more")
        program = programs.shipped.pagerank(tolerance, dtype)
        n = self._graph.n_vertices
        settings = {"initial": 1 / n, "parameters": (0.85, 1 / n), "max_iterations": most}
        found, trace = self._graph.run(program, trace=True, **settings)
        return found.rename(columns={"value": "pagerank"})[::-1], len(trace) < most

    def components(self):
        found = self._graph.components()
        labels = -7 - found["component"].to_numpy()
        if self.spoiled == "wrong":
            labels[0] = 5
        return pd.DataFrame({"vertex": found["vertex"], "labels": labels})[::-1]

    def sssp(self, source):
        found = self._graph.sssp(source)
        largest = np.finfo(np.float32).max
        return found.assign(distance=found["distance"].fillna(largest).astype("float32"))[::-1]


@pytest.fixture(autouse=True)
def short_runs(monkeypatch):
    monkeypatch.setattr(programs, "RUNS", 2)
    monkeypatch.setattr(programs, "LONG", 12)
    monkeypatch.setattr(programs, "CuGraph", Ours)


def programs_of(*names, roots=2):
    found = measured("programs", names, roots=roots)
    json.dumps(found)
    return found


def test_programs():
    found = programs_of("rmat6")
    ranked = [(program, name) for program in ("pagerank", "pagerank, an iteration") for name in NAMES]
    assert [(row["program"], row["name"]) for row in found] == [
        *ranked,
        *ranked,
        ("components", "rapids_trav"),
        ("components", "cugraph"),
        ("sssp", "rapids_trav"),
        ("sssp", "rapids_trav, distances alone"),
        ("sssp", "cugraph"),
    ]
    assert [row["dtype"] for row in found[:8]] == ["float32"] * 4 + ["float64"] * 4
    checked = [row for row in found if "checked" in row]
    assert [row["checked"] for row in checked] == [1, 1, 1, 2]
    assert [row["runs"] for row in checked] == [programs.RUNS] * 3 + [2]
    assert all(row["wrong"] == 0 and row["over_ours"] > 0 for row in checked)
    assert all("iteration_ms" in row for row in found if "an iteration" in row["program"])
    iterations = [row["iterations"] for row in found if row["program"] == "pagerank"]
    assert iterations[0] == iterations[1] > 3 and iterations[2] == iterations[3] > 3


def test_programs_of_a_directed_graph():
    edges = pd.DataFrame({"src": [1, 2, 2, 5, 5], "dst": [2, 1, 3, 6, 5]}, dtype="int32")
    kept = programs.simple(CpuLab(), edges, directed=True)
    assert kept[["src", "dst"]].to_numpy().tolist() == [[1, 2], [2, 1], [2, 3], [5, 6]]
    assert kept["weight"].dtype == np.float32 and kept["weight"].between(1 / 256, 255 / 256).all()
    kept = programs.simple(CpuLab(), edges, directed=False)
    assert kept[["src", "dst"]].to_numpy().tolist() == [[1, 2], [2, 3], [5, 6]]


@pytest.mark.parametrize(("spoiled", "said"), [("wrong", "another answer"), ("refused", "not measured")])
def test_what_is_wrong_is_said(monkeypatch, spoiled, said):
    monkeypatch.setattr(Ours, "spoiled", spoiled)
    notes = [row["note"] for row in programs_of("rmat6") if "note" in row]
    assert notes and all(said in note for note in notes)


def test_components_up_to_their_names():
    ours = pd.DataFrame({"vertex": [1, 2, 3], "component": [1, 1, 3]})
    theirs = pd.DataFrame({"vertex": [3, 1, 2], "labels": [0, 9, 9]})
    assert programs.same_components(ours, theirs)
    assert not programs.same_components(ours, theirs.assign(labels=[0, 9, 0]))
    assert not programs.same_components(ours, theirs.assign(labels=[0, 9, 8]))
    assert not programs.same_components(ours, theirs.assign(labels=9))
    assert not programs.same_components(ours, theirs[:2])


def test_ranks_within_a_bound():
    ours = pd.DataFrame({"vertex": [1, 2], "pagerank": [0.5, 0.5]})
    theirs = ours.assign(pagerank=[0.50001, 0.49999])[::-1]
    assert programs.same_ranks(ours, theirs, 1e-4)
    assert not programs.same_ranks(ours, theirs, 1e-5)
    assert not programs.same_ranks(ours, theirs.assign(vertex=[1, 3]), 1e-4)


def test_a_limit_that_is_refused_is_a_row():
    lab = CpuLab()
    found = list(replication.within(lab, lab.load("rmat2"), False, 100))
    notes = [row["note"] for table, row in found if table == "pages"]
    assert notes and all(note.startswith("not measured, ") for note in notes)


@pytest.fixture
def cpu_shards(monkeypatch):
    def evenness(lab, view, program, state, options):
        assert isinstance(options, RunOptions) and options.gather == "replicas"
        return replication.of_pieces(np.array([1.0, 3.0]), np.array([1, 32]))

    monkeypatch.setattr(replication, "evenness", evenness)


def test_replication(cpu_shards):
    found = measured("replication", ["rmat6"])
    json.dumps(found)
    rows = [row for row in found if row["table"] == "replication"]
    assert [row["name"] for row in rows] == 2 * list(replication.NAMES)
    assert all(row["wrong"] == 0 and row["gedges_a_second"] > 0 for row in rows)
    counted = replication.RUNS * (replication.ITERATIONS - replication.WARM)
    assert {row["iterations"] for row in rows} == {counted}
    assert "shards" not in rows[0]
    assert (rows[1]["shards"], rows[1]["mean_factor"]) == (2, 16.5)
    assert (rows[1]["worst_over_mean_piece"], rows[1]["deviation_over_mean_piece"]) == (1.5, 0.5)
    claims = [row for row in found if row["table"] == "claims" and "page by page" not in row["claim"]]
    assert len(claims) == 2 * 5 and all(row["ratio"] > 0 for row in claims)


def test_replication_page_by_page():
    lab = CpuLab()
    edges = lab.load("rmat14")
    limit = replication.footprint(lab, edges, False) // replication.PARTS
    found = list(replication.within(lab, edges, False, limit))
    json.dumps(found)
    pages = [row for table, row in found if table == "pages"]
    assert [row["name"] for row in pages] == 2 * list(replication.PAGED)
    assert all(row["wrong"] == 0 and row["pages"] > 0 and row["peak"] <= row["budget"] for row in pages)
    claims = [row for table, row in found if table == "claims"]
    assert len(claims) == 2 * 2 and all(row["ratio"] > 0 for row in claims)


def test_claims():
    times = {"row by row": 3.0, "1 of each": 8.0, "2 of each": 5.0, "8 of each": 6.0, "by formula": 4.0}
    spread = {"1 of each": 0.9, "by formula": 0.3}
    rows = [
        {"name": name, "median_ms": ms, "deviation_over_mean_piece": spread.get(name)}
        for name, ms in times.items()
    ]
    found = {row["claim"]: row["ratio"] for row in replication.claims(rows)}
    assert found == {
        "time, none over formula": 2,
        "time, best fixed (2 of each) over formula": 1.25,
        "time, rows over formula": 0.75,
        "time, rows over best fixed (2 of each)": 0.6,
        "spread of pieces, none over formula": 3,
    }
    assert {row["ratio"] for row in replication.claims([])} == {None}


def test_a_refusal_is_a_row(monkeypatch, cpu_shards):
    def refuse(*_):
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(replication, "iterations", refuse)
    found = measured("replication", ["rmat6"])
    assert found[0]["note"] == "not measured, MemoryError: std::bad_alloc"


def test_tables(capsys, cpu_shards):
    found = measured("replication", ["rmat6"]) + programs_of("rmat6")
    assert bench_gpu.report(found) == 0
    shown = capsys.readouterr().out
    assert "replication: claims" in shown and "programs" in shown
