"""Page on inputs: what its code leaves behind has the types that it states."""

import re
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pytest

from rapids_trav.errors import TravError

PAGE = (Path(__file__).parents[2] / "docs/inputs.md").read_text()


def test_answers_of_the_page_are_of_the_library_of_its_edges():
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


def stated(method: str) -> str:
    """Return what the table of methods says of the columns of one."""
    table = PAGE.split("| method | columns |")[1].split("\n\n")[0]
    rows = [row.split("|", 2)[1:] for row in table.splitlines() if row]
    (columns,) = (columns for methods, columns in rows if f"`{method}`" in methods)
    return columns


@pytest.mark.parametrize(
    ("method", "ask"),
    [
        ("bfs", lambda graph: graph.bfs(0)),
        ("paths", lambda graph: graph.paths(0, 3, weighted=True)),
        ("levels", lambda graph: graph.levels(0)),
        ("khop", lambda graph: graph.khop(0, 1).vertices),
        ("distances", lambda graph: graph.distances(([0], [3]))),
        ("degrees", lambda graph: graph.degrees()),
        ("components", lambda graph: graph.components()),
        ("pagerank", lambda graph: graph.pagerank()),
        ("eccentricity", lambda graph: graph.eccentricity()),
    ],
)
def test_the_columns_of_every_answer_are_stated(method, ask):
    edges = pd.DataFrame({"src": [0, 1, 3], "dst": [1, 2, 4], "km": [1, 2, 3]})
    for column in ask(edges.trav.graph(weight="km")).columns:
        assert f"`{column}`" in stated(method)


def test_nulls_of_answers_are_as_stated():
    edges = pd.DataFrame({"src": [0, 1, 3], "dst": [1, 2, 4], "km": [1.0, float("inf"), 3.0]})
    graph = edges.trav.graph(weight="km")
    assert "one row, with nulls" in stated("paths")
    assert graph.paths(0, 3)[["step", "vertex"]].isna().to_numpy().tolist() == [[True, True]]
    assert "null `distance`" in stated("levels")
    assert graph.levels(0)["distance"].isna().tolist() == [False, False, False, True]
    assert "| infinite weights | `sssp` treats such an edge as one that leads nowhere" in PAGE
    assert graph.sssp(0)["distance"].isna().tolist() == [False, False, True, True, True]
    with pytest.raises(TravError, match="finite weights"):
        graph.pagerank()


def test_what_answers_are():
    from rapids_trav import Graph

    edges = pd.DataFrame({"src": ["a"], "dst": ["b"]})
    relation = duckdb.from_df(edges)
    assert isinstance(Graph.from_edges(relation).bfs("a"), pd.DataFrame)
