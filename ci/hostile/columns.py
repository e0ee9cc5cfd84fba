"""Columns of every type that a frame can hold, as ends, weights, filters, sources and initial values."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav import Graph

from .cases import Case
from .oracle import answered, counted, expect

NUMPY = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "longdouble", "complex64", "complex128"),
    *(">i2", ">i4", ">i8", ">u4", ">u8", ">f4", ">f8", ">c16"),
    *("M8[s]", "M8[ns]", ">M8[s]", "m8[s]", "m8[ns]", ">m8[ns]"),
]
PANDAS = [
    *("Int8", "Int64", "UInt8", "UInt64", "Float32", "Float64", "boolean", "category", "object"),
    *("Sparse[int64]", "Sparse[float64]", "Sparse[bool]"),
]
ARROW = [
    pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(5, 2),
    pa.decimal256(50, 0), pa.decimal32(5, 2), pa.decimal64(5, 2),
    pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
    pa.binary(1), pa.binary_view(), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"),
    pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.duration("s"), pa.duration("ns"),
    pa.month_day_nano_interval(), pa.list_(pa.int8()), pa.list_(pa.string()), pa.list_(pa.int8(), 1),
    pa.large_list(pa.int8()), pa.struct([("a", pa.int8())]), pa.map_(pa.string(), pa.int8()), pa.null(),
    pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.int64()),
    pa.dictionary(pa.int8(), pa.float64()), pa.dictionary(pa.int8(), pa.bool_()),
    pa.dictionary(pa.int8(), pa.timestamp("s")), pa.run_end_encoded(pa.int32(), pa.int64()),
]  # fmt: skip
# Values of columns of Python objects: four of each, ascending where they can be ordered.
OBJECTS: dict[str, list[Any]] = {
    "words": ["a", "b", "c", "d"],
    "bytes": [b"a", b"b", b"c", b"d"],
    "tuples": [(0,), (1,), (2,), (3,)],
    "tuples of several lengths": [(), (1,), (1, 2), (2,)],
    "lists": [[0], [1], [2], [3]],
    "dicts": [{"a": i} for i in range(4)],
    "sets": [frozenset(range(i)) for i in range(4)],
    "decimals": [Decimal(i) / 2 for i in range(4)],
    "fractions": [Fraction(i, 3) for i in range(4)],
    "dates": [datetime.date(2000, 1, i) for i in range(1, 5)],
    "moments": [datetime.datetime(2000, 1, i) for i in range(1, 5)],
    "moments with a zone": [datetime.datetime(2000, 1, i, tzinfo=datetime.UTC) for i in range(1, 5)],
    "intervals of time": [datetime.timedelta(i) for i in range(4)],
    "large integers": [2**62, 2**63, 2**64 - 2, 2**64 - 1],
    "larger integers": [2**64, 2**65, 2**66, 2**67],
    "integers of both signs": [-(2**63), -1, 2**63, 2**64 - 1],
    "integers and whole floats": [0, 1.0, 2, 3.0],
    "integers and fractions": [0, 1.5, 2, 3],
    "integers and words": [0, "1", 2, "3"],
    "booleans": [False, True, False, True],
    "booleans and integers": [False, True, 2, 3],
    "floats": [0.0, 1.0, 2.0, 3.0],
    "infinite": [0.0, 1.0, 2.0, float("inf")],
    "not a number": [0.0, 1.0, 2.0, float("nan")],
    "none": ["a", "b", "c", None],
    "pandas' null": ["a", "b", "c", pd.NA],
    "no time": [pd.NaT, *pd.date_range("2000", periods=3)],
    "complex": [0j, 1j, 2j, 3j],
    "NumPy's integers": [np.int8(0), np.uint64(1), np.int32(2), np.int64(3)],
    "objects": [object() for _ in range(4)],
    "types": [int, str, float, bool],
    "functions": [len, min, max, sum],
    "arrays": [np.array([i]) for i in range(4)],
    "periods": list(pd.period_range("2000", periods=4)),
    "intervals": list(pd.interval_range(0, 4)),
    "no text": ["a", "b\ud800", "c", "d"],
    "null characters": ["a", "a\0", "a\0\0", "b"],
    "long words": ["a" * 100_000, "b" * 100_000, "c" * 100_000, "d"],
    "letters that look alike": ["é", "e\u0301", "É", "ß"],
}


def columns() -> Iterator[tuple[str, Callable[[], pd.Series]]]:
    """Yield a name and a function that returns a column of four values."""
    for dtype in NUMPY:
        yield dtype, functools.partial(lambda dtype: pd.Series(_numbers(dtype).astype(dtype)), dtype)
    for dtype in PANDAS:
        yield dtype, functools.partial(lambda dtype: pd.Series(_numbers(dtype)).astype(dtype), dtype)
    for kind in ARROW:
        yield f"Arrow's {kind}", functools.partial(_arrow, kind)
    for name, values in OBJECTS.items():
        yield f"objects, {name}", functools.partial(pd.Series, values, dtype=object)
    words = pd.Series(["a", "b", "c", "d"])
    yield "string", lambda: words.astype("string")
    yield "string[pyarrow]", lambda: words.astype("string[pyarrow]")
    yield "ordered categories", lambda: words.astype(pd.CategoricalDtype(["d", "c", "b", "a", "z"], True))
    yield "categories of booleans", lambda: pd.Series([False, True, False, True], dtype="category")
    yield "categories with a null", lambda: pd.Series(["a", "b", None, "c"], dtype="category")
    yield "moments with a zone", lambda: pd.Series(pd.date_range("2000", periods=4, tz="Europe/Oslo"))
    yield "periods", lambda: pd.Series(pd.period_range("2000", periods=4))
    yield "intervals", lambda: pd.Series(pd.interval_range(0, 4))
    yield "the edges of int64", lambda: pd.Series([-(2**63), -1, 0, 2**63 - 1])
    yield "the edge of uint64", lambda: pd.Series(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    yield "minus zero", lambda: pd.Series([-0.0, 1.0, 2.0, 3.0])
    yield "floats past int64", lambda: pd.Series([0.0, 1.0, 2.0, 2.0**63])
    yield "a read-only array", lambda: pd.Series(_frozen(np.arange(4)))
    yield "every other value of an array", lambda: pd.Series(np.arange(8)[::2], copy=False)


def _numbers(dtype: str) -> np.ndarray:
    return np.arange(4) % 2 if "bool" in dtype else np.arange(4)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _arrow(kind: pa.DataType) -> pd.Series:
    if pa.types.is_null(kind):
        array = pa.nulls(4)
    else:
        plain = kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) else kind
        array = pa.array([_value(plain, i) for i in range(4)], plain)
        if pa.types.is_dictionary(kind):
            array = array.dictionary_encode().cast(kind)
        if pa.types.is_run_end_encoded(kind):
            array = pa.compute.run_end_encode(array, pa.int32())
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def _value(kind: pa.DataType, i: int) -> Any:
    if pa.types.is_boolean(kind):
        return bool(i % 2)
    if pa.types.is_map(kind):
        return [("a", i)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_value(kind.value_type, i)]
    if pa.types.is_struct(kind):
        return {"a": i}
    if "string" in str(kind):
        return "abcd"[i]
    if "binary" in str(kind):
        return b"abcd"[i : i + 1]
    if pa.types.is_date(kind):
        return datetime.date(2000, 1, 1 + i)
    if pa.types.is_decimal(kind):
        return Decimal(i)
    if kind == pa.month_day_nano_interval():
        return pa.MonthDayNano([i, 0, 0])
    return float(i) if pa.types.is_floating(kind) else i


def cases(seed: int) -> Iterator[Case]:
    """Yield cases for columns of every type, as ids and beside ids; the same for every seed."""
    for name, make in columns():
        for question in (*QUESTIONS, _saved):
            run = functools.partial(question, make)
            yield Case(
                f"id columns: {name}, {question.__name__}",
                functools.partial(answered, run) if name in IDS and question in QUESTIONS else run,
            )
        for other in (_one_sided, _as_weight, _as_filter, *SOURCES, _as_initial):
            yield Case(f"other columns: {name}, {other.__name__}", functools.partial(other, make))


# Types whose values must be accepted as vertices.
IDS = {
    *("int8", "int64", "uint8", "uint64", "float32", "float64", ">i4", ">i8", ">u4", ">f8"),
    *("M8[s]", ">M8[s]"),
    *("Int64", "UInt8", "Float64", "category", "Sparse[int64]", "string", "string[pyarrow]"),
    *("ordered categories", "the edges of int64", "the edge of uint64", "moments with a zone"),
    *("objects, words", "objects, tuples", "objects, dates", "objects, large integers", "objects, floats"),
    *("Arrow's string", "Arrow's large_string", "Arrow's timestamp[s]", "Arrow's date32[day]"),
    *("Arrow's timestamp[us, tz=UTC]", "Arrow's decimal128(5, 2)", "Arrow's double"),
    *("a read-only array", "every other value of an array"),
    "Arrow's dictionary<values=string, indices=int8, ordered=0>",
    "Arrow's dictionary<values=int64, indices=int32, ordered=0>",
}


def _path(make: Callable[[], pd.Series]) -> tuple[pd.Series, pd.DataFrame, int]:
    """Return the column, the path along its values, and the number of distinct values."""
    column = make()
    frame = pd.DataFrame({"src": column[:3].reset_index(drop=True), "dst": column[1:].reset_index(drop=True)})
    return column, frame, 2 if "bool" in str(column.dtype) else 4


def all_reached(answer: pd.DataFrame, n: int) -> None:
    expect(counted(answer) == list(range(n)), answer)


def _bfs(make: Callable[[], pd.Series]) -> None:
    column, frame, n = _path(make)
    graph = frame.trav.graph()
    first = column.iloc[0]
    all_reached(graph.bfs([first] if isinstance(first, tuple) else first), n)


def _bfs_of_a_column(make: Callable[[], pd.Series]) -> None:
    column, frame, n = _path(make)
    all_reached(frame.trav.bfs(column[:1]), n)
    all_reached(frame.trav.bfs(column[:1], directed=True, deterministic=True, variant="push"), n)


def _each(make: Callable[[], pd.Series]) -> None:
    column, frame, n = _path(make)
    answer = frame.trav.bfs(pd.concat([column[:1], column[3:]]), mode="each")
    expect(counted(answer) == sorted([*range(n), *range(n)]), answer)


def _paths(make: Callable[[], pd.Series]) -> None:
    column, frame, _ = _path(make)
    answer = frame.trav.paths(column[:1], column[3:])
    expect(answer["step"].tolist() == [0, 1, 2, 3], answer)


def _khop(make: Callable[[], pd.Series]) -> None:
    column, frame, _ = _path(make)
    answer = frame.trav.khop(column[:1], 1)
    expect((len(answer.vertices), len(answer.edges)) == (2, 1), answer)


def _components(make: Callable[[], pd.Series]) -> None:
    graph = _path(make)[1].trav.graph()
    expect(graph.components()["component"].nunique() == 1)
    expect(abs(graph.pagerank()["pagerank"].sum() - 1) < 1e-6)
    expect(graph.degrees()["degree"].sum() == 6)


def _isolated(make: Callable[[], pd.Series]) -> None:
    column, frame, n = _path(make)
    graph = frame[:0].trav.graph(vertices=column)
    expect((graph.n_vertices, graph.n_edges) == (n, 0), graph)


def _limited(make: Callable[[], pd.Series]) -> None:
    column, frame, n = _path(make)
    all_reached(frame.trav.bfs(column[:1], memory_limit="1GB"), n)


QUESTIONS = (_bfs, _bfs_of_a_column, _each, _paths, _khop, _components, _isolated, _limited)


def _saved(make: Callable[[], pd.Series]) -> None:
    """Check that a saved graph can be opened and returns the ids in their dtype."""
    column, frame, _ = _path(make)
    graph = frame.trav.graph()
    graph.save("saved")
    before = graph.bfs(column[:1])

    def opened() -> None:
        pd.testing.assert_frame_equal(Graph.open("saved", engine="cpu").bfs(column[:1]), before)

    answered(opened)


def _one_sided(make: Callable[[], pd.Series]) -> None:
    """Use the column beside int64: both must be one kind of id, or the difference is reported."""
    column = make()
    frame = pd.DataFrame({"src": column, "dst": [0, 1, 2, 3]})
    graph = frame.trav.graph()
    expect(graph.n_edges == 4 and graph.n_vertices <= 8, graph)


def _as_weight(make: Callable[[], pd.Series]) -> None:
    frame = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 4], "weight": make()})
    answer = frame.trav.sssp(0, weight="weight")
    total = np.cumsum([0, *(float(value) for value in frame["weight"])])
    expect(np.array_equal(answer["distance"].to_numpy(float, na_value=np.inf), total), answer)


def _as_filter(make: Callable[[], pd.Series]) -> None:
    frame = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 4], "where": make()})
    answer = frame.trav.bfs(1, where="where")  # false, true, false, true
    expect(counted(answer) == [0, 1], answer)
    expect(len(frame.trav.khop(3, 9, where="where").edges) == 1)


def _as_sources(make: Callable[[], pd.Series]) -> None:
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
    expect(counted(frame.trav.bfs(make())) == [0, 0, 0, 0])


def _as_listed_sources(make: Callable[[], pd.Series]) -> None:
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
    expect(counted(frame.trav.bfs(make().tolist())) == [0, 0, 0, 0])


def _as_an_array_of_sources(make: Callable[[], pd.Series]) -> None:
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
    column = make()
    known = isinstance(column.dtype, np.dtype)  # pandas cannot always infer the array of other types
    array = column.to_numpy() if known else np.array(column.tolist(), dtype=object)
    expect(counted(frame.trav.bfs(array)) == [0, 0, 0, 0])


def _as_initial(make: Callable[[], pd.Series]) -> None:
    from rapids_trav import Program

    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
    column = make()
    answer = frame.trav.run(Program("most", dtype="float64", reducer="max"), initial=column)
    expect((answer["value"] == max(float(value) for value in column)).all(), answer)


SOURCES = (_as_sources, _as_listed_sources, _as_an_array_of_sources)
