"""A graph that is saved and opened returns its ids in their original dtype."""

import datetime
import io
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

import rapids_trav
from rapids_trav import Graph


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
