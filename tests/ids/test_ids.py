"""Vertex ids of every kind: renumbered in their own order and returned in their own dtype."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from common import rows, to_pandas

from rapids_trav import TravError, UnknownVertexError
from rapids_trav.frames.libraries import PandasFrames, library
from rapids_trav.ids.composite_ids import TupleIds
from rapids_trav.ids.lookup import read_column
from rapids_trav.ids.maps import RangeIds, SortedIds
from rapids_trav.ids.renumber import renumber

HUGE = 2**62


def path(frame_library, ids, dtype=None):
    """Return the edges of a path through these ids, in this order."""
    column = frame_library.Series(ids, dtype=dtype)
    src, dst = column.iloc[:-1].reset_index(drop=True), column.iloc[1:].reset_index(drop=True)
    return frame_library.DataFrame({"src": src, "dst": dst})


def check_path(edges, ids, dtype):
    """Check searches from the first id of a path: distances, order, dtypes, predecessors, lookups, paths."""
    graph = edges.trav.graph(directed=True)
    result = graph.bfs(ids[0])
    order = sorted(ids)
    answer = to_pandas(result)
    assert answer["vertex"].tolist() == order
    assert answer["distance"].tolist() == [ids.index(vertex) for vertex in order]
    before = dict(zip(ids[1:], ids, strict=False))
    assert [row[2] for row in rows(result)] == [before.get(vertex) for vertex in order]
    assert str(result["vertex"].dtype) == dtype
    assert rows(graph.paths(ids[0], [ids[-1]])) == [(ids[-1], i, vertex) for i, vertex in enumerate(ids)]
    assert rows(graph.bfs(ids[1:3], mode="each", depth_limit=0, reached_only=True)) == [
        (vertex, vertex, 0, None) for vertex in ids[1:3]
    ]
    assert to_pandas(graph.khop(ids[0], 1).edges).index.tolist() == [0]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers(frame_library, dtype):
    for ids in ([0, 1, 2, 3], [5, 7, 6, 8], [3, 90, 17, 4], [100, 0, 127]):
        check_path(path(frame_library, ids, dtype), ids, dtype)


@pytest.mark.parametrize("ids", [
    [-128, 127, 0], [-5, -4, -3], [HUGE, -HUGE, 0, 17], [10**12, 10**12 + 2, 10**12 + 1],
    [-(2**63), 2**63 - 1],
])  # fmt: skip
def test_negative_and_huge_integers(frame_library, ids):
    check_path(path(frame_library, ids, "int64"), ids, "int64")
    if min(ids) >= -128 and max(ids) <= 127:
        check_path(path(frame_library, ids, "int8"), ids, "int8")


@pytest.mark.parametrize("ids", [[2**63, 0, 2**64 - 1], [2**64 - 2, 2**64 - 1, 2**64 - 3]])
def test_unsigned_integers_beyond_the_signed(frame_library, ids):
    edges = path(frame_library, np.array(ids, dtype="uint64"))
    check_path(edges, ids, "uint64")
    with pytest.raises(UnknownVertexError, match="-1"):
        edges.trav.bfs(-1)


def test_sparse_integers_in_number(frame_library):
    rng = np.random.default_rng(0)
    src, dst = rng.integers(-(2**62), 2**62, (2, 5000))
    graph = frame_library.DataFrame({"src": src, "dst": dst}).trav.graph(directed=True, degree_sort=False)
    assert isinstance(graph.ids, SortedIds)
    assert not graph.ids.dense
    result = to_pandas(graph.bfs(int(src[17]), reached_only=True))
    assert result["vertex"].tolist() == sorted([int(src[17]), int(dst[17])])
    unknown = np.setdiff1d(src + 1, np.union1d(src, dst))
    with pytest.raises(UnknownVertexError, match="and 4995 more"):
        graph.bfs(unknown)


def test_mixed_widths_are_promoted(frame_library):
    edges = frame_library.DataFrame(
        {"src": np.array([1, 2], dtype="int8"), "dst": np.array([300, 1], dtype="int32")}
    )
    assert str(edges.trav.bfs(2)["vertex"].dtype) == "int32"
    edges["dst"] = edges["dst"].astype("uint64")
    assert str(edges.trav.bfs(2)["vertex"].dtype) == "int64"
    edges["dst"] = np.array([2**63, 1], dtype="uint64")
    result = edges.trav.bfs(2)
    assert to_pandas(result)["vertex"].tolist() == [1, 2, 2**63]
    edges["src"] = np.array([-1, 2], dtype="int8")
    with pytest.raises(TravError, match="no integer type holds"):
        edges.trav.graph()


def test_listed_vertices_do_not_widen_the_ids(frame_library):
    edges = path(frame_library, [1, 2, 3], "int32")
    assert str(edges.trav.graph(vertices=[7]).bfs(7)["vertex"].dtype) == "int32"
    assert str(edges.trav.graph(vertices=[2**40]).bfs(1)["vertex"].dtype) == "int64"
    assert str(edges.trav.graph(vertices=np.array([7])).bfs(7)["vertex"].dtype) == "int64"
    for dtype in ("uint64", "uint8", "float32"):
        edges = path(frame_library, [1, 2, 3], dtype)
        assert str(edges.trav.graph(vertices=[7]).bfs(7)["vertex"].dtype) == dtype


@pytest.mark.parametrize("refusal", [OverflowError, TypeError])
def test_integers_past_int64_are_read_in_columns_of_their_own(refusal):
    """cuDF refuses the list with one of these errors, and the list as objects with the other."""

    class Refusing(PandasFrames):
        def column(self, values, dtype=None):
            if isinstance(values, list) and not all(abs(value) < 2**63 for value in values):
                raise TypeError("no objects") if dtype is object else refusal("no integers past int64")
            return super().column(values, dtype)

    column = read_column("vertices", [1, 2**64 - 1], Refusing())
    assert column.dtype == "uint64" and column.tolist() == [1, 2**64 - 1]
    last = "no objects" if refusal is OverflowError else "no integers past int64"
    with pytest.raises(TravError, match=last):
        read_column("vertices", [-1, 2**63], Refusing())


def test_columns_that_have_no_order_between_them_are_both_named():
    """Each of the two columns alone has an order."""
    src = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"])).dt.tz_localize("UTC")
    dst = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-03"]))
    with pytest.raises(TravError, match="Columns 'src' and 'dst' hold values that have no common order"):
        pd.DataFrame({"src": src, "dst": dst}).trav.graph()


def test_listed_vertices_keep_their_values(frame_library):
    """Between int64 and uint64, values that do not fit would survive a cast there and back."""
    edges = path(frame_library, [1, 2, 3], "int64")
    found = to_pandas(edges.trav.graph(vertices=[2**63, 2**64 - 1]).degrees())
    assert found["vertex"].tolist() == [1, 2, 3, 2**63, 2**64 - 1]
    with pytest.raises(TravError, match="no integer type holds"):
        path(frame_library, np.array([1, 2, 2**64 - 1], "uint64")).trav.graph(vertices=[-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_whole_floats(frame_library, dtype):
    ids = [3.0, -1.0, 2.0]
    check_path(path(frame_library, ids, dtype), ids, dtype)
    edges = path(frame_library, [1.0, 2.5], dtype)
    with pytest.raises(TravError, match=r"'dst' holds 2\.5"):
        edges.trav.graph()
    with pytest.raises(UnknownVertexError, match=r"2\.5"):
        path(frame_library, ids, dtype).trav.bfs(2.5)


def test_strings(frame_library):
    ids = ["pear", "apple", "Zoo", "", "éclair", "日本", "zebra"]
    check_path(path(frame_library, ids), ids, str(frame_library.Series(["a"]).dtype))
    graph = path(frame_library, ids).trav.graph()
    for unknown in ("apples", "zz", "日本語"):
        with pytest.raises(UnknownVertexError, match=unknown):
            graph.bfs(["apple", unknown])


def test_many_strings(frame_library):
    names = [f"user{i * 7919 % 5000}" for i in range(5000)]
    graph = path(frame_library, names).trav.graph(directed=True)
    result = to_pandas(graph.bfs(names[:100], mode="each", depth_limit=1, reached_only=True))
    assert len(result) == 200
    assert set(zip(result["source"], result["vertex"], strict=True)) == {
        (name, near) for i, name in enumerate(names[:100]) for near in names[i : i + 2]
    }
    with pytest.raises(UnknownVertexError, match="'nobody'"):
        graph.bfs([*names[:100], "nobody"])


def test_dates(frame_library):
    days = pd.to_datetime(["2024-03-01", "2021-01-01", "2022-07-09"]).to_series(index=range(3))
    edges = path(frame_library, days)
    graph = edges.trav.graph(directed=True)
    result = to_pandas(graph.bfs(days[0]))
    assert result["vertex"].tolist() == sorted(days)
    assert result["distance"].tolist() == [1, 2, 0]
    assert result["predecessor"].isna().tolist() == [False, False, True]
    assert result["predecessor"][0] == days[0]


def test_categories_keep_their_order_and_dtype(frame_library):
    dtype = pd.CategoricalDtype(["low", "unused", "mid", "high"], ordered=True)
    ends = [pd.Series(names, dtype=dtype) for names in (["high", "mid"], ["mid", "low"])]
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    edges = frame if frame_library is pd else frame_library.from_pandas(frame)
    graph = edges.trav.graph(directed=True)
    result = to_pandas(graph.bfs("high"))
    assert result["vertex"].tolist() == ["low", "mid", "high"]
    assert result["vertex"].dtype == dtype
    assert result["distance"].tolist() == [2, 1, 0]
    assert [row[2] for row in rows(result)] == ["mid", "high", None]
    for word in ("unused", "none of the categories"):
        with warnings.catch_warnings(), pytest.raises(UnknownVertexError, match=word):
            warnings.simplefilter("error")  # pandas 4 refuses to construct categories of others
            graph.bfs(word)


def test_different_categories_are_read_as_their_values(frame_library):
    frame = pd.DataFrame({"src": ["b", "a"], "dst": ["c", "b"]}, dtype="category")
    edges = frame if frame_library is pd else frame_library.from_pandas(frame)
    result = edges.trav.graph(directed=True).bfs("a")
    assert rows(result) == [("a", 0, None), ("b", 1, "a"), ("c", 2, "b")]
    numbers = pd.DataFrame({"src": [5, 7], "dst": [7, 9]}, dtype="category")
    edges = numbers if frame_library is pd else frame_library.from_pandas(numbers)
    graph = edges.trav.graph(directed=True)
    assert rows(graph.bfs(5)) == [(5, 0, None), (7, 1, 5), (9, 2, 7)]
    assert len(graph.khop(5, 1).edges) == 1


@pytest.mark.parametrize("third", [None, [1.0, 0.0, 1.0, 5.0]])
def test_several_columns(frame_library, third):
    towns = [("rome", 2), ("oslo", 9), ("rome", 1), ("bern", 9)]
    if third:
        towns = [(*town, extra) for town, extra in zip(towns, third, strict=True)]
    width = len(towns[0])
    src, dst = (list(map(list, zip(*part, strict=True))) for part in (towns[:-1], towns[1:]))
    edges = frame_library.DataFrame(
        {f"from{i}": src[i] for i in range(width)} | {f"to{i}": dst[i] for i in range(width)}
    )
    names = [f"from{i}" for i in range(width)], [f"to{i}" for i in range(width)]
    graph = edges.trav.graph(*names, directed=True)
    result = graph.bfs(towns[0])
    assert list(result.columns) == (
        [f"vertex_{i}" for i in range(width)] + ["distance"] + [f"predecessor_{i}" for i in range(width)]
    )
    before = dict(zip(towns[1:], towns, strict=False))
    nothing = (None,) * width
    assert rows(result) == [(*town, towns.index(town), *before.get(town, nothing)) for town in sorted(towns)]
    route = graph.paths(towns[0], towns[2])
    assert list(route.columns)[:width] == [f"target_{i}" for i in range(width)]
    each = rows(graph.bfs(towns[:2], mode="each", depth_limit=0, reached_only=True))
    assert [row[:width] for row in each] == towns[:2]
    assert rows(graph.bfs(edges[names[0]].iloc[:1])) == rows(result)
    assert rows(graph.bfs([towns[0]])) == rows(result)
    assert to_pandas(graph.khop([towns[1]], 1).edges).index.tolist() == [1]
    with pytest.raises(UnknownVertexError, match="'oslo', 2"):
        graph.bfs(("oslo", 2, *towns[0][2:]))
    with pytest.raises(UnknownVertexError, match="'paris', 2"):
        graph.bfs(("paris", 2, *towns[0][2:]))


def test_isolated_vertices_of_several_columns():
    edges = pd.DataFrame({"a": ["x"], "b": [1], "c": ["y"], "d": [2]})
    graph = edges.trav.graph(["a", "b"], ["c", "d"], vertices=[("z", 3), ("x", 1)])
    assert isinstance(graph.ids, TupleIds)
    assert graph.n_vertices == 3
    assert rows(graph.bfs(("z", 3), reached_only=True)) == [("z", 3, 0, None, None)]


@pytest.mark.parametrize("dtype", [
    "Int64", "Int8", "UInt32", "Float64", "int64[pyarrow]", "uint8[pyarrow]", "double[pyarrow]",
    "string[python]", "string[pyarrow]", "str", "object", pd.ArrowDtype(__import__("pyarrow").large_string()),
])  # fmt: skip
def test_dtypes_of_pandas(dtype):
    text = str(dtype) in ("str", "object") or "string" in str(dtype)
    ids = ["b", "a", "c"] if text else [2, 1, 3]
    edges = path(pd, ids, dtype)
    graph = edges.trav.graph(directed=True)
    result = graph.bfs(ids[0])
    assert rows(result) == [(ids[1], 1, ids[0]), (ids[0], 0, None), (ids[2], 2, ids[1])]
    assert result["vertex"].dtype == edges["src"].dtype
    assert result["predecessor"].dtype == edges["src"].dtype
    assert graph.khop(pd.Series(ids[:1], dtype=dtype), 1).edges.index.tolist() == [0]


@pytest.mark.parametrize(("ids", "dtype"), [
    ([2, 1, 3], "int64"), ([2.0, 1.0, 3.0], "float64"), ([2, 1.0, 3], "int64"), ([2**63, 1, 3], "uint64"),
    ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)], "object"),
    ([b"b", b"a", b"c"], "object"), ([(1, 2), (1, 1), (2, 0)], "object"),
])  # fmt: skip
def test_python_objects(ids, dtype):
    edges = path(pd, pd.Series(ids, dtype=object))
    graph = edges.trav.graph(directed=True)
    result = graph.bfs([ids[0]])
    assert str(result["vertex"].dtype) == dtype
    assert result["vertex"].tolist() == sorted(ids)
    assert result["distance"].tolist() == [ids.index(vertex) for vertex in sorted(ids)]


def test_strings_of_two_dtypes():
    src, dst = pd.Series(["a", "b"], dtype=object), pd.Series(["b", "c"], dtype="string")
    edges = pd.DataFrame({"src": src, "dst": dst})
    assert edges.trav.graph(directed=True).bfs("a")["distance"].tolist() == [0, 1, 2]


def test_dates_with_a_time_zone():
    days = pd.Series(pd.date_range("2024-01-01", periods=3, tz="Europe/Rome"))
    result = path(pd, days).trav.bfs(days[0])
    assert result["vertex"].dtype == days.dtype
    assert result["predecessor"].dtype == days.dtype


def test_source_of_another_category_dtype():
    edges = pd.DataFrame({"src": ["a"], "dst": ["b"]}, dtype=pd.CategoricalDtype(["a", "b"]))
    assert edges.trav.bfs(pd.Series(["b", "b"], dtype="category"))["distance"].tolist() == [1, 0]


def test_categories_in_another_order():
    one, other = pd.CategoricalDtype(["a", "b", "c"]), pd.CategoricalDtype(["c", "b", "a"])
    assert one == other  # pandas ignores the order of these categories
    src, dst = pd.Series(["a", "b"], dtype=one), pd.Series(["b", "c"], dtype=other)
    result = pd.DataFrame({"src": src, "dst": dst}).trav.bfs("a", directed=True)
    assert rows(result) == [("a", 0, None), ("b", 1, "a"), ("c", 2, "b")]
    graph = pd.DataFrame({"src": src, "dst": dst.astype(object).astype(one)}).trav.graph(directed=True)
    assert rows(graph.bfs(pd.Series(["b"], dtype=other)))[1] == ("b", 0, None)


def internal(*lists):
    """Return the map and the internal ids of lists of one-column ids."""
    named = [[("column", pd.Series(ids))] for ids in lists]
    ids, codes = renumber(named, 1, library("pandas"), np)
    return ids, [codes(i).tolist() for i in range(len(lists))]


def test_consecutive_integers_need_no_table():
    ids, codes = internal([7, 5], [6, 5])
    assert isinstance(ids, RangeIds)
    assert (ids.first, ids.n, ids.nbytes) == (5, 3, 0)
    assert codes == [[2, 0], [1, 0]]


def test_integers_with_gaps():
    ids, codes = internal([70, 5], [6, 5])
    assert isinstance(ids, SortedIds)
    assert ids.dense
    assert ids.ids.tolist() == [5, 6, 70]
    assert codes == [[2, 0], [1, 0]]
    assert ids.encoder()([np.array([4, 5, 69, 70, 71])]).tolist() == [-1, 0, -1, 2, -1]


def test_internal_ids_take_32_bits():
    for given in ([5, 6], [5, 70], [5, HUGE], ["a", "b"], [1.0, 2.0]):
        ids, codes = renumber([[("column", pd.Series(given))]], 1, library("pandas"), np)
        assert codes(0).dtype == np.int32
        assert ids.encoder()([pd.Series(given)]).dtype == np.int32


def test_columns_without_rows_have_no_say():
    ids, codes = internal(pd.Series([], dtype=object), [3, 4], pd.Series([], dtype="float64"))
    assert codes == [[], [0, 1], []]
    assert str(ids.dtypes[0]) == "int64"


def test_empty_frames_of_any_dtype():
    for dtype in ("int64", "object", "str", "float32", "category", "datetime64[ns]"):
        edges = pd.DataFrame({"src": [], "dst": []}, dtype=dtype)
        graph = edges.trav.graph()
        assert (graph.n_vertices, graph.n_edges) == (0, 0)
        assert edges.trav.graph(vertices=["a", "b"]).n_vertices == 2


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "Int64", "uint8"])
def test_listed_vertices_take_the_dtype_of_edges(dtype, rows):
    edges = pd.DataFrame({"src": [1, 2], "dst": [2, 3]}, dtype=dtype).iloc[:rows]
    assert str(edges.trav.bfs(5, vertices=[5], reached_only=True)["vertex"].dtype) == dtype
    assert str(edges.trav.bfs(300, vertices=[300])["vertex"].dtype) == (
        "int64" if dtype == "uint8" else dtype
    )


@pytest.mark.parametrize("dtype", ["int64", "Int64", "object"])
def test_integers_and_floats_beyond_the_digits_of_floats(dtype):
    near = [2**53, 2**53 + 1]
    src = pd.Series([*near, 7.0] if dtype == "object" else [*near, 7], dtype=dtype)
    graph = pd.DataFrame({"src": src, "dst": [1.0, 2.0, 3.0]}).trav.graph(directed=True, vertices=[2**53 + 3])
    result = graph.bfs([2**53 + 1, 7.0], reached_only=True)
    assert rows(result) == [(2, 1, 2**53 + 1), (3, 1, 7), (7, 0, None), (2**53 + 1, 0, None)]
    assert str(result["vertex"].dtype).lower() == "int64"
    assert graph.n_vertices == 7


def test_vertices_beyond_the_digits_of_floats():
    edges = pd.DataFrame({"src": [1.0], "dst": [2.0**53]})
    assert edges.trav.graph(vertices=[2**53 + 1]).n_vertices == 3
    assert str(edges.trav.bfs(1, vertices=[5])["vertex"].dtype) == "float64"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("ids", "source"), [
    (["a", "b", "c"], np.str_("a")), (["a", "b", "c"], np.array("a")), ([b"a", b"b", b"c"], np.bytes_(b"a")),
    ([0, 1, 2], np.int64(0)), ([0, 1, 2], np.array(0)), ([0, 1, 2], pd.arrays.SparseArray([0])),
    (np.arange(3, dtype="float16"), np.float16(0)), (pd.date_range("2020", periods=3), "2020-01-01"),
])  # fmt: skip
def test_scalars_and_arrays_of_numpy_and_pandas(ids, source):
    assert path(pd, ids).trav.bfs(source)["distance"].tolist() == [0, 1, 2]


def test_sparse_columns():
    sparse = pd.arrays.SparseArray
    edges = pd.DataFrame({"src": sparse([0, 1]), "dst": sparse([1, 2]), "open": sparse([True, False])})
    graph = edges.trav.graph(directed=True)
    assert rows(graph.bfs(0, where="open")) == [(0, 0, None), (1, 1, 0), (2, None, None)]
    assert str(graph.bfs(0)["vertex"].dtype) == "int64"


@pytest.mark.parametrize("ids", [
    [3, 4, 5], [3, 40, 500], [3, 10**12, -(10**12)], ["a", "b", "c"], [0.0, 7.0, 9.0],
])  # fmt: skip
@pytest.mark.parametrize("degree_sort", [False, True])
def test_encoders_of_many_values_tell_unknown_ones(frame_library, ids, degree_sort):
    graph = path(frame_library, ids).trav.graph(degree_sort=degree_sort)
    unknown = ["", "z"] if ids[0] == "a" else [-(2**62), -1, 41, 2**32 + 3, 2**62]
    given = frame_library.Series([*ids, *unknown])
    few, many = (graph.ids.encoder(many=many)([given]).tolist() for many in (False, True))
    assert few == many
    assert sorted(many) == [-1] * len(unknown) + [0, 1, 2]


def test_objects_without_a_total_order_are_refused():
    sets = [frozenset(values) for values in ([1], [2], [1, 2], [3])]
    edges = pd.DataFrame({"src": pd.Series(sets[:3]), "dst": pd.Series(sets[1:])})
    with pytest.raises(TravError, match=r"no common order \(neither of frozenset\(\{.*\}\) and frozenset"):
        edges.trav.graph()
    chain = [frozenset(range(k)) for k in range(1, 5)]  # each a subset of the next
    edges = pd.DataFrame({"src": pd.Series(chain[:3]), "dst": pd.Series(chain[1:])})
    assert edges.trav.bfs(pd.Series(chain[:1]))["distance"].tolist() == [0, 1, 2, 3]
