"""Columns, ids and edges in unusual forms of other libraries: accepted, or refused with a message."""

import re

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from rapids_trav import EdgeColumnsError, Graph, TravError, UnknownVertexError

DISTANCES = [0, 1, 2, 3]


def arrow(values, kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))


@pytest.fixture
def dictionaries(tmp_path):
    """Return edges a-b-c-d; their ends and a text column were read from Parquet as Arrow dictionaries."""
    file = tmp_path / "edges.parquet"
    frame = pd.DataFrame({"src": ["a", "b", "c"], "dst": ["b", "c", "d"], "kind": ["x", "y", "x"]})
    frame.astype("category").to_parquet(file)
    frame = pd.read_parquet(file, dtype_backend="pyarrow")
    assert all(pa.types.is_dictionary(dtype.pyarrow_dtype) for dtype in frame.dtypes)
    return frame


def test_arrow_dictionaries_are_categories(dictionaries):
    graph = dictionaries.trav.graph()
    answer = graph.bfs("a")
    assert answer["vertex"].tolist() == list("abcd") and answer["distance"].tolist() == DISTANCES
    assert graph.paths("a", "d")["vertex"].tolist() == list("abcd")
    assert graph.khop("b", 0).vertices["vertex"].tolist() == ["b"]
    assert graph.khop("b", 1).edges["kind"].tolist() == ["x", "y"]
    given = pd.Series(["b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))
    assert graph.bfs(given)["distance"].tolist() == [1, 0, 1, 2]
    assert pa.types.is_dictionary(dictionaries["src"].dtype.pyarrow_dtype)  # the caller's frame is unchanged


@pytest.mark.parametrize("repeated", [["a", "b", "a"], ["a", "b", None]])
def test_arrow_dictionaries_that_are_no_categories(repeated):
    src = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(repeated))
    frame = pd.DataFrame({"src": pd.Series(pd.arrays.ArrowExtensionArray(src)), "dst": ["b", "c"]})
    assert frame.trav.bfs("a")["distance"].tolist() == [0, 1, 2]


def test_arrow_dictionaries_of_integers():
    kind = pa.dictionary(pa.int8(), pa.int64())
    frame = pd.DataFrame({"src": arrow([5, 6], kind), "dst": arrow([6, 7], kind)})
    assert frame.trav.bfs(5)["vertex"].tolist() == [5, 6, 7]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1], [2]], pa.list_(pa.int64())),
        ([[1], [2]], pa.list_(pa.int64(), 1)),
        ([{"a": 1}, {"a": 2}], pa.struct([("a", pa.int64())])),
        ([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
        (["a", "b"], pa.string_view()),
        ([b"a", b"b"], pa.binary_view()),
        ([1, 2], pa.time64("ns")),  # both values once came back as the same time of day
        ([(1, 0, 0), (2, 0, 0)], pa.month_day_nano_interval()),
    ],
)
def test_types_that_name_nothing_are_refused(values, kind):
    frame = pd.DataFrame({"src": arrow(values, kind), "dst": [1, 2]})
    with pytest.raises(TravError, match=r"Column 'src' is of type .* whose values cannot be ids"):
        frame.trav.graph()
    with pytest.raises(TravError, match=r"sources is of type .* whose values are not ids"):
        pd.DataFrame({"src": [0], "dst": [1]}).trav.bfs(frame["src"])


@pytest.mark.parametrize("dtype", [">i8", ">i4", ">u2", ">f8"])
def test_big_endian_columns_are_ordinary(dtype):
    native = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "km": [5, 1, 2]})
    foreign = pd.DataFrame({name: native[name].to_numpy().astype(dtype) for name in native})
    graph = foreign.trav.graph(weight="km")
    expected = native.trav.graph(weight="km")
    sources = np.array([0], dtype)
    assert graph.bfs(sources)["distance"].tolist() == DISTANCES
    assert graph.bfs(sources, mode="each")["distance"].tolist() == DISTANCES
    assert graph.bfs(0)["vertex"].dtype == np.dtype(dtype).newbyteorder("=")
    assert graph.paths(0, 3)["vertex"].tolist() == DISTANCES
    assert graph.sssp(0)["distance"].tolist() == expected.sssp(0)["distance"].tolist() == [0, 5, 6, 8]
    assert graph.khop(0, 1).edges["km"].tolist() == [5]
    assert graph.components()["component"].tolist() == [0] * 4


@pytest.mark.parametrize("split", [False, True])
def test_big_endian_columns_of_frames_that_are_made(split):
    frame = pd.DataFrame({"src": np.array([0, 1], ">i8"), "dst": np.array([1, 2], ">i8")})
    edges = (lambda: iter([frame[:1], frame[1:]])) if split else (lambda: iter([frame]))
    assert Graph.from_edges(edges).bfs(0)["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "dok", "lil", "dia", "bsr"])
@pytest.mark.parametrize("shape", ["matrix", "array"])
def test_scipy_matrices_of_every_format(kind, shape):
    matrix = getattr(scipy.sparse, f"{kind}_{shape}")(np.eye(3, k=1))
    assert Graph.from_edges(matrix).bfs(0)["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_blocks_of_scipy_that_are_stored_twice_are_one_edge(dtype):
    blocks = np.ones((3, 1, 1), dtype), np.array([1, 1, 0]), np.array([0, 2, 3])
    graph = Graph.from_edges(scipy.sparse.bsr_array(blocks, shape=(2, 2)))
    assert graph.n_edges == 2 and graph.to_scipy().toarray().tolist() == [
        [0, 1 if dtype == "bool" else 2],
        [1, 0],
    ]


@pytest.mark.parametrize("ask", ["bfs", "closeness", "distances"])
def test_ids_in_a_sparse_array_are_refused(ask):
    ids = scipy.sparse.coo_array(np.array([0, 1]))
    with pytest.raises(TravError, match=r"sparse|pairs is a tuple"):
        getattr(Graph.from_edges(([0], [1])), ask)((ids, ids) if ask == "distances" else ids)


@pytest.mark.parametrize("sources", [(1, "a"), [(1, "a")], (1, 7)])
def test_tuples_for_ids_of_one_column_are_explained(sources):
    with pytest.raises(TravError, match=r"a tuple is one id only if .* graph\(src=\[...\]"):
        pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.bfs(sources)


def test_other_unknown_ids_have_no_such_hint():
    graph = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph()
    assert graph.bfs((0, 1))["distance"].tolist() == [0, 0, 1]
    with pytest.raises(UnknownVertexError, match=r"add them with graph\(vertices=\.\.\.\)\.$"):
        graph.bfs([1, 7])


class Unequal:
    """Id that can be sorted but equals nothing, not even itself."""

    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

    def __eq__(self, other):
        return False

    __hash__ = object.__hash__


def test_ids_that_do_not_equal_themselves_reach_no_kernel():
    ids = pd.Series([Unequal(number) for number in range(4)], dtype=object)
    with pytest.raises(TravError, match="Column 'src' holds values that are not equal to themselves"):
        pd.DataFrame({"src": ids[:3], "dst": ids[1:].reset_index(drop=True)}).trav.graph()


@pytest.mark.parametrize("dtype", [">m8[ns]", ">m8[s]", ">M8[ns]"])
def test_big_endian_times(dtype):
    given = pd.Series(np.arange(4).astype(dtype))
    answer = pd.DataFrame({"src": given[:3], "dst": given[1:].reset_index(drop=True)}).trav.bfs(given[:1])
    assert answer["distance"].tolist() == DISTANCES
    assert answer["vertex"].astype("int64").tolist() == DISTANCES


def test_strings_with_null_characters_are_told_apart_or_refused():
    """Some versions of pandas treat such strings as equal in columns of Python objects."""
    words = pd.Series(["a", "a\0", "a\0\0", "b"], dtype=object)
    frame = pd.DataFrame({"src": words[:3], "dst": words[1:].reset_index(drop=True)})
    if len(pd.factorize(words)[1]) == 4:
        assert frame.trav.bfs("a")["distance"].tolist() == DISTANCES
    else:
        with pytest.raises(TravError, match="up to a null character"):
            frame.trav.bfs("a")
        with pytest.raises(TravError, match="up to a null character"):
            frame.astype("str").trav.bfs(words)
    assert frame.astype("string").trav.bfs("a")["distance"].tolist() == DISTANCES


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.MultiDiGraph])
def test_a_graph_of_networkx_is_told_how_to_become_a_frame(kind):
    graph = networkx.path_graph(3, create_using=kind)
    with pytest.raises(
        TravError, match=rf"^edges is a {kind.__name__} of NetworkX: .* networkx\.to_pandas_edge"
    ):
        Graph.from_edges(graph)
    edges = networkx.to_pandas_edgelist(graph, "src", "dst")  # as the message says
    assert Graph.from_edges(edges).bfs(0)["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("edges", [pd.DataFrame(index=[0]), pl.DataFrame()])
def test_edges_without_columns_have_none_to_choose_from(edges):
    with pytest.raises(
        EdgeColumnsError, match=r"^The edges have no columns: give a frame with a column for each"
    ):
        Graph.from_edges(edges)


SHARED_COLUMNS = pa.table({"src": [1, 2], "dst": [2, 3], "k": [7, 7]})


@pytest.mark.parametrize("limit", [None, "1MB"])
@pytest.mark.parametrize("form", ["parquet", "pyarrow", "polars", "pandas"])
def test_ends_and_weights_may_share_a_column(tmp_path, form, limit):
    pq.write_table(SHARED_COLUMNS, tmp_path / "edges.parquet")
    edges = {
        "parquet": tmp_path / "edges.parquet",
        "pyarrow": SHARED_COLUMNS,
        "polars": pl.from_arrow(SHARED_COLUMNS),
        "pandas": SHARED_COLUMNS.to_pandas(),
    }[form]
    weighted = Graph.from_edges(edges, weight="src", memory_limit=limit).sssp(1)
    pairs = Graph.from_edges(edges, src=["src", "k"], dst=["dst", "k"], memory_limit=limit).bfs((1, 7))
    weighted, pairs = (answer["distance"].to_numpy().tolist() for answer in (weighted, pairs))
    assert weighted == [0, 1, 3]
    assert pairs == [0, 1, 2]


def test_a_folder_s_name_of_another_type_than_the_column_is_told(tmp_path):
    (tmp_path / "src=5").mkdir()
    pq.write_table(SHARED_COLUMNS, tmp_path / "src=5" / "edges.parquet")
    with pytest.raises(TravError, match=r"cannot be read as Parquet: .* incompatible types: int64 vs int32"):
        Graph.from_edges(tmp_path)


def test_a_file_is_not_compared_with_itself(tmp_path):
    for folder in ("src=5", "other=5"):
        (tmp_path / folder).mkdir()
        pq.write_table(SHARED_COLUMNS.drop(["src"]), tmp_path / folder / "edges.parquet")
    with pytest.raises(TravError, match=r"is in (.*) but not in (.*): give") as told:
        Graph.from_edges(tmp_path)
    there, missing = re.search(r"is in (.*) but not in (.*): give", str(told.value)).groups()
    assert there != missing
