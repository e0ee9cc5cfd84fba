"""GPU benchmarks without a GPU: statistics, graphs, command line, tables, and a run on the CPU.

In the run, the CPU engine stands in for both sides, so its measurements have no meaning.
"""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from benchmarks import graphs
from benchmarks import harness as rows
from benchmarks.gpu import ablation, centrality, checks, lab, libraries, streamed
from benchmarks.gpu import main as bench_gpu
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.graph500 import validation

pytestmark = pytest.mark.slow


class TimedByDevice(CpuEngine):
    """An engine that stands in for several GPUs: its searches take ten seconds by the devices' clock."""

    def search(self, view, sources, options):
        return replace(super().search(view, sources, options), device_seconds=10.0)


class CpuLab(lab.Lab):
    """Benchmark lab with NumPy, pandas and the CPU engine; our own searches stand in for the rivals'."""

    library = "pandas"
    variants = ("auto", "push")

    def __init__(self, roots=4, seed=7, slow=False):
        self.xp, self.device = np, validation.functions_of("cpu")
        self.n_roots, self.seed, self.slow = roots, seed, slow
        self.refused = False

    def synchronize(self):
        pass

    def engine(self, bitmaps):
        return None

    n_devices = 2

    def several(self, count, layout=None):
        return TimedByDevice()

    def adjacency(self, row_offsets, column_indices):
        return Adjacency(row_offsets, column_indices)

    def ours(self, graph, options=lab.DEFAULT, **how):
        variant = {"private": "frontier"}.get(options.variant, options.variant)
        policy = {"push": "gap"}.get(options.policy, options.policy)
        return super().ours(graph, BfsOptions(variant=variant, policy=policy, trace=options.trace), **how)

    def rival(self, graph, *, optimizing, renumber=False):
        if self.refused:
            raise MemoryError("std::bad_alloc: out of memory\nand where it was")
        ours = self.ours(graph)

        def run(source, depth_limit=None):
            found = ours.run(source, depth_limit)
            distance = np.where(found.distance < 0, np.iinfo(np.int32).max, found.distance)
            order = np.arange(len(distance))[::-1]
            return distance[order], found.predecessor[order], order

        return lab.Contender(libraries.rival_name(optimizing, renumber), ours.prepare, run)

    def cugraph(self, edges, directed=False):
        return self.graph(edges, directed=directed)

    def cugraph_call(self, graph):
        def run(root, limit=None):
            found = graph.bfs(root, depth_limit=limit)
            largest = np.iinfo(np.int32).max
            return found.assign(distance=found["distance"].fillna(largest).astype("int32"))[::-1]

        return lab.Contender("cugraph.bfs", int, run)

    def device_timings(self, contender, roots, check):
        return self.timings(contender, roots, check=check)

    def peak_bytes(self, call):
        return *self.timed(call), 1000


@pytest.fixture(autouse=True)
def small_copy(monkeypatch):
    monkeypatch.setattr(lab, "COPY_BYTES", 1 << 16)


def measured(name, graph_names, cpu=None, **how):
    found = list(rows.run(name, bench_gpu.BENCHMARKS[name], cpu or CpuLab(**how), graph_names))
    assert found
    return found


def test_streamed_searches_are_timed_as_a_whole():
    found = {row["name"]: row for row in measured("streamed", ["rmat7"])}
    assert set(found) == {
        "traversals, by the device's clock",
        "engine.bfs",
        "graph.bfs",
        "graph.bfs_stream",
    }
    device = found["traversals, by the device's clock"]
    assert device["over_device"] == 1
    assert device["ms_a_search"] == pytest.approx(device["total_ms"] / device["roots"], rel=1e-3)
    for row in (device, found["graph.bfs_stream"]):
        assert row["checked"] > 0
        assert row["wrong"] == 0


def test_answers_of_a_stream_that_are_wrong_are_told(monkeypatch):
    class Wrong:
        def __init__(self, graph):
            self.bfs = graph.bfs
            self.bfs_stream = lambda roots: ((root, graph.bfs(roots[0])) for root in roots)

    edges = graphs.load("rmat6", "pandas")
    roots = CpuLab().roots(edges)[:2]
    found = streamed.compared(Wrong(CpuLab().graph(edges)), roots)
    assert (found["checked"], found["wrong"]) == (2, 1)


def test_statistics_of_times():
    found = rows.of_times([1.0, 2.0, 4.0])
    assert (found["roots"], found["min_ms"], found["median_ms"], found["max_ms"]) == (3, 1, 2, 4)
    assert found["worst_over_median"] == 2
    assert found["mean_ms"] == 2.3333
    assert found["harmonic_mean_ms"] == pytest.approx(12 / 7, rel=1e-4)


def test_rates_are_averaged_harmonically():
    found = rows.of_rates([1.0, 3.0], [2_000_000, 2_000_000])  # 2 and 2/3 GTEPS
    assert (found["gteps_max"], found["gteps_min"]) == (2, 0.66667)
    assert found["gteps_harmonic_mean"] == 1  # 4 million edges in 4 ms
    assert "gteps_harmonic_stddev" not in rows.of_rates([1.0], [10])


def test_ratio():
    assert rows.ratio(3.0, 2.0) == 1.5
    assert rows.ratio(None, 2.0) is rows.ratio(1.0, None) is rows.ratio(1.0, 0.0) is None


def test_rows_are_kept_as_they_come(tmp_path):
    told = []
    recorder = rows.Recorder(tmp_path / "rows.jsonl", told.append)
    recorder.add({"benchmark": "real", "graph": "facebook", "name": "auto", "median_ms": 0.123456})
    recorder.add({"benchmark": "real", "graph": "facebook", "name": "other", "note": "not measured"})
    kept = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert kept == recorder.rows
    assert told == ["real  facebook  auto  0.1235 ms", "real  facebook  other  not measured"]


def test_default_command():
    options = bench_gpu.parse(["--roots", "16", "--json", "rows.jsonl"])
    assert options.benchmarks == ["variants"]
    assert options.graphs == {"variants": ("rmat20", "rmat22", "rmat24", "grid4096")}
    assert (options.roots, options.seed, options.pool, options.slow) == (16, None, 60, False)
    assert options.json == Path("rows.jsonl")


def test_all_runs_everything():
    options = bench_gpu.parse(["all", "--seed", "3"])
    assert set(options.benchmarks) == set(bench_gpu.BENCHMARKS) - {"beyond"}
    assert options.graphs["scales"] == tuple(f"rmat{scale}" for scale in range(18, 27))


def test_the_readme_s_rows_are_one_run():
    options = bench_gpu.parse(["readme", "--json", "rows.jsonl"])
    assert options.benchmarks == list(bench_gpu.GROUPS["readme"])
    assert options.graphs["variants"] == ("facebook", "rmat20", "rmat22", "rmat24", "grid4096")
    assert all(graphs.check_name(name) is None for names in options.graphs.values() for name in names)
    with pytest.raises(SystemExit):
        bench_gpu.parse(["readme", "--graphs", "rmat20"])


def test_graphs_of_one_benchmark():
    assert bench_gpu.parse(["variants", "--graphs", "facebook,rmat12"]).graphs == {
        "variants": ["facebook", "rmat12"]
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["speed"],
        ["variants", "--graphs", "friendster"],
        ["all", "--graphs", "rmat20"],
        ["--roots", "0"],
        ["--seed", "-1"],
    ],
)
def test_refused_command_lines(arguments, capsys):
    with pytest.raises(SystemExit) as refused:
        bench_gpu.parse(arguments)
    assert refused.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_a_missing_library_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(libraries, "PACKAGES", ("no_such_package",))
    assert bench_gpu.main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith("This needs no_such_package") and said.count("\n") == 1


@pytest.mark.parametrize(("n", "degree"), [(1, 3.0), (2, 1.0), (300, 9.0), (1000, 4.0), (50, 200.0)])
def test_geometric_graph_joins_what_is_near(n, degree):
    src, dst = graphs.geometric(n, degree=degree, seed=5)
    x, y = np.random.default_rng(5).random((2, n))
    apart = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
    expected = {(i, j) for i, j in zip(*np.nonzero(apart <= degree / (math.pi * n)), strict=True) if i < j}
    found = [(min(u, v), max(u, v)) for u, v in zip(src.tolist(), dst.tolist(), strict=True)]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_lattice_joins_free_neighbors():
    src, dst = graphs.lattice(40, blocked=0.35, seed=5)
    free = np.random.default_rng(5).random((40, 40), dtype=np.float32) >= 0.35
    assert free.ravel()[src].all() and free.ravel()[dst].all()
    assert set((dst - src).tolist()) == {1, 40}
    assert len(src) == (free[:, :-1] & free[:, 1:]).sum() + (free[:-1] & free[1:]).sum()
    assert not ((src % 40 == 39) & (dst - src == 1)).any()


@pytest.mark.parametrize("name", ["rmat5", "grid4", "path9", "geometric6", "lattice8", "facebook"])
def test_graphs_by_name(name):
    frame = graphs.load(name, "pandas")
    assert list(frame.columns) == ["src", "dst"]
    assert set(frame.dtypes) == {np.dtype(np.int32)}
    assert graphs.check_name(name) is None
    assert not graphs.is_directed(name) and graphs.is_directed("citations-hepph")


def test_roots_have_a_neighbor(monkeypatch):
    monkeypatch.setattr(graphs, "CHUNK", 2)
    src, dst = np.array([0, 1, 3, 5]), np.array([0, 2, 1, 5])
    assert graphs.with_neighbor(src, dst).tolist() == [1, 2, 3]
    assert graphs.with_neighbor(src, dst, directed=True).tolist() == [1, 3]
    drawn = graphs.draw(np.arange(10, 30), 12, seed=4)
    assert len(set(drawn)) == 12 and set(drawn) <= set(range(10, 30))
    assert drawn == graphs.draw(np.arange(10, 30), 12, seed=4)
    assert len(graphs.draw(np.arange(3), 12, seed=4)) == 3


def test_slow_contenders_get_fewer_roots(monkeypatch):
    monkeypatch.setattr(lab.Lab, "slow_seconds", 0.0)
    asked = []
    slow = lab.Contender("slow", lambda root: root, lambda root, limit=None: asked.append((root, limit)))
    ms = CpuLab().timings(slow, [4, 5, 6, 7, 8], least=2, warm_depth=3)
    assert len(ms) == 2
    assert asked == [(4, 3), (4, None), (5, None)]


def test_results_are_checked_after_the_clock(monkeypatch):
    monkeypatch.setattr(lab, "HELD_BYTES", 2)
    events = []
    contender = lab.Contender("x", int, lambda root, limit=None: events.append(root) or -root, result_bytes=1)
    CpuLab().timings(contender, [1, 2, 3], check=lambda root, result: events.append((root, result)))
    assert events == [1, 1, 2, (1, -1), (2, -2), 3, (3, -3)]


def test_checker_counts_and_finds_faults():
    cpu = CpuLab()
    edges = pd.DataFrame({"src": [3, 3, 4, 5, 9], "dst": [4, 4, 5, 5, 11]}, dtype="int32")
    graph = cpu.graph(edges)
    ours, checker = cpu.ours(graph), checks.Checker(cpu, graph, edges)
    found = ours.run(ours.prepare(3))
    checker(3, found)
    assert (checker.edges, checker.levels) == ({3: 4}, {3: 2})
    assert checker.verdict() == {"checked": 1, "wrong": 0}
    found.distance[1] = 5
    checker(3, found)
    assert checker.verdict()["wrong"] == 1 and "root 3" in checker.verdict()["note"]
    checker.restart()
    assert checker.verdict() == {"checked": 0, "wrong": 0}


def test_distances_and_answers_are_compared():
    largest = np.iinfo(np.int32).max
    theirs = (np.array([1, largest, 0], np.int32), None, np.array([2, 1, 0]))
    assert checks.same_distances(np, np.array([0, -1, 1]), theirs)
    assert not checks.same_distances(np, np.array([0, 1, 1]), theirs)
    ours = pd.DataFrame({"vertex": [4, 7], "distance": pd.array([0, None], "Int32")})
    answer = pd.DataFrame({"vertex": [7, 4], "distance": np.array([largest, 0], np.int32)})
    assert checks.same_answers(ours, answer)
    assert not checks.same_answers(ours, answer.assign(distance=np.array([1, 0], np.int32)))
    assert not checks.same_answers(ours, answer[:1])


def test_claims_name_setups():
    names = [setup.name for setup in ablation.SETUPS]
    assert len(set(names)) == len(names)
    assert all(with_it in names and without in names for _, with_it, without, _ in ablation.CLAIMS)
    built = [(setup.degree_sort, setup.pruned) for setup in ablation.SETUPS]
    turns = sum(one != other for one, other in itertools.pairwise(built))
    assert turns == len(set(built)) - 1, "setups that share a graph stand together"


def test_scales_and_refusals():
    found = measured("scales", ["rmat6", "rmat7"])
    own = ["rapids_trav", "rapids_trav, by the device's clock"]
    assert [row["name"] for row in found[:3]] == [*own, "pylibcugraph optimizing=True"]
    assert all(row["wrong"] == 0 and row["checked"] == 4 and row["roots"] == 4 for row in found)
    assert {row["seed"] for row in found} == {7}
    cpu = CpuLab()
    cpu.refused = True
    ours, on_device, *theirs = measured("scales", ["rmat6"], cpu)
    assert "note" not in ours and on_device["name"] == own[1]
    assert {row["note"] for row in theirs} == {"not measured, MemoryError: std::bad_alloc: out of memory"}


class Event:
    """CUDA event of a stand-in device, which reaches it at once unless four copies were queued before."""

    copies = 0

    def record(self):
        self.at = Event.copies

    @property
    def done(self):
        return self.at < 4


def test_searches_are_queued_before_the_first_begins(monkeypatch):
    """The copies before the searches are doubled until the host is ahead; a search that waits is an error."""

    def copy(target, source):
        Event.copies += 1

    clock = SimpleNamespace(Event=Event, get_elapsed_time=lambda before, after: 1.5)
    monkeypatch.setattr(lab, "MOST_COPIES", 8)
    cpu = CpuLab()
    cpu.xp = SimpleNamespace(cuda=clock, empty=np.empty, copyto=copy)
    ran = []
    contender = lab.Contender("ours", int, lambda source: ran.append(source) or -source)
    checked = []
    ms = lab.Lab.device_timings(cpu, contender, [3, 5], lambda *what: checked.append(what))
    assert (ms, checked, ran) == ([1.5, 1.5], [(3, -3), (5, -5)], [3, 5] * 3)  # after 1, 3 and 7 copies
    monkeypatch.setattr(Event, "done", True)
    with pytest.raises(RuntimeError, match="ours waits for the device"):
        lab.Lab.device_timings(cpu, contender, [3], lambda *what: None)


def test_ablation():
    found = measured("ablation", ["rmat6"])
    parts = [row for row in found if row["table"] == "parts"]
    assert [row["name"] for row in parts] == [setup.name for setup in ablation.SETUPS]
    assert all(row["wrong"] == 0 and row["edges_examined"] > 0 for row in parts)
    assert [row["claim"] for row in found if row["table"] == "claims"] == [c[0] for c in ablation.CLAIMS]
    sorts = {row["name"]: row for row in found if row["table"] == "sort back ends"}
    assert list(sorts) == ["radix", "merge", "none"]
    assert "degree_sort_ms" in sorts["merge"] and "degree_sort_ms" not in sorts["none"]


def test_whole_call_build_and_variants():
    found = measured("variants", ["rmat6"])
    assert [row["table"] for row in found] == ["build"] * 2 + ["traversal"] * 4 + ["whole call"] * 3
    assert {"graph", "name", "roots", "median_ms", "q1_ms", "harmonic_mean_ms"} <= set(found[2])
    ours, theirs = found[:2]
    assert ours["peak_over_input"] == rows.short(1000 / (8 * 16 * 64))
    assert ours["adjacency_ms"] > 0 and theirs["over_ours"] > 0
    whole = found[-3:]
    assert [row["name"] for row in whole[1:]] == ["rapids_trav graph.bfs", "cugraph.bfs"]
    assert whole[1]["over_traversal"] > 0 and whole[2]["wrong"] == 0


def test_centrality(monkeypatch):
    def own(lab, edges, sources, factor=2.0):
        found = lab.graph(edges, directed=False).betweenness(sources=sources, normalized=False)
        return [1.0], dict(zip(found["vertex"], factor * found["betweenness"], strict=True))

    def without(*_):
        raise ImportError("No module named 'networkit'")

    monkeypatch.setattr(centrality, "betweenness_of_cugraph", own)
    for of_networkit in ("searches_of_networkit", "betweenness_of_networkit"):
        monkeypatch.setattr(centrality, of_networkit, without)
    found = measured("centrality", ["rmat7"])
    assert [(row["question"], row["name"]) for row in found] == [
        ("closeness", "trav"), ("closeness", "NetworKit"),
        ("betweenness", "trav"), ("betweenness", "cuGraph"), ("betweenness", "NetworKit"),
    ]  # fmt: skip
    assert all(row["wrong"] == 0 and row["checked"] > 0 for row in found if row["name"] == "trav")
    assert found[1]["note"] == "not measured, ImportError: No module named 'networkit'"

    def other(lab, edges, sources):
        ms, scores = own(lab, edges, sources)
        return ms, {vertex: score + vertex for vertex, score in scores.items()}

    monkeypatch.setattr(centrality, "betweenness_of_cugraph", other)
    ours, theirs = measured("centrality", ["rmat7"])[2:4]
    assert ours["wrong"] == 0 and theirs["wrong"] > 0
    assert centrality.compared({0: 1.0, 1: 2.0, 2: 3.1}, {0: 2.0, 1: 4.0, 2: 6.0})["wrong"] == 3


def test_tables_of_a_run(capsys):
    found = [row for name in ("scales", "ablation", "variants") for row in measured(name, ["rmat6"])]
    json.dumps(found)
    assert bench_gpu.report(found) == 0
    shown = capsys.readouterr().out
    for title in ("scales", "ablation: parts", "ablation: claims", "variants: traversal"):
        assert title in shown
    assert bench_gpu.report([{**found[0], "wrong": 2, "note": "root 1: bad"}]) == 1


def test_a_table_leaves_out_empty_columns():
    table = rows.make("t", ("name", "roots", "note"), [{"name": "a", "roots": 12345, "note": None}])
    assert [column.header for column in table.columns] == ["name", "roots"]
    console = Console(width=60)
    with console.capture() as text:
        console.print(table)
    assert "12,345" in text.get()
    assert (rows.cell(0.000123456), rows.cell(123456.7), rows.cell(None)) == (
        "0.0001235",
        "123,457",
        "",
    )
