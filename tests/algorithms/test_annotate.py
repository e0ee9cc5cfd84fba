"""`Graph.annotate`: results joined to the rows of a frame by vertex."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import Graph, TravError

RANDOM = np.random.default_rng(8)


def edges_of(kind):
    ids = {
        "integers": RANDOM.integers(-5, 20, (40, 2)),
        "large": RANDOM.integers(0, 20, (40, 2)) * 2**50,
        "strings": np.array(list("abcdefghij"), dtype=object)[RANDOM.integers(0, 10, (40, 2))],
        "dates": RANDOM.integers(0, 20, (40, 2)).astype("datetime64[D]").astype("datetime64[s]"),
    }[kind]
    frame = pd.DataFrame(ids, columns=["src", "dst"], index=RANDOM.permutation(40))
    return frame.assign(weight=RANDOM.random(40))


@pytest.mark.parametrize("kind", ["integers", "large", "strings", "dates"])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_against_merge(kind, degree_sort):
    edges = edges_of(kind)
    graph = edges.trav.graph(weight="weight", degree_sort=degree_sort)
    first = edges["src"].iloc[0]
    near = graph.bfs([first], depth_limit=1, reached_only=True)
    others = (graph.components(), graph.pagerank(), graph.degrees(), graph.sssp([first]))
    for answer in (graph.bfs([first]), near, *others):
        found = graph.annotate(edges, answer)
        right = edges
        for end in ("src", "dst"):
            named = answer.rename(columns={name: f"{name}_{end}" for name in answer.columns[1:]})
            right = right.merge(named, left_on=end, right_on="vertex", how="left")
            right = right.drop(columns="vertex")
        right.index = edges.index
        assert found.columns.tolist() == right.columns.tolist()
        assert_frame_equal(found, right, check_dtype=False)
        for name in answer.columns[1:]:  # nulls must not turn integers into floats
            assert (found[f"{name}_src"].dtype.kind == "f") == (answer[name].dtype.kind == "f"), name
        one = graph.annotate(edges, answer, on="dst")
        assert one.columns.tolist() == [*edges.columns, *answer.columns[1:]]
    assert edges.columns.tolist() == ["src", "dst", "weight"]  # unchanged


def test_rows_of_other_frames_and_vertices_without_an_answer():
    graph = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}).trav.graph()
    people = pd.DataFrame({"person": ["c", "x", "a", "c"]}, index=[4, 3, 2, 1])
    found = graph.annotate(people, graph.degrees(), on="person")
    assert found["degree"].tolist() == [1, pd.NA, 1, 1]
    assert found.index.tolist() == [4, 3, 2, 1]
    assert str(found["degree"].dtype) == "Int64"
    none = graph.annotate(people[:0], graph.degrees(), on="person")
    assert none.columns.tolist() == ["person", "degree"]
    hood = graph.khop("a", 1)
    assert graph.annotate(hood.edges, hood)["distance_dst"].tolist() == [1]
    assert graph.annotate(hood.edges, graph.bfs("a", trace=True))["distance_src"].tolist() == [0]


def test_ids_of_several_columns():
    edges = pd.DataFrame({"a": ["x", "x"], "b": [1, 2], "c": ["x", "y"], "d": [2, 1]})
    graph = edges.trav.graph(["a", "b"], ["c", "d"])
    found = graph.annotate(edges, graph.bfs(("x", 1), predecessors=False))
    assert found[["distance_a+b", "distance_c+d"]].to_numpy().tolist() == [[0, 1], [1, 2]]
    assert graph.annotate(edges, graph.degrees(), on=["c", "d"])["degree"].tolist() == [2, 1]


@pytest.mark.parametrize(
    "make", [pl.DataFrame, lambda frame: pa.Table.from_pandas(frame, preserve_index=False)]
)
@pytest.mark.parametrize("graph_of", [pl.DataFrame, pd.DataFrame])
def test_frames_of_other_libraries(make, graph_of):
    edges = pd.DataFrame({"src": ["a", "b", "d"], "dst": ["b", "c", "e"], "kind": ["x", "y", "z"]})
    right = (graph := edges.trav.graph()).annotate(edges, graph.bfs("a"))
    graph = Graph.from_edges(graph_of(edges))
    rows = make(edges)
    found = graph.annotate(rows, graph.bfs("a"))
    assert type(found) is type(rows)
    table = found.to_arrow() if isinstance(found, pl.DataFrame) else found
    assert table.to_pylist() == pa.Table.from_pandas(right, preserve_index=False).to_pylist()
    if isinstance(found, pl.DataFrame):
        assert found.schema["distance_src"] == pl.Int32()


def test_columns_keep_the_types_of_the_answer():
    kind = pl.Enum(["c", "b", "a"])
    edges = pl.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]}, schema={"src": kind, "dst": kind})
    graph = Graph.from_edges(edges)
    assert graph.annotate(edges, graph.bfs("a")).schema["predecessor_dst"] == kind


def test_what_is_refused():
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "distance_src": [0, 0]})
    graph = edges.trav.graph()
    answer = graph.bfs(0)
    other = pd.DataFrame({"src": [0], "dst": [9]}).trav.graph()
    for ask, message in (
        (lambda: graph.annotate(edges, answer), "^edges already has a column 'distance_src'"),
        (
            lambda: graph.annotate(edges, graph.bfs([0, 1], mode="each"), on="src"),
            "^answer names vertex 0 in several rows: give one row for each vertex; with mode='each', ",
        ),
        (
            lambda: graph.annotate(edges, other.bfs(0), on="src"),
            "^answer names vertex 9, which the graph does not have: give an answer of this graph",
        ),
        (lambda: graph.annotate(edges, graph.levels(0), on="src"), "^answer has no column 'vertex'"),
        (lambda: graph.annotate(edges, 3, on="src"), "^answer is an object of type int"),
        (lambda: graph.annotate([1], answer), "^edges is an object of type list"),
        (lambda: graph.annotate(edges, answer, on="who"), "^Column 'who' is not in the frame"),
        (lambda: graph.annotate(edges, answer, on=["src", "dst"]), "^on names 2 columns, and ids have 1"),
        (lambda: graph.annotate(edges.astype(str), answer, on="src"), "the graph's ids are int64"),
        (
            lambda: graph.annotate(edges.astype("Int64").where(edges > 0), answer, on="src"),
            "^Column 'src' of the frame holds 1 null, .*: leave it out",
        ),
    ):
        with pytest.raises(TravError, match=message):
            ask()


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
@pytest.mark.parametrize("value", [9.0, 1.5, -1, np.inf, 10**30, Decimal("0.5")])
def test_values_that_no_vertex_can_have_are_joined_to_nulls(dtype, value):
    graph = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}, dtype=dtype).trav.graph()
    kind = Decimal if isinstance(value, Decimal) else int
    rows = pd.DataFrame({"id": pd.Series([kind(2), value, kind(1)], dtype=object)})
    joined = graph.annotate(rows, graph.bfs(0, predecessors=False), on="id")
    assert joined["distance"].fillna(-1).tolist() == [2, -1, 1]
