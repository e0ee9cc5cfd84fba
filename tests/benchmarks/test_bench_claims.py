"""Benchmarks of published claims and of evenness, without a GPU: their figures, and a run on the CPU."""

import json

import numpy as np
import pandas as pd
import pytest
from test_bench import CpuLab, bench_gpu, graphs, measured

from rapids_trav.engines.interface import BfsOptions
from rapids_trav.engines.searches import LevelTrace, Search

ablation, sorting, hubs, kinds = map(bench_gpu.BENCHMARKS.get, ("ablation", "sorting", "hubs", "kinds"))

pytestmark = pytest.mark.slow


def test_the_claims_are_one_run():
    options = bench_gpu.parse(["claims"])
    assert options.benchmarks == list(bench_gpu.GROUPS["claims"])
    assert options.graphs["evenness"] == tuple(f"rmat{scale}" for scale in range(20, 27))
    assert all(graphs.check_name(name) is None for names in options.graphs.values() for name in names)


def test_published_rates_stand_beside_ours():
    rates = {"default": 1200.0, "with hub cache": 1100.0}
    published, _, ours, _ = list(ablation.published("rmat22", rates))
    assert published[1] == {
        "name": "VS-Graph500", "nodes": 904, "scale": 37, "gteps_harmonic_mean": 2547.13,
        "gteps_a_node": 2.8176,
    }  # fmt: skip
    assert (ours[0], ours[1]["scale"], ours[1]["gteps_a_node"]) == ("rates", 22, 1200.0)


def test_rows_in_no_order_hold_the_same_neighbors():
    cpu = CpuLab()
    graph = cpu.graph(graphs.load("rmat8", "pandas"))
    ordered = graph.storage.view("out").out
    view = ablation.unordered(cpu, graph)
    rows = [
        [part.column_indices[first:last] for part in (ordered, view.out)]
        for first, last in zip(ordered.row_offsets[:-1], ordered.row_offsets[1:], strict=True)
    ]
    assert all(np.array_equal(one, np.sort(other)) for one, other in rows)
    assert any(not np.array_equal(one, other) for one, other in rows)
    plain, other = (cpu.ours(graph, view=one) for one in (None, view))
    source = plain.prepare(cpu.roots(graphs.load("rmat8", "pandas"))[0])
    assert np.array_equal(plain.run(source).distance, other.run(source).distance)


def test_sorting_pays_after_what_it_costs_over_what_it_saves():
    row = {"build_ms": 12.0, "sort_ms": 3.0, "median_ms": 0.5}
    gain = sorting.gains(row, {"build_ms": 10.0, "median_ms": 1.5})
    assert gain == {
        "build_more_ms": 2, "saved_ms": 1, "searches_to_pay_sort": 3, "searches_to_pay": 2
    }  # fmt: skip
    never = sorting.gains(row, {"build_ms": 10.0, "median_ms": 0.4})
    assert never["searches_to_pay"] is never["searches_to_pay_sort"] is None
    found = measured("sorting", ["rmat7"])
    assert [row["name"] for row in found] == ["radix", "merge", "none"]
    assert all(row["wrong"] == 0 and row["checked"] == 4 for row in found)
    assert found[0]["sort_ms"] > 0 == found[2]["sort_ms"]


def test_hubs():
    found = measured("hubs", ["rmat7"])
    assert [row["threshold"] for row in found] == list(hubs.THRESHOLDS)
    assert found[0]["over_none"] == 1 and found[0]["held_bytes"] == 0
    assert all(row["wrong"] == 0 and row["checked"] == 4 for row in found)
    json.dumps(found)


def test_evenness():
    found = measured("evenness", ["rmat7"])
    whole, *made = [row for row in found if row["table"] != "levels"]
    assert whole["worst_over_median"] >= 1 and whole["wrong"] == 0
    assert [row["name"] for row in made] == ["median root", "worst root"]
    assert made[1]["ms"] == whole["max_ms"]
    for row in made:
        levels = [one for one in found if one["table"] == "levels" and one["name"] == row["name"]]
        assert row["levels"] == len(levels) == row["pushed"] + row["pulled"]
        assert row["push_edges"] + row["pull_edges"] == sum(level["edges"] for level in levels)


def test_the_kinds_of_graphs_and_searches():
    found = measured("kinds", ["rmat6", "star50"])
    assert [row["name"] for row in found] == ["push"] * 2
    assert found[1]["longest_thread"] == 49
    assert all(row["wrong"] == 0 for row in found)


def levels(*rows):
    return [LevelTrace(i + 1, "push", frontier, edges, 0, 0.0) for i, (frontier, edges) in enumerate(rows)]


@pytest.mark.parametrize(
    ("variant", "trace", "expected"),
    [
        ("push", [(1, 3), (3, 5), (1, 2)], {"longest_thread": 3, "mean_thread": 2.0, "busy_share": 5 / 15}),
        ("frontier", [(1, 3), (3, 5), (1, 2)], {"longest_thread": 3, "mean_thread": 2.0, "busy_share": 1}),
        ("pull", [(1, 4), (3, 2), (1, 0)], {"longest_thread": 2, "mean_thread": 1.2, "busy_share": 5 / 15}),
        ("edge", [(1, 10), (3, 10), (1, 10)], {"longest_thread": 1, "mean_thread": 1.0, "busy_share": 1}),
    ],
)
def test_edges_of_threads(variant, trace, expected):
    """Vertex 0 is joined to 1, 2 and 3, which are joined to 4 if they are odd."""
    cpu = CpuLab()
    src, dst = np.array([0, 0, 0, 1, 3]), np.array([1, 2, 3, 4, 4])
    graph = cpu.graph(pd.DataFrame({"src": src, "dst": dst}))
    view = graph.storage.view("out")
    distance = graph.engine.search(view, np.array([0]), BfsOptions()).distance
    assert distance.tolist() == [0, 1, 1, 1, 2]
    found = Search(distance, None, levels(*trace))
    row = kinds.threads(np, variant, view, found, np.array([0]))
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-4)


def test_string_ids():
    found = measured("strings", ["rmat6"], roots=2)
    builds = [(row["ids"], row["name"]) for row in found if row["table"] == "build"]
    assert builds == [(ids, name) for ids in ("integers", "strings") for name in ("rapids_trav", "cugraph")]
    calls = [row for row in found if row["table"] == "calls"]
    assert [row["name"] for row in calls[:4]] == [
        "rapids_trav bfs", "rapids_trav bfs, no predecessors", "rapids_trav bfs, reached_only", "cugraph bfs",
    ]  # fmt: skip
    assert all(row["over_integers"] == 1 for row in calls[:4])
    assert calls[7]["ids"] == "strings" and calls[7]["checked"] == 2 and calls[7]["wrong"] == 0
    json.dumps(found)


def test_tables(capsys):
    found = [
        *measured("sorting", ["rmat5"]), *measured("hubs", ["rmat5"]), *measured("kinds", ["star9"]),
        *measured("evenness", ["rmat5"]), *measured("strings", ["rmat5"], roots=2),
    ]  # fmt: skip
    assert bench_gpu.report(found) == 0
    shown = capsys.readouterr().out
    for title in ("sorting", "hubs", "kinds", "evenness: made of", "evenness: levels", "strings: calls"):
        assert title in shown
