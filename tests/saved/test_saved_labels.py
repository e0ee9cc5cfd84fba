"""Column labels and build times of a graph that was saved and opened."""

import pandas as pd

from rapids_trav import Graph


def test_labels_of_other_kinds_come_back_as_text(tmp_path):
    edges = pd.DataFrame([[0, 1, 2.0]])
    edges.columns = pd.Index([("a", 1), 7, pd.Timestamp("2000")], dtype=object)
    Graph.from_edges(edges, ("a", 1), 7, weight=pd.Timestamp("2000")).save(tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph", engine="cpu")
    assert graph.edge_columns == ["('a', 1)", 7, "2000-01-01 00:00:00"]


def test_times_of_opening_are_those_of_its_phases(tmp_path):
    pd.DataFrame({"src": [0], "dst": [1]}).trav.graph().save(tmp_path / "graph")
    assert list(Graph.open(tmp_path / "graph", engine="cpu").build_times) == ["ids", "adjacency"]
