"""Every kind of input gives the same answers to every question, in frames of the caller's library."""

import pickle

import common
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from rapids_trav import (
    EdgeColumnsError,
    Graph,
    Program,
    TravError,
    TravWarning,
    UnknownColumnError,
    UnknownVertexError,
)

RANDOM = np.random.default_rng(18)
N_VERTICES, N_EDGES = 60, 150
EDGES = pd.DataFrame(
    {
        "src": RANDOM.integers(0, N_VERTICES, N_EDGES),
        "dst": RANDOM.integers(0, N_VERTICES, N_EDGES),
        "weight": RANDOM.integers(1, 9, N_EDGES).astype(float),
    }
).drop_duplicates(["src", "dst"], ignore_index=True)  # a matrix holds each entry once
EDGES = EDGES.sort_values(["src", "dst"], ignore_index=True)
EDGES["open"] = RANDOM.random(len(EDGES)) < 0.8
TABLE = pa.Table.from_pandas(EDGES, preserve_index=False)
POLARS = pl.DataFrame(EDGES)
ENDS = [EDGES[name].to_numpy() for name in ("src", "dst", "weight")]


class Stream:
    """Object that offers only an Arrow stream, which can be read once."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self._table = self._table, None
        return table.__arrow_c_stream__(requested_schema)


def matrix(kind, shape="array"):
    made = getattr(sparse, f"coo_{shape}")((ENDS[2], (ENDS[0], ENDS[1])), shape=(N_VERTICES, N_VERTICES))
    return made.asformat(kind)


# A function that makes the input, since some can be read only once, and the type of frame of the answers.
INPUTS = {
    "polars": (lambda: POLARS, pl.DataFrame),
    "polars in chunks": (lambda: pl.concat([POLARS[:70], POLARS[70:]], rechunk=False), pl.DataFrame),
    "polars frames": (lambda: [POLARS[:70], POLARS[70:]], pl.DataFrame),
    "polars from a function": (lambda: lambda: iter([POLARS[:70], POLARS[70:]]), pl.DataFrame),
    "pyarrow": (lambda: TABLE, pa.Table),
    "pyarrow batches": (lambda: TABLE.to_batches(max_chunksize=40), pa.Table),
    "pyarrow from a function": (lambda: lambda: iter(TABLE.to_batches(max_chunksize=40)), pa.Table),
    "pyarrow batch": (lambda: TABLE.combine_chunks().to_batches()[0], pa.Table),
    "pyarrow reader": (lambda: TABLE.to_reader(max_chunksize=40), pa.Table),
    "stream": (lambda: Stream(TABLE), pd.DataFrame),
    "duckdb": (lambda: duckdb.from_arrow(TABLE), pd.DataFrame),
    "NumPy arrays": (lambda: tuple(ENDS), pd.DataFrame),
    "pandas columns": (lambda: (EDGES.src, EDGES.dst.set_axis(EDGES.index[::-1]), ENDS[2]), pd.DataFrame),
    "polars columns": (lambda: tuple(POLARS[name] for name in POLARS.columns[:3]), pl.DataFrame),
    "pyarrow columns": (lambda: tuple(TABLE[name] for name in TABLE.column_names[:3]), pa.Table),
    "coo_array": (lambda: matrix("coo"), pd.DataFrame),
    "csr_matrix": (lambda: matrix("csr", "matrix"), pd.DataFrame),
    "csc_array": (lambda: matrix("csc"), pd.DataFrame),
    "lil_array": (lambda: matrix("lil"), pd.DataFrame),
}  # fmt: skip
WITHOUT_COLUMNS = ("NumPy", "pandas c", "polars c", "pyarrow c", "coo", "csr", "csc", "lil")
LEAST = Program("least", dtype="int64", reducer="min")
QUESTIONS = {
    "bfs": lambda graph: graph.bfs(3, deterministic=True),
    "bfs of each": lambda graph: graph.bfs([3, 5], mode="each", deterministic=True),
    "bfs of some": lambda graph: graph.bfs([3, 5], depth_limit=2, reached_only=True, deterministic=True),
    "paths": lambda graph: graph.paths(3, [9, 20], deterministic=True),
    "khop vertices": lambda graph: graph.khop(3, 2).vertices,
    "khop edges": lambda graph: in_order(graph.khop(3, 2).edges),
    "levels": lambda graph: graph.levels(3),
    "degrees": lambda graph: graph.degrees(),
    "components": lambda graph: graph.components(),
    "sssp": lambda graph: graph.sssp(3, predecessors=False),
    "pagerank": lambda graph: graph.pagerank(),
    "run": lambda graph: graph.run(LEAST, initial=range(graph.n_vertices)),
    "trace": lambda graph: untimed(graph.bfs(3, trace=True).trace),
}  # fmt: skip


def rows(frame):
    """Return the rows of a frame of any library, with None for null."""
    if isinstance(frame, pl.DataFrame):
        return frame.rows()
    if isinstance(frame, pa.Table):
        return [tuple(row.values()) for row in frame.to_pylist()]
    return common.rows(frame)


def names(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def in_order(frame):
    """Return ends and weights, sorted since rows come in input order: by column from a CSC matrix."""
    kept = (
        frame[["src", "dst", "weight"]]
        if not isinstance(frame, pa.Table)
        else frame.select(["src", "dst", "weight"])
    )
    if isinstance(kept, pl.DataFrame):
        return kept.sort("src", "dst")
    return kept.sort_by([("src", "ascending"), ("dst", "ascending")]) if isinstance(kept, pa.Table) else (
        kept.sort_values(["src", "dst"])
    )  # fmt: skip


def untimed(frame):
    if isinstance(frame, pa.Table):
        return frame.drop_columns(["milliseconds"])
    return (
        frame.drop("milliseconds") if isinstance(frame, pl.DataFrame) else frame.drop(columns="milliseconds")
    )


def build(edges, **options):
    weight = {} if isinstance(edges, tuple) or sparse.issparse(edges) else {"weight": "weight"}
    return Graph.from_edges(edges, vertices=range(N_VERTICES), directed=True, **weight, **options)


@pytest.fixture(scope="module")
def expected():
    graph = build(EDGES)
    return {name: ask(graph) for name, ask in QUESTIONS.items()}


@pytest.mark.parametrize("kind", INPUTS)
def test_all_questions_have_the_answers_that_pandas_frames_give(kind, expected, tmp_path):
    make, answers = INPUTS[kind]
    graph = build(make())
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (N_VERTICES, len(EDGES), True)
    for name, ask in QUESTIONS.items():
        answer = ask(graph)
        assert type(answer) is answers, name
        assert names(answer) == names(expected[name]), name
        if name == "pagerank":
            found, right = (np.array(rows(frame)) for frame in (answer, expected[name]))
            np.testing.assert_allclose(found, right, rtol=1e-12)
        else:
            assert rows(answer) == rows(expected[name]), name
    graph.save(tmp_path / "saved")
    with Graph.open(tmp_path / "saved", engine="cpu") as again:
        assert common.rows(again.bfs(3, deterministic=True)) == common.rows(expected["bfs"])
        assert again.n_edges == graph.n_edges


@pytest.mark.parametrize("kind", [kind for kind in INPUTS if not kind.startswith(WITHOUT_COLUMNS)])
def test_filters_and_limits_of_memory(kind):
    make, _ = INPUTS[kind]
    expected = build(EDGES).bfs(3, where="open", deterministic=True)
    assert rows(build(make()).bfs(3, where="open", deterministic=True)) == common.rows(expected)
    limited = build(make(), memory_limit="200kB")
    assert limited.budget is not None
    assert rows(limited.bfs(3, where="open", deterministic=True)) == common.rows(expected)
    hood = build(EDGES).khop(3, 1, where="open").edges
    assert rows(limited.khop(3, 1, where="open").edges) == common.rows(hood)


@pytest.mark.parametrize("made", [POLARS, TABLE])
def test_numbers_are_not_copied(made):
    from rapids_trav.edges.sources import open_edges

    (frame,) = open_edges(made).chunks(["src", "dst"])
    held = made["src"].to_numpy() if made is POLARS else made["src"].chunk(0).to_numpy()
    assert np.shares_memory(frame["src"].to_numpy(), held)


def test_all_columns_of_the_edges_come_back_as_they_were():
    frame = pl.DataFrame(
        {
            "src": [0, 0, 1, 2],
            "dst": [1, 2, 2, 3],
            "big": [2**60 + 1, None, 3, 4],
            "list": [[1], [], None, [2]],
            "object": [object(), object(), object(), object()],
            "text": ["a", None, "c", "d"],
        },
        schema_overrides={"object": pl.Object},
    )
    found = Graph.from_edges(frame, directed=True).khop(0, 1).edges
    assert found.schema == frame.schema
    assert found["object"].to_list() == frame["object"].to_list()[:3]
    assert found.drop("object").equals(frame[:3].drop("object"))
    table = frame.drop("object").to_arrow()
    assert Graph.from_edges(table, directed=True).khop(0, 1).edges.equals(table.slice(0, 3))
    relation = duckdb.from_arrow(table.drop_columns(["list"]))
    found = Graph.from_edges(relation, directed=True).khop(1, 1).edges
    assert found.index.tolist() == [2]
    assert Graph.from_edges(relation, directed=True).khop(0, 1).edges["big"].tolist()[0] == 2**60 + 1


def test_frames_of_a_function_keep_their_types():
    frame = pl.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "kind": ["x", None]}).cast(
        {"kind": pl.Enum(["y", "x"]), "src": pl.Categorical, "dst": pl.Categorical}
    )
    hood = Graph.from_edges(lambda: iter([frame])).khop("a", 1)
    assert hood.edges.schema == frame.schema
    assert hood.edges.equals(frame[:1])


def test_vertices_are_named_by_any_column():
    graph = Graph.from_edges(POLARS, vertices=pl.Series([200, 201]))
    right = rows(graph.bfs([3, 200], deterministic=True))
    for named in (pl.Series([3, 200]), pa.array([3, 200]), pa.chunked_array([[3], [200]]), np.array([3, 200]),
                  pl.DataFrame({"v": [3, 200]}), pa.table({"v": [3, 200]})):  # fmt: skip
        assert rows(graph.bfs(named, deterministic=True)) == right
    with pytest.raises(UnknownVertexError, match="sources contains 1 unknown vertex: 999"):
        graph.bfs(pl.Series([999]))
    program = Program("least", dtype="int64", reducer="min")
    some = pl.DataFrame({"vertex": [3, 200], "value": [7, 5]})
    right = rows(graph.run(program, initial={3: 7, 200: 5}))
    assert rows(graph.run(program, initial=some)) == right
    assert rows(graph.run(program, initial=some.to_arrow())) == right


def test_nulls_have_the_sentence_of_pandas_frames():
    null = "^Column 'dst' holds 2 nulls, and a null is not a vertex: drop those rows first"
    pandas = pd.DataFrame({"src": [1, 2, 3], "dst": pd.array([1, None, None], "Int64")})
    table = pa.table({"src": [1, 2, 3], "dst": pa.array([1, None, None], pa.int64())})
    for edges in (
        pandas,
        table,
        pl.DataFrame(table),
        duckdb.from_arrow(table),
        [table],
        lambda: iter([table]),
    ):
        with pytest.raises(TravError, match=null):
            Graph.from_edges(edges)
    flags = table.set_column(1, "dst", [[2, 3, 4]]).append_column("open", pa.array([True, None, False]))
    for edges in (flags, pl.DataFrame(flags)):
        with pytest.raises(TravError, match=r"^where='open' holds 1 null: "):
            Graph.from_edges(edges).bfs(1, where="open")
    weights = flags.append_column("km", pa.array([1, None, 3]))
    for edges in (weights, pl.DataFrame(weights)):
        with pytest.raises(TravError, match=r"^weight='km' holds 1 null: "):
            Graph.from_edges(edges, weight="km")


def test_lazy_frames_say_collect():
    for edges in (POLARS.lazy(), [POLARS.lazy()]):
        with pytest.raises(EdgeColumnsError, match=r"collect it first, with frame.collect\(\)"):
            Graph.from_edges(edges)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (pl.Series([1, 2]), r"polars\..*Series, whose Arrow stream gives no rows of a frame"),
        (pa.chunked_array([[1, 2]]), "ChunkedArray, whose Arrow stream gives no rows of a frame"),
        ([POLARS, EDGES], "^The edge frames are of polars and of pandas: convert them to one library"),
        ([TABLE, POLARS], "^The edge frames are of pyarrow and of polars"),
        (lambda: iter([POLARS, TABLE]), "^The edge frames are of polars and of another library"),
        (lambda: iter([POLARS, EDGES]), "^The edge frames are of polars and of another library"),
        (pl.DataFrame({"src": [object()], "dst": [object()]}), "^Arrow cannot hold the columns src, dst"),
        (pl.DataFrame({"src": [[1]], "dst": [[2]]}), "^Column 'src' is of type .*, whose values cannot be"),
        (pl.DataFrame({"a": [1], "b": [2]}), "^The edges have neither columns 'src' and 'dst'"),
        (pa.table([[1], [2], [3]], names=["src", "dst", "dst"]), "^Column 'dst' occurs 2 times in the edges"),
    ],
)  # fmt: skip
def test_what_is_refused(edges, message):
    with pytest.raises(TravError, match=message):
        Graph.from_edges(edges)


def test_frames_that_lack_a_column():
    for edges in ([POLARS, POLARS.drop("open")], lambda: iter([POLARS, POLARS.drop("open")])):
        with pytest.raises(UnknownColumnError, match=r"^Column 'open' is in the first edge frame but"):
            Graph.from_edges(edges)


def test_graphs_of_polars_can_be_pickled():
    graph = build(POLARS)
    again = pickle.loads(pickle.dumps(graph))
    assert again.bfs(3, deterministic=True).equals(graph.bfs(3, deterministic=True))
    assert "polars frames" in repr(again)


def test_a_column_added_later_does_not_reach_the_graph():
    frame = POLARS.clone()
    graph = Graph.from_edges(frame)
    before = graph.khop(3, 1).edges
    frame.insert_column(0, pl.Series("late", [0] * len(frame)))
    frame.drop_in_place("open")
    assert graph.khop(3, 1).edges.equals(before)


def test_nan_of_a_value_is_not_null():
    edges = pl.DataFrame({"src": [0, 1], "dst": [1, 2]})
    program = Program("sum", dtype="float64", reducer="sum")
    answer = Graph.from_edges(edges).run(program, initial=[np.inf, 1.0, -np.inf], max_iterations=1)
    assert answer["value"].null_count() == 0
    assert answer["value"].is_nan().any()


def test_only_the_column_that_arrow_cannot_hold_is_told():
    edges = pl.DataFrame({"src": [1], "dst": [2], "big": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(TravError, match=r"^Arrow cannot hold the column big \(.*\): convert it to numbers"):
        edges.trav.bfs(1, where="big > 3")


def test_a_stream_that_fails_says_so():
    def batches():
        yield pa.record_batch({"src": [1], "dst": [2]})
        raise RuntimeError("the disk is full")

    schema = pa.schema([("src", pa.int64()), ("dst", pa.int64())])
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(
        TravError, match=r"failed while it was read \(the disk is full\): give one that can be"
    ):
        Graph.from_edges(reader)


def test_an_empty_stream_warns_that_it_may_have_been_read():
    table = pa.table({"src": [1], "dst": [2]})
    reader = table.to_reader()
    assert Graph.from_edges(reader).n_vertices == 2
    with pytest.warns(TravWarning, match="gave no rows: it gives its rows only once"):
        assert Graph.from_edges(reader).n_vertices == 0
    assert Graph.from_edges(table[:0]).n_vertices == 0  # a table gives its rows always


def test_offsets_and_indices_outside_their_buffers_are_refused():
    offsets = np.arange(4, dtype=np.int32)
    offsets[2] = 2**30
    texts = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"abc")])
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 9, 1]), pa.array(["a", "b"]), safe=False)
    for column in (texts, codes):
        table = pa.table({"src": column, "dst": ["a", "b", "c"]})
        frame = pd.DataFrame({"src": pd.arrays.ArrowExtensionArray(column), "dst": ["a", "b", "c"]})
        for edges in (table, frame):
            with pytest.raises(TravError, match="Column 'src' is damaged"):
                Graph.from_edges(edges)
    categories = pd.Categorical(["a", "b", "a"])
    categories._ndarray[1] = 77
    with pytest.raises(TravError, match="Column 'src' is damaged"):
        Graph.from_edges(pd.DataFrame({"src": categories, "dst": ["a", "b", "a"]}))


def test_ids_of_two_bytes_have_nulls_in_answers():
    ends = np.array([0, 1, 2, 5], np.float16)
    graph = Graph.from_edges(pa.table({"src": ends[:3], "dst": ends[1:]}), vertices=np.array([9], np.float16))
    answer = graph.bfs(0)
    assert answer["predecessor"].type == pa.float16()
    assert answer["predecessor"].to_pylist() == [None, 0.0, 1.0, 2.0, None]


@pytest.mark.parametrize(
    "column",
    [
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 4], pa.int16()), pa.array(["x", None])),
        pa.array([["a"], [], None, ["b", "c"]], pa.list_(pa.string_view())),
        pa.array(["a", "b", None, "d"], pa.string_view()),
    ],
    ids=lambda column: str(column.type),
)
def test_rows_come_back_with_columns_that_arrow_cannot_take(column):
    table = pa.table({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "other": column})
    graph = Graph.from_edges(table, directed=True)
    for _ in range(2):  # the second time by an index of the rows
        near = graph.khop(3, 2).edges
        assert near.schema == table.schema
        assert near.to_pylist() == [table.to_pylist()[i] for i in (0, 3)]
    assert graph.annotate(table, graph.bfs(0), on="src")["other"].to_pylist() == column.to_pylist()
    with pytest.raises(TravError, match="where="):
        graph.bfs(0, where="other == 1")
