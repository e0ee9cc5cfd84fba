"""Messages about invalid ids: each value is named once, with its kind and a remedy."""

import re
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pytest
import scipy.sparse

from rapids_trav import Graph, TravError, UnknownVertexError
from rapids_trav.cli import run

NUMBERS = pd.DataFrame({"src": [1], "dst": [2]})
WORDS = pd.DataFrame({"src": ["a"], "dst": ["b"]})


@pytest.mark.parametrize("given", [[9, 9, 9], np.array([9, 9]), pd.Series([1, 9, 9])])
def test_a_repeated_unknown_vertex_counts_once(given):
    with pytest.raises(UnknownVertexError, match=r"sources contains 1 unknown vertex: 9:"):
        NUMBERS.trav.bfs(given)


def test_unknown_vertices_are_counted_beyond_those_shown():
    given = [*range(10, 20), *range(10, 20)]
    with pytest.raises(
        UnknownVertexError, match=r"contains 10 unknown vertices: 10, 11, 12, 13, 14 and 5 more:"
    ):
        NUMBERS.trav.bfs(given)


def test_unknown_pairs_count_once():
    graph = WORDS.assign(n=1, m=2).trav.graph(["src", "n"], ["dst", "m"])
    with pytest.raises(UnknownVertexError, match=r"contains 2 unknown vertices: \('a', 2\), \('z', 1\):"):
        graph.bfs([("a", 2), ("z", 1), ("a", 2), ("a", 1)])


@pytest.mark.parametrize("edges", [WORDS.astype("string"), WORDS.astype("string").astype("category")])
@pytest.mark.parametrize(
    ("given", "value"), [(["a", 1], "1"), (b"a", "b'a'"), ([b"a", "a"], "b'a'"), ([("a",)], r"\('a',\)")]
)
def test_other_values_than_strings_among_ids_that_are_strings(edges, given, value):
    with pytest.raises(TravError, match=f"sources holds {value}, but the graph's ids are string") as error:
        edges.trav.bfs(given)
    assert not isinstance(error.value, UnknownVertexError)


@pytest.mark.parametrize("edges", [WORDS, WORDS.astype("string")])
@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_strings_of_any_dtype_are_strings(edges, dtype):
    assert edges.trav.bfs(pd.Series(["a"], dtype=dtype))["distance"].tolist() == [0, 1]


@pytest.mark.parametrize("values", [[[1, 2]], [{"a": 1}], [np.array([1, 2])]])
def test_nested_values_are_to_be_given_columns(values):
    with pytest.raises(TravError, match="cannot be an id: put its parts into separate columns"):
        pd.DataFrame({"src": values, "dst": values}).trav.graph()


@pytest.mark.parametrize("dtype", ["float32", "float64", object])
def test_the_smallest_integer_of_64_bits_may_be_a_float(dtype):
    edges = pd.DataFrame({"src": [-(2.0**63)], "dst": [1.0]}).astype(dtype)
    assert edges.trav.bfs(1)["vertex"].astype(float).tolist() == [-(2.0**63), 1.0]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (2.0**63, r"holds 9.22.*e\+18, which does not fit 64 bits: use astype\(str\)"),
        (2**70, r"holds 1180591620717411303424, which does not fit 64 bits: use astype\(str\)"),
        (1.5, r"holds 1\.5, which is not a whole number: round it, or use astype\(str\)"),
        (float("-inf"), r"holds -inf, which is not a whole number"),
    ],
)
def test_to_round_is_advised_where_that_helps(value, sentence):
    with pytest.raises(TravError, match=sentence):
        pd.DataFrame({"src": [value], "dst": [value]}).trav.graph()


def test_large_numbers_in_text_beside_words_are_strings(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("src,dst\n99999999999999999999,x\n")
    assert run(["bfs", str(path), "-s", "x"]) == 0
    assert "99999999999999999999" in capsys.readouterr().out


def test_lists_in_parquet(tmp_path, capsys):
    path = tmp_path / "edges.parquet"
    pd.DataFrame({"src": [[1, 2]], "dst": [[2, 3]]}).to_parquet(path)
    assert run(["bfs", str(path), "-s", "1"]) == 1
    assert "which is not an id: give each part a column of its own" in capsys.readouterr().err


def test_vertices_of_closeness_are_told_as_an_argument():
    with pytest.raises(UnknownVertexError, match=r"^of= contains 1 unknown vertex: 9:"):
        NUMBERS.trav.closeness(of=[9])
    with pytest.raises(TravError, match=r"^of= is empty"):
        NUMBERS.trav.closeness(of=[])


def test_several_nulls_are_told_as_several():
    with pytest.raises(TravError, match="holds 2 nulls, and a null is not a vertex: leave them out"):
        NUMBERS.trav.bfs([1, None, None])


LONE = "a\ud800"  # a string with a lone surrogate, which is not valid Unicode


@pytest.mark.parametrize("dtype", [object, "str", "category", "string"])
@pytest.mark.parametrize("many", [1, 100, 20_000])
def test_a_string_that_is_not_unicode_is_as_unknown_as_others(dtype, many):
    with pytest.raises(UnknownVertexError, match="contains 1 unknown vertex: "):
        WORDS.astype(dtype).trav.bfs([LONE] * many)


@pytest.mark.parametrize("dtype", [object, "U"])
def test_a_string_that_is_not_unicode_may_be_an_id_among_objects(dtype):
    graph = Graph.from_edges((np.array([LONE, "c"], dtype), np.array(["c", "d"], dtype)))
    assert graph.bfs(LONE)["distance"].tolist() == graph.bfs([LONE] * 100)["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("edges", "remedy"),
    [
        (lambda: pd.DataFrame({"src": ["a", None], "dst": ["b", "c"]}), r"edges\.dropna\(subset=\['src'\]\)"),
        (lambda: pl.DataFrame({"src": ["a", None], "dst": ["b", "c"]}), r"edges\.drop_nulls\('src'\)"),
        (
            lambda: pa.table({"src": ["a", None], "dst": ["b", "c"]}),
            r"edges\.filter\(pyarrow.*'src'\)\.is_valid\(\)\)",
        ),
        (
            lambda: duckdb.sql("select 'a' src, 'b' dst union all select null, 'c'"),
            r"""edges\.filter\('"src" is not null'\)""",
        ),
    ],
    ids=["pandas", "polars", "pyarrow", "duckdb"],
)
def test_the_remedy_for_nulls_is_one_of_the_callers_library(edges, remedy):
    with pytest.raises(TravError, match=f"holds 1 null, .* drop that row first, with .*{remedy}\\.$"):
        Graph.from_edges(edges())


@pytest.mark.parametrize("edges", [NUMBERS, WORDS, pl.DataFrame({"src": [1], "dst": [2]})])
@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 1e30, 1.5, float("inf")])
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [1, value], lambda value: (value,)])
def test_vertices_that_are_no_integers_of_64_bits(edges, value, wrap):
    with pytest.raises(
        TravError, match=f"^vertices holds {re.escape(repr(value))}, which is no .* as strings"
    ):
        Graph.from_edges(edges, vertices=wrap(value))
    text = pl.DataFrame(edges).cast(pl.String)
    assert Graph.from_edges(text, vertices=[str(value)]).n_vertices == 3


NAN = float("nan")
FLOATS = pa.table({"src": [0.0, NAN, None], "dst": [1.0, 2.0, 3.0]})
WEIGHTS = pa.table({"src": [0, 1, 2], "dst": [1, 2, 3], "w": [NAN, None, 2.0]})
KINDS = {
    "pandas": pa.Table.to_pandas,
    "Arrow in pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "nullable": lambda table: table.to_pandas(types_mapper={pa.float64(): pd.Float64Dtype()}.get),
    "polars": pl.DataFrame,
    "pyarrow": lambda table: table,
    "duckdb": duckdb.from_arrow,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_remedy_for_ids_that_are_nan_works(kind):
    edges = KINDS[kind](FLOATS)
    with pytest.raises(TravError, match="'src' holds 2 nulls, ") as caught:
        Graph.from_edges(edges)
    remedy = re.search(r"edges[.\[].*(?=\.$)", str(caught.value))[0]
    assert Graph.from_edges(eval(remedy, {"edges": edges, "pyarrow": pyarrow})).n_edges == 1


@pytest.mark.parametrize("library", ["Arrow in pandas", "polars", "pyarrow", "duckdb"])
@pytest.mark.parametrize(("scale", "text"), [(0, False), (2, True)])
def test_the_remedy_for_decimals_beside_integers_works(library, scale, text):
    decimals = pa.array([Decimal(2), Decimal(3)], pa.decimal128(38, scale))
    edges = KINDS[library](pa.table({"src": decimals, "dst": [3, 4]}))
    with pytest.raises(TravError, match=r"Columns 'src' .* hold different kinds of id: ") as caught:
        Graph.from_edges(edges)
    remedy = str(caught.value).partition("for example with ")[2][:-1]
    ends = []
    for name in ("src", "dst") if text else ("src",):
        if library == "duckdb":
            ends.append(edges.project(remedy.replace("...", name) + " AS id").df()["id"])
        else:
            ends.append(eval(f"edges[{name!r}].{remedy}", {"edges": edges, "pyarrow": pyarrow, "polars": pl}))
    ends += [] if text else [edges.df()["dst"] if library == "duckdb" else edges["dst"]]
    assert Graph.from_edges(tuple(ends)).n_edges == 2


def test_a_hugeint_of_more_than_38_digits_is_to_be_a_string():
    edges = duckdb.sql(f"select {2**127 - 1}::hugeint src, 2::hugeint dst")
    with pytest.raises(
        TravError, match=rf"Column 'src' holds {2**127 - 1}, which decimal128\(38, 0\) "
    ) as caught:
        Graph.from_edges(edges)
    remedy = re.search(r"CAST\(\.\.\. AS \w+\)", str(caught.value))[0]
    mended = edges.project(", ".join(f"{remedy.replace('...', name)} AS {name}" for name in ("src", "dst")))
    assert Graph.from_edges(mended).bfs(str(2**127 - 1))["distance"].tolist() == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_remedy_for_weights_that_are_nan_works(kind):
    edges = KINDS[kind](WEIGHTS)
    with pytest.raises(TravError, match="weight='w' holds 2 nulls or NaN: ") as caught:
        Graph.from_edges(edges, weight="w")
    remedy = str(caught.value).partition("for example with ")[2][:-1]
    if kind == "duckdb":
        filled = edges.project(f"src, dst, {remedy.replace('weight', 'w')} AS w").df()["w"]
    else:
        text = remedy if kind == "pyarrow" else f"weight.{remedy}"
        filled = eval(text, {"weight": edges["w"], "pyarrow": pyarrow})
    found = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "w": filled.to_numpy()})
    assert found.trav.sssp(0, weight="w")["distance"].tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize("wrap", [np.asarray, pd.Series, pd.array])
@pytest.mark.parametrize("ends", [[0.0, NAN, NAN], ["a", None, None]])
def test_the_remedy_for_ids_in_arrays_that_are_null_works(wrap, ends):
    edges = (wrap(ends), wrap(["a", "b", "c"] if ends[0] == "a" else [1.0, 2.0, 3.0]), np.ones(3))
    with pytest.raises(TravError, match="'src' holds 2 nulls, ") as caught:
        Graph.from_edges(edges)
    remedy = re.search(r"tuple.*(?=\.$)", str(caught.value))[0]
    assert Graph.from_edges(eval(remedy, {"edges": edges, "pandas": pd})).n_edges == 1


@pytest.mark.parametrize("kind", ["arrays", "columns", "csr", "coo"])
def test_the_remedy_for_weights_in_arrays_that_are_nan_works(kind):
    src, dst, weight = np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([NAN, 3.0, 2.0])
    matrix = scipy.sparse.coo_array((weight, (src, dst)), shape=(4, 4)).asformat(
        kind if kind == "csr" else "coo"
    )
    weight = pd.Series(weight) if kind == "columns" else weight
    edges = matrix if kind in ("csr", "coo") else (src, dst, weight)
    with pytest.raises(TravError, match="weight='weight' holds 1 null or NaN: ") as caught:
        Graph.from_edges(edges)
    remedy = str(caught.value).partition("for example with ")[2][:-1]
    if kind == "columns":
        edges = (src, dst, eval(f"weight.{remedy}"))
    else:
        exec(remedy, {"weight": weight, "matrix": matrix, "numpy": np})
    assert Graph.from_edges(edges).sssp(0)["distance"].tolist() == [0, 0, 3, 5]
