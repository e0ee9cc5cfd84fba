"""Benchmark of paged graphs, without a GPU: the CPU engine stands in for all."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from test_bench import CpuLab, bench_gpu, checks, graphs, measured
from test_bench_programs import Ours, programs

from rapids_trav.csr.adjacency import Resident
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.runs import IterationTrace
from rapids_trav.storage.build import MemoryLimits

pytestmark = pytest.mark.slow
out_of_core = bench_gpu.out_of_core


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(out_of_core, "LINK_BYTES", 1 << 16)
    monkeypatch.setattr(programs, "CuGraph", Ours)
    monkeypatch.setattr(out_of_core, "PARTS", 1)  # a quarter of so little memory has no room for the vertices


def rows_of(*names, roots=3):
    found = measured("out-of-core", names, roots=roots)
    json.dumps(found)
    return found


def test_every_part_is_measured():
    found = rows_of("rmat8")
    tables = {table: [row for row in found if row["table"] == table] for table in out_of_core.TABLES}
    search, streaming, ranks = tables.values()
    assert [row["name"] for row in search] == [out_of_core.PAGED, out_of_core.IN_MEMORY, out_of_core.FULL]
    assert all(row["wrong"] == 0 and row["gteps_harmonic_mean"] > 0 for row in search)
    assert 0 < search[0]["peak"] <= search[0]["budget"]
    assert [row["name"] for row in streaming] == ["streamed", "asynchronous"]
    assert all(row["pages"] > 0 and row["share_of_link"] > 0 for row in streaming)
    assert {row["iterations"] for row in streaming} == {out_of_core.ITERATIONS - 1}
    assert [row["name"] for row in ranks] == [out_of_core.PAGED, out_of_core.IN_MEMORY, "cugraph"]
    assert ranks[-1]["wrong"] == 0 and ranks[0]["over_paged"] == 1


def test_what_does_not_fit_is_told(monkeypatch):
    monkeypatch.setattr(out_of_core, "PARTS", 1000)
    (row,) = rows_of("rmat6")[:1]
    assert row["note"].startswith("not measured, TravMemoryError")


def test_rates_of_a_trace():
    trace = [IterationTrace(i, "pull", 9, 9, 3, 10_000_000, 1.0, 0.5, 0.0) for i in (2, 3)]
    found = out_of_core.of_trace(trace, 2e10)
    assert (found["gb_s"], found["share_of_link"], found["overlap"]) == (10, 0.5, 0.5)
    assert (found["bytes"], found["pages"], found["iterations"]) == (10_000_000, 3, 2)


def test_directed_graphs(monkeypatch):
    monkeypatch.setattr(out_of_core, "PARTS", 0.5)
    found = rows_of("citations-hepph", roots=1)
    assert sum(row.get("wrong", 0) for row in found) == 0


def test_edges_of_several_frames(monkeypatch):
    """The limit of rows per cuDF frame is lowered so that rmat8 does not fit one frame."""
    whole = graphs.load("rmat8", "pandas")
    monkeypatch.setattr(graphs, "FRAME_ROWS", 4095)
    monkeypatch.setattr(graphs, "PART_ROWS", 1500)
    several = graphs.load("rmat8", "pandas")
    assert list(map(len, several)) == [1500, 1500, 1096]
    assert pd.concat(several, ignore_index=True).equals(whole)
    cpu = CpuLab(roots=3)
    assert cpu.roots(several) == cpu.roots(whole)
    assert out_of_core.footprint(cpu, several, False) == out_of_core.footprint(cpu, whole, False)
    found = {(row["table"], row["name"]): row for row in rows_of("rmat8")}
    search = found["search", out_of_core.PAGED]
    assert (search["checked"], search["wrong"]) == (3, 0)
    ranks = found["pagerank", out_of_core.PAGED], found["pagerank", out_of_core.IN_MEMORY]
    assert all(row["median_ms"] > 0 for row in ranks)
    assert found["pagerank", "cugraph"]["note"].endswith("4,096 edges are more than a cuDF frame holds")


def test_faults_in_a_later_frame_are_found(monkeypatch):
    cpu = CpuLab()
    first = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}, dtype="int32")
    graph = cpu.graph(first)
    checker = checks.Checker(cpu, graph, [first, pd.DataFrame({"src": [2, 2], "dst": [0, 2]}, dtype="int32")])
    ours = cpu.ours(graph)
    checker(0, ours.run(ours.prepare(0)))
    assert checker.traversed([0]) == [4]
    assert checker.verdict()["wrong"] == 1 and "rule_3: 1" in checker.verdict()["note"]


def test_what_would_be_paged_is_not_in_memory(monkeypatch):
    monkeypatch.setattr(CpuEngine, "free_bytes", lambda self: 10)
    found = {(row["table"], row["name"]): row for row in rows_of("rmat8")}
    for table in ("search", "pagerank"):
        assert "does not fit the memory" in found[table, out_of_core.IN_MEMORY]["note"]


def test_what_stays_in_memory_once_it_is_built(monkeypatch):
    """A paged graph counts as in memory only if all of its rows are resident."""
    cpu, edges = CpuLab(), graphs.load("rmat8", "pandas")
    monkeypatch.setattr(MemoryLimits, "of", lambda *_: SimpleNamespace(reading=1))
    monkeypatch.setattr(CpuEngine, "free_bytes", lambda self: 1 << 20)

    def graph(first):
        rows = SimpleNamespace(resident=Resident(0, first, None))
        storage = SimpleNamespace(view=lambda way: SimpleNamespace(out=rows, into=rows))

        def made(edges, directed, memory_limit):
            assert memory_limit == 2 * out_of_core.footprint(cpu, edges, False)
            return SimpleNamespace(storage=storage)

        lab = SimpleNamespace(library="pandas", ends=cpu.ends, xp=cpu.xp, graph=made)
        return out_of_core.in_memory(lab, edges, False)

    assert graph(0)
    with pytest.raises(MemoryError):
        graph(5)


def test_command_line():
    options = bench_gpu.parse(["out-of-core", "--graphs", "rmat10"])
    assert options.graphs == {"out-of-core": ["rmat10"]}
