"""Modelled byte counts for machines that are not available, against the counters of loopback ranks."""

from __future__ import annotations

import json

import grid_graphs as graphs
import numpy as np
import pytest
from click.testing import CliRunner
from grid_graphs import searched

from benchmarks.scale import model as scale_model
from rapids_trav.engines.multigpu.grid import Grid


@pytest.mark.parametrize("exchange", ["auto", "list", "bitmap"])
@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (2, 2), (3, 2), (8, 2)])
def test_the_count_is_what_ranks_send(shape, exchange):
    graph = graphs.rmat(9, 4)
    root = int(graph.src[3])
    adjacency = scale_model.rmat(9, 4)
    distance = scale_model.distances(adjacency, root)
    sent = scale_model.count(adjacency, distance, Grid(*shape, graph.n), exchange)
    answer = searched(graph, shape, [root], exchange=exchange, trace=True)
    assert np.array_equal(answer.distance, distance)
    for rank, (part, found) in enumerate(zip(answer.parts, answer.ranks, strict=True)):
        assert [row.expand_bytes for row in found.trace] == sent.expand[:, rank].tolist()
        assert [row.fold_bytes for row in found.trace] == sent.fold[:, rank].tolist()
        assert [row.candidates for row in found.trace] == sent.candidates[:, rank].tolist()
        assert found.resolution.bytes == sent.resolution[rank]
        assert found.traffic.bytes == sent.total[rank]
        assert part.n_edges == sent.edges[rank]


def test_bytes_that_leave_a_host():
    """With a column of the grid on each host, expand traffic stays inside and all fold traffic leaves."""
    adjacency = scale_model.rmat(10, 8)
    distance = scale_model.distances(adjacency, 5)
    inside = scale_model.count(adjacency, distance, Grid(8, 4, 1024))
    assert inside.expand.sum() > 0
    assert inside.expand_off_host.sum() == 0
    assert np.array_equal(inside.fold_off_host, inside.fold)
    column = scale_model.count(adjacency, distance, Grid(32, 1, 1024))
    assert (column.expand_off_host * 31 == column.expand * 24).all()  # 24 of 31 partners are on other hosts
    wide = scale_model.count(adjacency, distance, Grid(4, 8, 1024))
    assert 0 < wide.fold_off_host.sum() < wide.fold.sum()
    assert wide.expand_off_host.sum() == 0


def test_the_command(tmp_path):
    path = tmp_path / "rows.jsonl"
    options = ["--scale", "10", "--ranks", "1", "--ranks", "16", "--levels", "--json", str(path)]
    result = CliRunner().invoke(scale_model.main, options)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["ranks"], row["layout"], row["grid"]) for row in rows] == [
        (1, "1d", "1 x 1"), (16, "1d", "16 x 1"), (16, "2d", "4 x 4"), (16, "hosts", "8 x 2"),
    ]  # fmt: skip
    assert rows[0]["mb_a_rank"] == 0
    assert [row["messages"] for row in rows] == [0, 15, 6, 8]
