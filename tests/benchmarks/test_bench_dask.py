"""Benchmarks of graphs on many workers, run here on two processes and small graphs."""

import json
import time

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("distributed")

from benchmarks.scale import model as scale_model
from benchmarks.workers import calls as dask_calls
from benchmarks.workers import lab as dask_lab
from benchmarks.workers import main as bench_dask
from benchmarks.workers import searches as dask_searches
from rapids_trav.engines.multigpu.grid import Grid


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return the rows of all parts on two workers, as read from the file, and the printed output."""
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    options = ["--cpu", "--workers", "2", "--scale", "8", "--scale", "9", "--formula-scale", "8"]
    result = CliRunner().invoke(bench_dask.main, [*options, "--roots", "3", "--json", str(path)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in path.read_text().splitlines()], result.output


def rows_of(kept, table):
    return [row for row in kept[0] if row["table"] == table]


@pytest.mark.slow
def test_every_part_has_rows_and_none_is_wrong(kept):
    assert not rows_of(kept, "not measured")
    assert {row["table"] for row in kept[0]} == set(bench_dask.TABLES) - {"summary", "not measured"} | {
        "cluster"
    }
    assert all(row.get("wrong", 0) == 0 for row in kept[0])
    assert all(row[fact] for row in kept[0] for fact in ("run", "digest", "date", "versions"))
    assert "distributed" in kept[0][0]["versions"]


@pytest.mark.slow
@pytest.mark.parametrize("part", dask_searches.PARTS)
def test_settings_are_timed_and_checked(kept, part):
    found = rows_of(kept, part)
    assert [row["name"] for row in found] == 2 * list(dask_searches.PARTS[part])
    assert all((row["roots"], row["checked"], row["compared"]) == (3, 1, 3) for row in found)
    assert {row["graph"] for row in found} == {"rmat8", "rmat9"} and found[0]["over_default"] == 1


@pytest.mark.slow
def test_lists_take_more_bytes_than_the_shorter_form(kept):
    over = {
        row["name"]: row["bytes_over_default"] for row in rows_of(kept, "exchange") if row["graph"] == "rmat9"
    }
    assert over["lists"] > 1 and over["bitmaps"] > 1


@pytest.mark.slow
def test_counted_bytes_were_sent(kept):
    found = rows_of(kept, "formula")
    assert [row["name"].rpartition(" ")[2] for row in found] == ["auto", "list", "bitmap"]
    assert all(row["checked"] == 2 and row["mb_a_rank"] > 0 for row in found)


@pytest.mark.slow
def test_graphs_of_scaling(kept):
    strong = {(row["graph"], row["workers"]) for row in rows_of(kept, "strong scaling")}
    assert strong == {(graph, n) for graph in ("rmat8", "rmat9") for n in (1, 2)}
    weak = [(row["graph"], row["workers"]) for row in rows_of(kept, "weak scaling")]
    assert weak == [("rmat8", 1), ("rmat9", 2)]
    assert all(row["scaling_efficiency"] for row in rows_of(kept, "weak scaling"))
    assert {row["grid"] for row in rows_of(kept, "grids")} == {"2 x 1", "1 x 2"}


@pytest.mark.slow
def test_calls_and_builds_are_beside_those_of_cugraph(kept):
    calls = {row["name"]: row for row in rows_of(kept, "whole calls") if row["graph"] == "rmat9"}
    assert calls[dask_calls.OURS]["checked"] == 1 and calls[dask_calls.OURS]["median_ms"] > 0
    assert "not measured" in calls[dask_calls.THEIRS]["note"]
    built = rows_of(kept, "build")[1]
    assert built["name"] == "trav.graph" and built["input_bytes"] == 16 * 2**8 * 8 // 2
    assert {"renumber_ms", "degree_sort_ms", "adjacency_ms"} <= set(built)


@pytest.mark.slow
def test_the_short_table_is_last(kept):
    assert kept[1].rstrip().rpartition("dask: ")[2].startswith("summary")
    assert "B1: sort-unique over atomics" in kept[1].rpartition("dask: ")[2]


class NoCluster:
    """Benchmark lab in which every part fails."""

    workers = ("a", "b")
    closed = 0

    def made(self, *_):
        raise MemoryError("std::bad_alloc\nsomewhere")

    def close(self):
        self.closed += 1


def test_a_part_that_fails_has_a_row_and_the_next_one_runs():
    lab = NoCluster()
    found = list(bench_dask.measure(lab, ("claims", "grids"), (8,), 8, 60))
    assert [(row["table"], row["name"], row["note"]) for row in found] == [
        ("not measured", "claims", "MemoryError: std::bad_alloc"),
        ("not measured", "grids", "MemoryError: std::bad_alloc"),
    ]
    assert lab.closed == 2


def test_parts_beyond_the_budget_have_rows():
    found = list(bench_dask.measure(NoCluster(), bench_dask.PARTS, (8,), 8, -1))
    assert [row["name"] for row in found] == list(bench_dask.PARTS)
    assert all("budget" in row["note"] for row in found)


def test_limits_end_what_takes_too_long_and_nest():
    start = time.monotonic()
    inner = pytest.raises(TimeoutError, match="inner took more")
    with inner, dask_lab.within(60, "outer"), dask_lab.within(0.05, "inner"):
        time.sleep(30)
    with pytest.raises(TimeoutError, match="outer took more"), dask_lab.within(0.1, "outer"):
        with dask_lab.within(60, "inner"):
            pass
        time.sleep(30)
    assert time.monotonic() - start < 20
    time.sleep(0.01)  # a leftover alarm would go off here


def test_other_bytes_than_counted_are_told():
    adjacency = scale_model.rmat(6, 4)
    sent = scale_model.count(
        adjacency, scale_model.distances(adjacency, int(adjacency.column_indices[0])), Grid(2, 1, 64)
    )
    levels = [
        {"expand_bytes": int(e), "fold_bytes": int(f)}
        for e, f in zip(sent.expand[:, 0], sent.fold[:, 0], strict=True)
    ]
    one = {"levels": levels, "resolution": int(sent.resolution[0]), "total": int(sent.total[0])}
    assert dask_searches._differences([one], sent) == []
    levels[0]["expand_bytes"] += 4
    (said,) = dask_searches._differences([one], sent)
    assert said.startswith("rank 0: expand of [")
    assert dask_searches._differences([one | {"total": -1}], sent)[1].startswith("rank 0: total of -1 bytes")


def test_answers_are_summed_by_distance():
    import pandas as pd

    ours = pd.DataFrame({"vertex": [3, 5, 9], "distance": pd.array([0, 1, None], "Int32")})
    theirs = pd.DataFrame({"vertex": [9, 3, 5], "distance": np.array([2**31 - 1, 0, 1], np.int32)})
    assert dask_calls._by_distance(ours) == dask_calls._by_distance(theirs)
    assert dask_calls._by_distance(ours) == [(-1, 1, 9, 81), (0, 1, 3, 9), (1, 1, 5, 25)]


def test_numbers_of_workers():
    assert (
        dask_lab.counts(1) == [1]
        and dask_lab.counts(6) == [1, 2, 4, 6]
        and dask_lab.counts(8) == [1, 2, 4, 8]
    )
