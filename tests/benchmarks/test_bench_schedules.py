"""B7, B15: rows of schedules, how they are selected, stopped and compared, and their table."""

import numpy as np
import pandas as pd
import pytest
from test_bench import CpuLab, bench_gpu, graphs

from benchmarks.gpu import schedule_trace, schedules
from benchmarks.harness import run
from benchmarks.pages import tables as readme_tables

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Sweeps end by themselves, however busy the machine is."""
    monkeypatch.setattr(schedules, "MOST_OVER", 1e12)
    monkeypatch.setattr(CpuLab, "sweep_seconds", 1e9)


def measured(names, **how):
    lab = CpuLab()
    vars(lab).update(how)
    found = list(run("schedules", schedules, lab, names))
    assert all(row["wrong"] == 0 for row in found if "wrong" in row)
    return {(row["graph"], row["order"], row["program"], row["name"]): row for row in found}


def test_every_way_in_every_order():
    found = measured(["rmat8"])
    assert {key[1:] for key in found} == {
        (order, program, name)
        for order in schedules.ORDERS
        for program, ways in schedules.WAYS.items()
        for name in (schedules.MEMORY, *ways)
    }
    refused = {key[3] for key, row in found.items() if "note" in row}
    assert refused <= {"paths, with the CPU", "sweep, with the CPU"}  # there is no GPU beside which to run
    others = {*refused, schedules.MEMORY}
    assert all(row["checked"] == 1 for key, row in found.items() if key[3] not in others)
    paths = found["rmat8", "natural", "sssp", "paths"]
    assert paths["rounds"] > paths["iterations"] and 0 < paths["card_busy"] <= 1
    assert found["rmat8", "degree", "components", "sweep, asynchronous"]["over_sweep"] == 1
    pagerank = found["rmat8", "natural", "pagerank", "auto"]
    assert pagerank["bytes_an_edge"] > 0 and pagerank["over_best"] > 0
    assert "over_best" not in paths


def test_only_selected_rows_are_measured():
    found = measured(["rmat6", "chains10"], selected=["chains*/natural/sssp/[pa]*", "*/degree/sssp/auto"])
    assert [key[:2] + key[3:] for key in found] == [
        ("rmat6", "degree", "in memory"), ("rmat6", "degree", "auto"),
        ("chains10", "natural", "in memory"), ("chains10", "natural", "paths"),
        ("chains10", "natural", "paths, with the CPU"), ("chains10", "natural", "auto"),
        ("chains10", "degree", "in memory"), ("chains10", "degree", "auto"),
    ]  # fmt: skip


def test_a_sweep_that_is_stopped_is_a_lower_bound():
    found = measured(["grid24"], selected=["*/natural/sssp/*"], sweep_seconds=1e-9)
    base = found["grid24", "natural", "sssp", schedules.BASE]
    assert base["lower_bound"] and base["iterations"] == 2 * schedules.PROBE and "checked" not in base
    paths = found["grid24", "natural", "sssp", "paths"]
    assert "over_sweep" not in paths and paths["checked"] == 1
    whole = measured(["grid24"], selected=["*/natural/sssp/*"])["grid24", "natural", "sssp", schedules.BASE]
    assert "lower_bound" not in whole and whole["iterations"] > 2 * schedules.PROBE and whole["checked"] == 1


def test_rows_end_with_the_time():
    found = measured(["rmat6"], selected=["*/natural/sssp/*"], end=-1)
    assert [row["note"] for row in found.values()] == ["not measured, no time is left"]


def test_a_wrong_answer_is_told(monkeypatch):
    monkeypatch.setitem(schedules.SAME, "sssp", lambda ours, others: False)
    lab = CpuLab()
    lab.selected = ["*/natural/sssp/paths"]
    *_, (_, row) = schedules.measure(lab, "rmat6")
    assert row["wrong"] == 1


def test_components_are_compared_as_sets():
    whole = pd.DataFrame({"vertex": [0, 1], "component": [0, 0]})
    apart = pd.DataFrame({"vertex": [0, 1], "component": [0, 1]})
    assert not schedules.SAME["components"](whole, apart) and schedules.SAME["components"](apart, apart)


def test_weights_are_those_of_mirrored_edges():
    ends = np.random.default_rng(1).integers(0, 1000, (2, 500), dtype=np.int32)
    there, back = (
        schedules.with_weights(CpuLab(), pd.DataFrame({"src": u, "dst": v}))["weight"]
        for u, v in (ends, ends[::-1])
    )
    assert (there == back).all() and there.dtype == "float32"
    assert there.min() > 0 and there.max() < 1 and there.nunique() > 100


def test_times_that_overlap_count_once():
    begins, ends = np.array([5.0, 0.0, 1.0, 9.0]), np.array([6.0, 4.0, 2.0, 10.0])
    assert schedule_trace.covered(begins, ends) == 6
    assert schedule_trace.covered(begins[:0], ends[:0]) == 0


def test_chains_are_paths_between_vertices_of_the_core():
    edges = graphs.load("chains10", "pandas")
    assert graphs.is_directed("chains10") and graphs.check_name("chains10") is None
    core = int(edges["src"][:1024].max()) + 1
    along = edges[1024:]
    assert len(along) % 15 == 0 and edges.max().max() < 1 << 10
    inner = np.bincount(edges["dst"], minlength=1 << 10)[core:]
    assert set(inner) <= {0, 1} and inner.sum() == len(along) // 15 * 14


def test_options_of_the_command_line():
    options = bench_gpu.parse(["schedules", "--rows", "a/*", "--rows", "b/*", "--sweep-seconds", "3"])
    assert options.rows == ["a/*", "b/*"] and options.sweep_seconds == 3


FACTS = {"run": "a", "digest": "d", "benchmark": "schedules", "table": "schedules", "order": "locality"}


def row(graph, program, name, ms, **more):
    return {**FACTS, "graph": graph, "program": program, "name": name, "median_ms": ms, **more}


def test_the_table_marks_lower_bounds():
    figures = {"over_memory": 1.25, "streams": 1.04, "in_place": 0.5, "rounds": 1234, "share_of_link": 0.4,
               "card_busy": 0.9, "budget": 100 << 20, "peak": 90 << 20}  # fmt: skip
    run = readme_tables.Run(
        [
            row("grid4096", "sssp", "in memory", 800.0),
            row("grid4096", "sssp", "sweep, asynchronous", 60_000.0, lower_bound=True),
            row("grid4096", "sssp", "sweep, active rows", 9000.0),
            row("grid4096", "sssp", "paths", 1000.0, **figures),
            row("grid4096", "sssp", "auto", 1000.0, **figures, over_best=1.0),
        ]
    )
    head, _, line = readme_tables.schedules(run)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert len(cells) == head.count("|") - 1
    assert cells[:7] == ["grid4096, locality", "`sssp`", "800", "1,000", "1.25", "over 60.0", "9.00"]
    assert "1.04 + 0.500" in cells and "90.0 of 100" in cells


def test_without_rows_the_table_tells_how_to_measure_them():
    assert "benchmarks gpu schedules" in readme_tables.schedules(readme_tables.Run([]))[0]
