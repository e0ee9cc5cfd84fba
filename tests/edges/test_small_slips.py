"""Edges read back, files read in parts, and trees chosen by block, where an error would go unnoticed."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.algorithms import sssp
from rapids_trav.edges.sources import ParquetEdges
from rapids_trav.io import read_edges


def test_the_smallest_predecessor_wins_over_blocks_of_edges(monkeypatch):
    """Thirty paths of equal length lead to one vertex; their last edges are in three blocks."""
    monkeypatch.setattr(sssp, "BLOCK", 10)
    between = np.arange(1, 31)
    edges = pd.DataFrame(
        {"src": [*np.zeros(30, int), *between], "dst": [*between, *np.full(30, 31)], "w": np.ones(60)}
    )
    graph = edges.trav.graph(directed=True, weight="w", memory_limit=6000)
    assert graph.storage.gather_view("out", weighted=True).pages is not None
    found = graph.sssp(0)
    assert found["predecessor"].iloc[31] == 1


def test_an_edge_to_the_first_vertex_that_there_is_not(tmp_path):
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})
    edges.trav.graph(directed=True).save(tmp_path / "graph")
    path = tmp_path / "graph" / "column_indices.npy"
    content = bytearray(path.read_bytes())
    for value, known in ((2, True), (3, False), (-1, False)):
        content[-4:] = np.int32(value).tobytes()
        path.write_bytes(content)
        if known:
            assert Graph.open(tmp_path / "graph", engine="cpu", verify=False).n_vertices == 3
        else:
            with pytest.raises(TravError, match="holds edges to none of the 3 vertices"):
                Graph.open(tmp_path / "graph", engine="cpu", verify=False)


def test_saved_self_loops_are_read_back(tmp_path):
    edges = pd.DataFrame({"src": [0, 1, 1, 2], "dst": [1, 1, 2, 2]})
    edges.trav.graph().save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph", engine="cpu")
    pairs = [(int(u), int(v)) for src, dst in opened.rows.pairs() for u, v in zip(src, dst, strict=True)]
    assert sorted(pairs) == [(0, 1), (1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("first", ["7,x", "x,7"])
def test_a_first_line_with_a_number_is_an_edge(tmp_path, first):
    path = tmp_path / "edges.csv"
    path.write_text(f"{first}\n1,2\n3,4\n")
    frame = read_edges(path, string_ids=True)
    assert [",".join(row) for row in frame.to_numpy()] == [first, "1,2", "3,4"]


def test_rows_of_parquet_are_numbered_through(tmp_path):
    edges = pd.DataFrame({"src": range(10), "dst": range(10)})
    edges.to_parquet(tmp_path / "edges.parquet", row_group_size=2)
    chunks = list(ParquetEdges([tmp_path / "edges.parquet"], "cpu").chunks(rows=2))
    assert [chunk.index.tolist() for chunk in chunks] == [[2 * i, 2 * i + 1] for i in range(5)]
