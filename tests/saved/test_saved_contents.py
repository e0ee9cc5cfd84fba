"""What a graph that was saved and opened keeps: labels, build times, the dtypes of its ids, its weights."""

import datetime
import io
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

import rapids_trav
from rapids_trav import Graph, TravError
from rapids_trav.cli import run


def test_labels_of_other_kinds_come_back_as_text(tmp_path):
    edges = pd.DataFrame([[0, 1, 2.0]])
    edges.columns = pd.Index([("a", 1), 7, pd.Timestamp("2000")], dtype=object)
    Graph.from_edges(edges, ("a", 1), 7, weight=pd.Timestamp("2000")).save(tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph", engine="cpu")
    assert graph.edge_columns == ["('a', 1)", 7, "2000-01-01 00:00:00"]


def test_times_of_opening_are_those_of_its_phases(tmp_path):
    pd.DataFrame({"src": [0], "dst": [1]}).trav.graph().save(tmp_path / "graph")
    assert list(Graph.open(tmp_path / "graph", engine="cpu").build_times) == ["ids", "adjacency"]


# ---- a saved graph without weights cannot be given any; messages say how to save one with weights


EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "w": [3, 4]})


@pytest.fixture
def plain(tmp_path):
    EDGES.trav.graph().save(tmp_path / "plain")
    return tmp_path / "plain"


def test_questions_that_need_weights_say_to_save_the_edges_again(plain):
    graph = Graph.open(plain, engine="cpu")
    advice = r"the graph has none: save the edges again with weight=\.\.\."
    with pytest.raises(TravError, match=f"{advice}, or use bfs"):
        graph.sssp(0)
    with pytest.raises(TravError, match=advice):
        graph.pagerank(weighted=True)


def test_the_command_line_does_not_send_in_a_circle(plain, capsys):
    assert run(["sssp", str(plain), "-s", "0"]) == 1
    assert "save the edges again with --weight, or use bfs." in capsys.readouterr().err
    assert run(["sssp", str(plain), "-s", "0", "--weight", "w"]) == 2
    told = capsys.readouterr().err
    assert "was saved without weights: save the edges again with --weight w." in told


def test_a_saved_graph_has_its_weights_already(tmp_path, capsys):
    EDGES.trav.graph(weight="w").save(tmp_path / "weighted")
    assert run(["sssp", str(tmp_path / "weighted"), "-s", "0", "--weight", "w"]) == 2
    assert "is a saved graph, with its weights: leave it out." in capsys.readouterr().err
    assert run(["sssp", str(tmp_path / "weighted"), "-s", "0"]) == 0


# ---- a graph that is saved and opened returns its ids in their original dtype


def arrow(kind, *values):
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


WORDS = pd.Series(["a", "b", "c"])
IDS = {
    "Arrow's string": arrow(pa.string(), "a", "b", "c"),
    "Arrow's large_string": arrow(pa.large_string(), "a", "b", "c"),
    "Arrow's int16": arrow(pa.int16(), 3, 5, 9),
    "Arrow's decimal128": arrow(pa.decimal128(5, 2), *map(Decimal, ("1.25", "2.50", "3.00"))),
    "Arrow's decimal256": arrow(pa.decimal256(50, 2), *map(Decimal, ("1.25", "2.50", "3.00"))),
    "Arrow's binary of one byte": arrow(pa.binary(1), b"a", b"b", b"c"),
    "Arrow's timestamp with a zone": arrow(
        pa.timestamp("us", "UTC"), *pd.date_range("2000", periods=3, tz="UTC")
    ),
    "Arrow's date64": arrow(pa.date64(), *(datetime.date(2000, 1, day) for day in (1, 2, 3))),
    "Arrow's time32[s]": arrow(pa.time32("s"), *map(datetime.time, (1, 2, 3))),
    "string held by Python": WORDS.astype(pd.StringDtype("python")),
    "string held by Arrow": WORDS.astype(pd.StringDtype("pyarrow")),
    "str": WORDS,
    "objects": WORDS.astype(object),
    "categories of Arrow's strings": WORDS.astype(
        pd.CategoricalDtype(arrow(pa.string(), "c", "b", "a", "z"))
    ),
    "categories of seconds": pd.Series(pd.date_range("2000", periods=3, unit="s"), dtype="category"),
    "categories of seconds with a zone": pd.Series(
        pd.date_range("2000", periods=3, unit="s", tz="Europe/Oslo"), dtype="category"
    ),
    "periods": pd.Series(pd.period_range("2000", periods=3, freq="M")),
    "moments with a zone": pd.Series(pd.date_range("2000", periods=3, tz="Europe/Oslo")),
    "Int64": pd.Series([3, 5, 9], dtype="Int64"),
}


def path_along(column):
    ends = {"src": column[:2].reset_index(drop=True), "dst": column[1:].reset_index(drop=True)}
    return pd.DataFrame(ends)


def assert_round_trip(graph, source, folder):
    graph.save(folder)
    before, after = graph.bfs(source), Graph.open(folder, engine="cpu").bfs(source)
    pd.testing.assert_frame_equal(before, after)
    assert list(map(repr, before.dtypes)) == list(map(repr, after.dtypes))  # `==` of some ignores a part


@pytest.mark.parametrize("column", IDS.values(), ids=IDS)
def test_ids_of_one_column_keep_their_dtype(column, tmp_path):
    assert_round_trip(path_along(column).trav.graph(), column[0], tmp_path / "graph")


@pytest.mark.parametrize("column", IDS.values(), ids=IDS)
def test_ids_of_two_columns_keep_their_dtypes(column, tmp_path):
    edges = path_along(column).assign(one=[1, 2], other=[2, 3])
    graph = edges.trav.graph(["src", "one"], ["dst", "other"])
    assert_round_trip(graph, (column[0], 1), tmp_path / "graph")


def test_text_that_pandas_reads_into_arrow_types_can_be_saved(tmp_path):
    edges = pd.read_csv(io.StringIO("src,dst\na,b\nb,c\n"), dtype_backend="pyarrow")
    assert_round_trip(edges.trav.graph(), "a", tmp_path / "graph")


def test_arrow_strings_beside_plain_ones_can_be_saved(tmp_path):
    edges = pd.DataFrame({"src": arrow(pa.string(), "a", "b"), "dst": ["b", "c"]})
    assert_round_trip(rapids_trav.Graph.from_edges(edges), "a", tmp_path / "graph")
