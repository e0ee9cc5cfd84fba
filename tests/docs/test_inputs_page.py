"""Page on inputs: what its code leaves behind has the types that it states."""

import re
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl

PAGE = (Path(__file__).parents[2] / "docs/inputs.md").read_text()


def test_answers_of_the_page_are_frames_of_the_library_of_its_edges():
    names = {"__name__": "page"}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, "inputs.md", "exec"), names)
    graph, edges = names["graph"], names["edges"]
    assert type(edges.trav.bfs("a")) is pl.DataFrame
    found = graph.annotate(edges, graph.bfs("a", predecessors=False))
    assert found.columns == ["src", "dst", "km", "distance_src", "distance_dst"]
    joined = graph.annotate(names["people"], graph.components(), on="name")
    assert joined.rows() == [("d", "a"), ("a", "a"), ("x", None)]


def test_what_answers_are():
    from rapids_trav import Graph

    edges = pd.DataFrame({"src": ["a"], "dst": ["b"]})
    relation = duckdb.from_df(edges)
    assert isinstance(Graph.from_edges(relation).bfs("a"), pd.DataFrame)
