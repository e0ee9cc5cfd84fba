"""Ids that arrive through Arrow are returned in their own type."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.frames import arrow

DAYS = [dt.date(2020, 1, day) for day in (1, 2, 3)]
TIMES = [dt.datetime(2020, 1, day, 12) for day in (1, 2, 3)]
POLARS = {
    "Int8": pl.Int8(), "Int16": pl.Int16(), "Int32": pl.Int32(), "Int64": pl.Int64(),
    "UInt8": pl.UInt8(), "UInt16": pl.UInt16(), "UInt32": pl.UInt32(), "UInt64": pl.UInt64(),
    "Float32": pl.Float32(), "Float64": pl.Float64(),
    "String": pl.String(), "Categorical": pl.Categorical(), "Enum": pl.Enum(["c", "b", "a"]),
    "Date": pl.Date(), "ms": pl.Datetime("ms"), "us": pl.Datetime("us"), "ns": pl.Datetime("ns"),
    "zone": pl.Datetime("us", "Europe/Oslo"), "UTC": pl.Datetime("ms", "UTC"),
    "Duration": pl.Duration("ms"), "Decimal": pl.Decimal(10, 2), "Binary": pl.Binary(),
}  # fmt: skip
ARROW = {
    str(kind): kind
    for kind in (
        pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float32(), pa.float64(),
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
        pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ms", "Europe/Oslo"),
        pa.duration("us"), pa.decimal128(8, 2),
        pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.uint8(), pa.large_string()),
        pa.dictionary(pa.int8(), pa.string(), ordered=True),
    )
}  # fmt: skip


def three(kind):
    """Return three ascending values for a type of this name."""
    if kind.startswith(("Date", "date")):
        return DAYS
    if kind.startswith(("ms", "us", "ns", "zone", "UTC", "timestamp")):
        return TIMES
    if kind.startswith(("Duration", "duration")):
        return [dt.timedelta(days=day) for day in (1, 2, 3)]
    if kind.startswith(("Decimal", "decimal")):
        return [Decimal("1.50"), Decimal("2.25"), Decimal("3.00")]
    if kind.startswith(("Binary", "binary", "large_binary")):
        return [b"a", b"b", b"c"]
    if kind.startswith(("Int", "UInt", "Float", "int", "uint", "float", "double")):
        return [1, 2, 3]
    return ["a", "b", "c"]


def path_of(values, frame):
    """Return a frame of two edges along three values, made by `frame(src, dst)`."""
    return frame([values[0], values[1]], [values[1], values[2]])


@pytest.mark.parametrize("kind", POLARS)
def test_types_of_polars(kind):
    dtype = POLARS[kind]
    values = pl.Series(three(kind)).cast(dtype) if kind not in ("zone", "UTC") else (
        pl.Series(three(kind)).dt.replace_time_zone(dtype.time_zone).cast(dtype)
    )  # fmt: skip
    edges = pl.DataFrame({"src": values[[0, 1]], "dst": values[[1, 2]]})
    graph = Graph.from_edges(edges)
    answer = graph.bfs(values[:1])
    assert answer.schema == {"vertex": dtype, "distance": pl.Int32(), "predecessor": dtype}
    assert dict(answer.select("vertex", "distance").iter_rows()) == dict(zip(values, range(3), strict=True))
    assert answer.sort("distance")["predecessor"].to_list() == [None, *values[:2]]
    assert graph.bfs(values, mode="each").schema["source"] == dtype
    assert graph.paths(values[:1], values[2:]).schema["target"] == dtype
    assert graph.components().schema == {"vertex": dtype, "component": dtype}
    assert graph.khop(values[:1], 1).edges.equals(edges[:1])
    order = values.to_list()[::-1] if kind == "Enum" else values.to_list()
    assert answer["vertex"].to_list() == order
    empty = Graph.from_edges(edges[:0], vertices=values)
    assert empty.degrees().schema["vertex"] == dtype or kind in ("Categorical", "Enum")


@pytest.mark.parametrize("kind", ARROW)
def test_types_of_pyarrow(kind):
    dtype = ARROW[kind]
    of = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    values = pa.array(three(kind), of)

    def column(part):
        if not pa.types.is_dictionary(dtype):
            return part
        encoded = (values if dtype.ordered else part).dictionary_encode()
        if dtype.ordered:  # the order of one dictionary says nothing of another
            encoded = encoded[:2] if part.equals(values[:2]) else encoded[1:]
        return pa.DictionaryArray.from_arrays(
            encoded.indices.cast(dtype.index_type), encoded.dictionary, ordered=dtype.ordered
        )

    edges = pa.table({"src": column(values[:2]), "dst": column(values[1:])})
    assert edges["src"].type == dtype
    graph = Graph.from_edges(edges)
    answer = graph.bfs(values[:1])
    assert answer.schema.types == [dtype, pa.int32(), dtype]
    assert answer["distance"].to_pylist() == [0, 1, 2]
    assert answer["vertex"].to_pylist() == values.to_pylist()
    assert answer["predecessor"].to_pylist() == [None, *values.to_pylist()[:2]]
    assert graph.khop(values[:1], 1).edges.equals(edges.slice(0, 1))


def test_values_of_unordered_dictionaries_ascend_by_value():
    made = pa.DictionaryArray.from_arrays([0, 1], ["b", "a"])
    other = pa.DictionaryArray.from_arrays([0, 1], ["c", "b"])
    answer = Graph.from_edges(pa.table({"src": made, "dst": other})).degrees()
    assert answer["vertex"].to_pylist() == ["a", "b", "c"]
    assert pa.types.is_dictionary(answer["vertex"].type)


def test_ends_with_ordered_values_of_their_own_give_plain_values():
    made, other = (
        pa.DictionaryArray.from_arrays([0, 1], words, ordered=True) for words in (["b", "a"], ["c", "b"])
    )
    table = pa.table({"src": made, "dst": other})
    answer = Graph.from_edges(table).bfs("b")
    assert answer["vertex"].to_pylist() == ["a", "b", "c"]
    assert pa.types.is_large_string(answer["vertex"].type) or pa.types.is_string(answer["vertex"].type)
    for name in table.column_names:
        assert (
            arrow.to_pandas(table)[name].cat.categories.tolist()
            == table[name].chunk(0).dictionary.to_pylist()
        )


def test_an_ordered_dictionary_may_grow_from_chunk_to_chunk():
    def chunk(words):
        return pa.DictionaryArray.from_arrays([len(words) - 1, 0], words, ordered=True)

    grown = pa.chunked_array([chunk(["b"]), chunk(["b", "a", "c"]), chunk(["b", "a"])])
    column = arrow.to_pandas(pa.table({"x": grown}))["x"]
    assert column.tolist() == ["b", "b", "c", "b", "a", "b"]
    assert column.cat.categories.tolist() == ["b", "a", "c"]
    assert column.cat.ordered
    mixed = pa.chunked_array([chunk(["b", "a"]), chunk(["a", "b"])])
    assert arrow.to_pandas(pa.table({"x": mixed}))["x"].tolist() == ["a", "b", "b", "a"]


@pytest.mark.parametrize(("src", "dst"), [(["b"], ["a", "b"]), (["a", "b"], ["b"]), (["a", "b"], ["b", "a"])])
def test_enums_of_their_own_give_strings(src, dst):
    edges = pl.DataFrame(
        {"src": pl.Series(["b"], dtype=pl.Enum(src)), "dst": pl.Series([dst[0]], dtype=pl.Enum(dst))}
    )
    answer = edges.vstack(edges).trav.bfs("b")
    assert answer.schema["vertex"] == pl.String
    assert answer["vertex"].to_list() == sorted({"b", dst[0]})


def test_a_condition_goes_by_the_order_of_its_own_enum():
    edges = pl.DataFrame(
        {
            "src": pl.Series(["mid", "mid"], dtype=pl.Enum(["mid", "low", "high"])),
            "dst": pl.Series(["low", "high"], dtype=pl.Enum(["mid", "low", "high"])),
            "grade": pl.Series(["low", "high"], dtype=pl.Enum(["low", "mid", "high"])),
        }
    )
    found = edges.trav.bfs("mid", where="grade < 'mid'", reached_only=True)
    assert found["vertex"].to_list() == ["mid", "low"]


@pytest.mark.parametrize("values", [["a", "a"], ["a", None]])
def test_dictionaries_that_are_no_categories(values):
    made = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(values))
    table = pa.table({"x": made})
    assert pa.table(arrow.plain_table(table))["x"].to_pylist() == table["x"].to_pylist()
    assert arrow.plain_table(table)["x"].type == pa.string()


def test_nothing_is_rounded_on_the_way():
    table = pa.table(
        {
            "integers": pa.array([2**60 + 1, None]),
            "booleans": [True, None],
            "days": pa.array([DAYS[0], None]),
            "lists": [[1], None],
            "text": pa.array(["a", None], pa.string_view()),
        }
    )
    frame = arrow.to_pandas(table)
    assert frame.dtypes.astype(str).tolist()[:2] == ["Int64", "boolean"]
    assert frame["integers"][0] == 2**60 + 1
    back = arrow.from_pandas(frame)
    assert back.to_pylist() == table.to_pylist()
    assert back.schema.types[:4] == table.schema.types[:4]


def test_columns_in_one_piece_are_not_copied():
    numbers = np.arange(5, dtype="int32")
    frame = arrow.to_pandas(pa.table({"x": numbers}))
    assert np.shares_memory(frame["x"].to_numpy(), numbers)
    back = arrow.from_pandas(pd.DataFrame({"x": numbers}, copy=False))
    assert np.shares_memory(back["x"].chunk(0).to_numpy(), numbers)


def test_times_of_day_are_ids_where_microseconds_hold_them():
    early, late = dt.time(9), dt.time(10, 30, 0, 1)
    edges = pl.DataFrame({"src": [early], "dst": [late]})
    answer = edges.trav.bfs(early)
    assert answer.schema["vertex"] == pl.Time
    assert answer.rows() == [(early, 0, None), (late, 1, early)]
    nanoseconds = edges.to_arrow().cast(pa.schema([(name, pa.time64("ns")) for name in ("src", "dst")]))
    assert Graph.from_edges(nanoseconds).bfs(late).schema.field("vertex").type == pa.time64("ns")
    narrow = pa.table({name: pa.array([one], pa.time64("ns")) for name, one in (("src", 1), ("dst", 1000))})
    with pytest.raises(TravError, match=r"^Column 'src' is of type time64\[ns\]"):
        Graph.from_edges(narrow)
