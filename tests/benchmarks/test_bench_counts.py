"""What `python -m benchmarks counts` prints is what the engines and a brute-force count say."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import counts
from benchmarks.scale import model
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.generators import rmat

GRAPHS = {"grid": "grid12", "R-MAT": "rmat9", "directed": "chains9"}


@pytest.fixture(scope="module", params=GRAPHS)
def edges(request):
    return counts.Edges.load(GRAPHS[request.param])


def test_every_edge_is_counted_once_in_the_level_of_its_row(edges):
    row = counts.of_paths(edges)
    distance = CpuEngine().search(edges.view(), np.array(edges.roots[:1]), BfsOptions()).distance
    out = edges.view().out
    reached = np.diff(out.row_offsets)[distance >= 0].sum() / out.n_edges
    assert row["rows"] == pytest.approx(reached)
    assert row["rows"] <= row["active"] + 1e-9 <= row["closure"] + 2e-9


def test_counts_of_a_grid_are_those_of_the_model():
    frame = rmat(11, 8)
    found = counts.Edges(1 << 11, frame["src"].to_numpy(np.int64), frame["dst"].to_numpy(np.int64), False)
    root = found.roots[0]
    distance = CpuEngine().search(found.view(), np.array([root]), BfsOptions()).distance
    grid = Grid(counts.SIDE, counts.SIDE, found.n)
    sent = model.count(found.view().out, distance, grid)
    plain, known = counts.of_hubs(found, root)
    assert plain == int(sent.expand.sum() + sent.fold.sum())
    assert 0 < known != plain


def test_places_that_are_used_most_come_first(edges):
    used = counts.activations(edges.view(), edges.roots[0])
    place = counts.descending(used)
    assert sorted(place.tolist()) == list(range(edges.n))
    assert (np.diff(used[np.argsort(place)]) <= 0).all()
    row = counts.of_blocks(edges)
    assert list(row) == ["ids", "degree", "locality", "used"] and min(row.values()) > 0
    assert row == counts.of_blocks(edges)  # counts do not depend on threads


def test_vertices_with_loops_alone_are_counted():
    src, dst = np.array([0, 1, 4, 4, 5]), np.array([1, 2, 4, 4, 5])
    row = counts.of_searches(counts.Edges(7, src, dst, False))
    assert (row["vertices"], row["loops_alone"]) == (5, 2)


def test_ranks_of_either_schedule_load_each_block_at_least_once(edges):
    row = counts.of_ranks(edges)
    assert row["in_sweeps"] > 1 and row["in_blocks"] >= 0.9 and row["sweeps"] > 10


def test_the_command():
    asked = ["--graph", "grid10", "--only", "searches", "--only", "paths"]
    done = CliRunner().invoke(counts.main, asked)
    assert done.exit_code == 0, done.output
    assert "closure" in done.output and "loops" in done.output
