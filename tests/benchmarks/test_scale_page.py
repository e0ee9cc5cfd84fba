"""Page on larger machines: its tables match the rows, and its model is as described."""

import json
import math

import numpy as np
import pytest

from benchmarks.harness import read
from benchmarks.pages import main as pages
from benchmarks.scale import law as scale_law
from benchmarks.scale import model as scale_model
from benchmarks.scale import tables as scale_tables
from rapids_trav import generators
from rapids_trav.engines.multigpu.grid import LOCAL_IDS, Grid, choose_grid
from rapids_trav.errors import TravError

PAGE = pages.SCALE


@pytest.fixture(scope="module")
def rows():
    counted, measured = (read(pages.ROWS / name) for name in (pages.COUNTED, pages.MEASURED))
    return scale_tables.Rows(counted, measured)


def test_the_page_has_every_table_and_they_are_those_of_the_rows():
    text = PAGE.read_text()
    assert pages.written(text, pages.ROWS) == text
    assert all(f"<!-- table: {name} -->" in text for name in scale_tables.TABLES)


def test_a_page_is_written_and_checked(tmp_path):
    page = tmp_path / "scale.md"
    page.write_text("before\n<!-- table: held-out -->\nold\n<!-- end of table -->\nafter\n")
    assert pages.main(["--check", "--page", str(page)]) == 1
    assert pages.main(["--page", str(page)]) == 0
    assert "| one column |" in page.read_text() and "old" not in page.read_text()
    assert page.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert pages.main(["--check", "--page", str(page)]) == 0


def test_committed_rows_are_what_is_counted_today(rows):
    """Only the smallest graph is counted again: a changed message format makes all rows out of date."""
    fresh = list(scale_model.rows_of(16, 16, (8, 16), scale_model.LAYOUTS))
    kept = [row for row in rows.counted if row["scale"] == 16 and row["ranks"] in (8, 16)]
    assert json.loads(json.dumps(fresh)) == kept and len(kept) == 5


@pytest.mark.parametrize("scale", [8, 14])
def test_vertices_with_an_edge(scale):
    edges = generators.rmat(scale, 16, seed=5)
    found = len(np.union1d(edges["src"], edges["dst"]))
    assert scale_law.connected(scale) == pytest.approx(found, rel=0.03)


def test_the_law_is_the_mean_of_the_scales(rows):
    shape = scale_law.Law(rows.counted).shapes["8 x 8", 64]
    known = {r["scale"]: r for r in rows.counted if (r["grid"], r["ranks"]) == ("8 x 8", 64)}
    each = [1e6 * r["mb_a_rank"] * 64 / scale_law.connected(scale) for scale, r in known.items()]
    assert shape.n_bytes == pytest.approx(sum(each) / len(each))
    assert 0 < shape.between < shape.n_bytes


def test_the_held_out_scale_takes_no_part(rows):
    last = max(row["scale"] for row in rows.counted)
    changed = [
        row | {"mb_a_rank": 2 * row["mb_a_rank"]} if row["scale"] == last else row for row in rows.counted
    ]
    told, other = (dict_of(scale_law.held_out(of)) for of in (rows.counted, changed))
    assert told == other and len(told) >= 4


def dict_of(found):
    return {(row["grid"], row["layout"]): told for row, told in found}


def test_grids_beyond_the_count_continue_the_line(rows):
    law = scale_law.Law(rows.counted)
    assert law.shape((256, 256)).n_bytes > law.shape((128, 64)).n_bytes
    assert law.shape((3, 5)) is None and law.shape((65536, 1)) is None
    assert scale_law.predict(law, 30, (3, 5)) is None


def test_a_prediction_is_the_sum_of_its_parts(rows):
    """Computed by hand for two GPUs of one host: bytes inside the host, one partner, a gather and a sum."""
    law = scale_law.Law(rows.counted)
    found = scale_law.predict(law, 22, (2, 1))
    n_levels, shape = law.levels[22], law.shapes["2 x 1", 2]
    assert found.levels == pytest.approx(n_levels * 100e-6)
    assert found.messages == pytest.approx(n_levels * (3 * 8.5e-6 + 2 * 1.2e-6))
    assert found.inside == pytest.approx(shape.n_bytes * scale_law.connected(22) / 2 / 231e9)
    assert found.between == 0
    assert found.edges == pytest.approx(32 * 2**22 / 2 / 34e9)
    assert found.total == pytest.approx(found.levels + found.messages + found.inside + found.edges)
    assert found.gteps(22) == pytest.approx(16 * 2**22 / found.total / 1e9)
    alone = scale_law.predict(law, 22, (1, 1))
    assert alone.communication == 0 and alone.edges == pytest.approx(2 * found.edges)


def test_local_ids_are_refused_where_the_page_says_so():
    """`Grid` refuses the grids that have too many local ids by the model, with and without padding."""
    for scale, grid, fits in ((38, (128, 64), True), (39, (128, 64), False), (40, (256, 256), True)):
        assert scale_law.has_local_ids(scale, grid) is fits
        n = math.floor(scale_law.connected(scale))
        if fits:
            assert Grid(*grid, n).local_columns < LOCAL_IDS
        else:
            with pytest.raises(TravError, match="local vertices"):
                Grid(*grid, n)


@pytest.mark.parametrize("scale", [30, 36, 40])
def test_the_fewest_gpus_hold_it_and_half_do_not(scale):
    ranks, grid, _ = scale_law.least_ranks(scale)
    assert grid == choose_grid(ranks)
    assert sum(scale_law.holds(scale, grid).values()) <= scale_law.GPU_BYTES
    half = choose_grid(ranks // 2)
    too_much = sum(scale_law.holds(scale, half).values()) > scale_law.GPU_BYTES
    assert too_much or not scale_law.has_local_ids(scale, half)


def test_a_measurement_that_was_repeated_is_shown_once(rows):
    old = {
        "table": "whole calls", "name": "graph.bfs", "graph": "rmat24", "workers": 2, "grid": "2 x 1",
        "median_ms": 10.2, "card": "NVIDIA H200",
    }  # fmt: skip
    others = [old | {"card": "NVIDIA H100 80GB HBM3"}, old | {"workers": 4}, old | {"table": "build"}]
    lines = scale_tables.whole_calls(
        scale_tables.Rows(rows.counted, [old, *others, old | {"median_ms": 12.5}])
    )
    cells = [[cell.strip() for cell in line.strip("|").split("|")][:3] for line in lines[2:]]
    assert cells == [
        ["scale 24, 2 H200", "whole call: graph.bfs", "12.5"],
        ["scale 24, 2 H100", "whole call: graph.bfs", "10.2"],
        ["scale 24, 4 H200", "whole call: graph.bfs", "10.2"],
        ["scale 24, 2 H200", "build: graph.bfs", "10.2"],
    ]


def test_measured_searches_stand_beside_the_prediction(rows):
    row = {
        "table": "claims", "name": "atomics, auto", "graph": "rmat22", "workers": 2, "grid": "2 x 1",
        "median_ms": 12.5, "mb_a_rank": 0.5, "card": "NVIDIA H100 80GB HBM3",
    }  # fmt: skip
    odd = row | {"workers": 15, "grid": "3 x 5"}
    others = [row | {"name": "sort-unique"}, row | {"table": "formula"}, row | {"median_ms": 99.0}]
    lines = scale_tables.measured(scale_tables.Rows(rows.counted, [row, odd, *others]))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [cell[0] for cell in cells] == ["scale 22, 15 H100, 3 x 5", "scale 22, 2 H100, 2 x 1"]
    assert cells[0][1:] == ["12.5", "-", "0.500", "-"]
    seconds = scale_law.predict(scale_law.Law(rows.counted), 22, (2, 1)).total
    assert cells[1][1] == "12.5" and float(cells[1][2]) == pytest.approx(1e3 * seconds, rel=0.01)
    assert "No measured rows yet" in scale_tables.measured(scale_tables.Rows(rows.counted, []))[0]
