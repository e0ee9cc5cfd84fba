"""The check of all edges of a saved graph finds the faults that it is for, at all sizes and dtypes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.saved import write
from rapids_trav.saved.check import ROWS, look_through

N = 3 * ROWS  # enough for several threads


@pytest.fixture(params=["int32", "int64"])
def edges(request):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, N, (4 * N, 2)), columns=["src", "dst"])
    frame["weight"] = random.random(len(frame)) - 0.5
    graph = frame.trav.graph(weight="weight", vertices=list(range(N)))
    found = graph.storage.forward(weighted=True)
    n_loops = int((frame["src"] == frame["dst"]).sum())
    return replace(found, column_indices=found.column_indices.astype(request.param)), n_loops


def test_a_symmetric_graph(edges):
    adjacency, n_loops = edges
    assert look_through(adjacency) == (True, n_loops, True)
    assert look_through(replace(adjacency, weights=None)) == (True, n_loops, True)


def test_one_weight_that_differs(edges):
    adjacency, n_loops = edges
    rows = np.repeat(np.arange(N), np.diff(adjacency.row_offsets))
    for place in np.flatnonzero(rows != adjacency.column_indices)[[0, 1000, -1]]:
        weights = adjacency.weights.copy()
        weights[place] = np.nextafter(weights[place], 1)
        assert look_through(replace(adjacency, weights=weights)) == (True, n_loops, False)


def test_one_edge_that_leads_elsewhere(edges):
    adjacency, _ = edges
    columns = adjacency.column_indices.copy()
    row = int(np.argmax(np.diff(adjacency.row_offsets)))
    columns[adjacency.row_offsets[row]] = 0 if columns[adjacency.row_offsets[row]] else 1
    for weights in (None, adjacency.weights):
        assert not look_through(replace(adjacency, column_indices=columns, weights=weights)).symmetric


def test_a_row_that_descends(edges):
    adjacency, _ = edges
    columns, row = adjacency.column_indices.copy(), int(np.argmax(np.diff(adjacency.row_offsets)))
    first, last = adjacency.row_offsets[row], adjacency.row_offsets[row + 1]
    assert columns[first] != columns[last - 1]
    columns[first:last] = columns[first:last][::-1].copy()
    found = look_through(replace(adjacency, column_indices=columns, weights=None))
    assert (found.ascending, found.symmetric) == (False, True)


def rewritten(folder, name, values):
    """Replace an array by another, with a head that matches it."""
    head = json.loads((folder / "graph.json").read_text())
    head["files"][f"{name}.npy"] = write._write_array(folder / f"{name}.npy", values)
    del head["crc32"], head["format"], head["version"]
    write._write_head(folder / "graph.json", head)


def test_what_is_looked_at_when(tmp_path):
    """Without `verify`, rows may descend and edges may lead one way: answers differ, but nothing breaks."""
    frame = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 2, 2, 3]})
    frame.trav.graph().save(tmp_path / "graph")
    columns = np.load(tmp_path / "graph" / "column_indices.npy")
    assert columns.tolist() == [1, 2, 0, 2, 0, 1, 3, 2]
    for changed, sentence in (
        ([2, 1, 0, 2, 0, 1, 3, 2], "holds a row that is not in ascending order"),
        ([1, 3, 0, 2, 0, 1, 3, 2], "holds an undirected edge that does not lead both ways with one weight"),
    ):
        rewritten(tmp_path / "graph", "column_indices", np.array(changed, np.int32))
        with pytest.raises(TravError, match=sentence):
            Graph.open(tmp_path / "graph", engine="cpu")
        assert len(Graph.open(tmp_path / "graph", engine="cpu", verify=False).bfs(0)) == 4
