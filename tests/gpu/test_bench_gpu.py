"""Benchmarks of published claims on the kernels themselves, on small graphs: they run and count."""

from __future__ import annotations

import time
from importlib import import_module
from types import SimpleNamespace

import pytest

from benchmarks.harness import run
from rapids_trav.graph import Graph
from rapids_trav.graph500 import validation

pytestmark = pytest.mark.gpu


@pytest.fixture
def make_lab(cupy):
    """Return a function that makes a lab of frames of pandas and the CUDA engine, without RMM and cuGraph."""
    from benchmarks.gpu import lab
    from rapids_trav.engines.cuda import CudaEngine
    from rapids_trav.engines.multigpu.devices import DevicesEngine

    class SmallLab(lab.Lab):
        library = "pandas"

        def __init__(self, roots=3, seed=7):
            self.xp, self.device = cupy, validation.functions_of("cuda")
            self.n_roots, self.seed, self.slow = roots, seed, False

        def ends(self, edges):
            return tuple(cupy.asarray(edges[end].to_numpy()) for end in ("src", "dst"))

        def every_id(self, n):
            return list(range(n))

        def graph(self, edges, **how):
            graph = Graph.from_edges(edges, "src", "dst", engine=CudaEngine(least_pull=0), **how)
            view = graph.storage.view("out")
            _ = view.out, view.into
            return graph

        def engine(self, bitmaps):
            return CudaEngine(bitmaps=bitmaps, least_pull=0)

        n_devices = 2

        def let_go(self):
            pass

        def several(self, count, layout=None):
            return DevicesEngine([0] * count, CudaEngine(least_pull=0), layout=layout, always=True)

        def device_timings(self, contender, roots, check):
            ms = []
            for root in roots:
                source, start = contender.prepare(root), time.perf_counter()
                found = contender.run(source)
                self.synchronize()
                ms.append(1e3 * (time.perf_counter() - start))
                check(root, found)
            return ms

    return SmallLab


@pytest.fixture
def measured(make_lab):
    def measure(name, *graphs):
        found = list(run(name, import_module(f"benchmarks.gpu.{name}"), make_lab(), graphs))
        assert all(row["wrong"] == 0 and row["checked"] == 3 for row in found if "checked" in row)
        return found

    return measure


def test_every_part_of_vs_graph500_is_left_out_alone(measured):
    found = measured("ablation", "rmat8")
    claims = {row["claim"]: row["ratio_of_gteps"] for row in found if row["table"] == "claims"}
    assert {"neighbours in order alone", "bitmaps in words alone"} < set(claims)
    assert all(ratio > 0 for ratio in claims.values())
    edges = {row["name"]: row["edges_examined"] for row in found if row["table"] == "parts"}
    assert edges["optimising, a launch a level"] == edges["that, without bitmaps"]


def test_hits_rise_as_the_threshold_falls(measured):
    found = {row["threshold"]: row for row in measured("hubs", "rmat8")}
    assert found[None]["hits"] == found[None]["held_bytes"] == 0
    assert found[0]["hits"] >= found[10]["hits"] >= found[30]["hits"] > 0
    assert found[0]["hit_share"] == 1  # all vertices fit
    assert found[0]["held_vertices"] > found[30]["held_vertices"] > 0


def test_sorts_are_timed(measured):
    found = measured("sorting", "rmat8")
    assert [row["name"] for row in found] == ["radix", "merge", "none"]
    assert found[0]["sort_ms"] > 0 and found[1]["sort_ms"] > 0 == found[2]["sort_ms"]


def test_the_worst_root_is_taken_apart(measured):
    found = measured("evenness", "rmat8")
    parts = [row for row in found if row["table"] == "made of"]
    assert [row["name"] for row in parts] == ["median root", "worst root"]
    assert all(row["pushed"] + row["pulled"] == row["levels"] > 0 and row["degree"] > 0 for row in parts)


def test_threads_of_a_star_and_of_a_path(measured):
    found = {(row["graph"], row["name"]): row for row in measured("kinds", "star300", "path20")}
    assert len(found) == 8
    assert found["star300", "push"]["longest_thread"] == found["star300", "frontier"]["longest_thread"] == 299
    assert found["star300", "edge"]["longest_thread"] == found["star300", "edge"]["mean_thread"] == 1
    assert found["star300", "edge"]["stored_bytes"] > found["star300", "push"]["stored_bytes"]
    assert found["path20", "pull"]["longest_thread"] == 2
    assert found["path20", "push"]["busy_share"] < found["path20", "frontier"]["busy_share"] == 1


def test_ranks_are_timed_beside_one_gpu(make_lab, monkeypatch):
    from benchmarks.gpu import devices

    monkeypatch.setattr(devices, "rival", lambda *_: {"name": "pylibcugraph"})
    one, _, two, *levels = run("devices", devices, make_lab(), ["rmat9"])
    assert (one["layout"], two["layout"]) == (None, "rows by both ends")
    assert all(row["checked"] == 3 and row["wrong"] == 0 for row in (one, two))
    assert two["median_ms"] > 0
    assert all(row["exchange"] for row in levels) and levels[0]["frontier"] == 1
    assert two["predicted_ms"] > 0


def test_a_graph_is_generated_dealt_and_checked(make_lab, monkeypatch):
    """A search that is wrong is told."""
    from benchmarks.gpu import devices

    monkeypatch.setattr(devices, "GENERATED_SCALE", 8)
    lab = make_lab()
    lab.slow = True
    row, *levels = run("devices", devices, lab, ["rmat8"])
    assert (row["table"], row["checked"], row["wrong"]) == ("generated", 3, 0)
    assert [level["level"] for level in levels] == list(range(1, len(levels) + 1)) != []
    assert {level["table"] for level in levels} == {"launch levels"}
    assert row["gteps_harmonic_mean"] > 0
    assert row["rows_bytes"] > 4 * 2 * 0.9 * (16 << 8)
    faults = lab.device.count_faults
    lab.device = SimpleNamespace(
        **vars(lab.device) | {"count_faults": lambda *given: [1, *faults(*given)[1:]]}
    )
    row, *_ = run("devices", devices, lab, ["rmat8"])
    assert row["wrong"] == 3
    assert "1, 0, 0, 0, 0, 0, 0" in row["note"]
