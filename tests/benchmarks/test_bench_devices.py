"""The benchmark of several GPUs, without a GPU: its rows, their figures, and what makes a row wrong."""

import json

import pytest
from test_bench import CpuLab, bench_gpu, measured

from benchmarks.gpu import launch_law
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.searches import LevelTrace

devices = bench_gpu.BENCHMARKS["devices"]

pytestmark = pytest.mark.slow


def test_numbers_of_gpus():
    assert [devices.counts(most) for most in (1, 2, 3, 8)] == [[1], [1, 2], [1, 2], [1, 2, 4, 8]]


def test_several_gpus_stand_beside_one():
    one, theirs, two, *levels = measured("devices", ["rmat7"])
    assert (one["name"], two["name"]) == ("1 GPU", "2 GPUs")
    assert one["over_one"] == 1
    # By the devices' clock, a search on two takes ten seconds.
    assert two["median_ms"] == 10_000
    assert two["wall_ms"] < 10_000
    assert two["over_one"] == pytest.approx(two["gteps_harmonic_mean"] / one["gteps_harmonic_mean"], rel=1e-3)
    assert two["us_a_level"] == pytest.approx(1e7 / two["levels"], rel=0.5)
    assert all(row["checked"] == 4 and row["wrong"] == 0 for row in (one, theirs, two))
    assert two["over_predicted"] == pytest.approx(two["median_ms"] / two["predicted_ms"], rel=1e-2)
    assert [row["level"] for row in levels] == list(range(1, len(levels) + 1))
    assert {row["table"] for row in levels} == {"launch levels"}
    assert levels[0]["frontier"] == 1 and levels[0]["root"] == levels[-1]["root"]
    json.dumps([one, theirs, two, *levels])


def level(exchange, frontier=1000, edges=10_000):
    return LevelTrace(1, "push", frontier, edges, 0, 1.0, exchange=exchange)


def test_predictions_divide_work_and_add_meetings_and_traffic():
    alone = [level("none")] * 4
    assert launch_law.predicted_ms(1.0, alone, 2**20, 1) == pytest.approx(1 + 5 * (2.6 - 1.35) * 1e-3)
    assert launch_law.predicted_ms(1.0, alone, 2**20, 2) == pytest.approx((1 - 5 * 1.35e-3) / 2 + 13e-3)
    assert launch_law.exchange_us(level("copies"), 2**27, 2) == pytest.approx(2**23 / 313e3)
    assert launch_law.exchange_us(level("lists"), 2**27, 4) == pytest.approx(3000 / 157e3)
    assert launch_law.exchange_us(level("words"), 2**27, 2) == 0
    assert launch_law.exchange_us(level("offers"), 2**27, 2) == pytest.approx(20_000 / 313e3)
    with_copies = launch_law.predicted_ms(1.0, [level("copies"), *alone], 2**27, 2)
    assert with_copies > launch_law.predicted_ms(1.0, [level("none"), *alone], 2**27, 2)


def test_a_wrong_search_on_several_gpus_is_told(monkeypatch):
    bfs = CpuEngine.search

    def wrong(self, view, sources, options):
        found = bfs(self, view, sources, options)
        if type(self) is not CpuEngine:
            found.distance[found.distance == 2] = 1
        return found

    monkeypatch.setattr(CpuEngine, "search", wrong)
    one, _, two, *_ = measured("devices", ["rmat7"])
    assert one["wrong"] == 0
    assert two["wrong"] == 4


def test_a_graph_that_does_not_fit_one_gpu_has_no_ratio(monkeypatch):
    graph = CpuLab.graph

    def refuses(self, edges, **how):
        raise MemoryError("out of memory")

    monkeypatch.setattr(CpuLab, "graph", refuses)
    one, two, *_ = measured("devices", ["rmat6"])
    assert one["note"] == "not measured, MemoryError: out of memory"
    assert two["over_one"] is None
    assert two["wrong"] == 0
    monkeypatch.setattr(CpuLab, "graph", graph)


def test_the_largest_graph_takes_minutes():
    (row,) = measured("devices", ["rmat30"])
    assert row["table"] == "generated"
    assert "--slow" in row["note"]


def test_tables(capsys):
    assert bench_gpu.report(measured("devices", ["rmat5"])) == 0
    assert "devices" in capsys.readouterr().out
