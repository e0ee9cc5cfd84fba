"""Wrong calls and their error messages: each names the column, the value and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from common import gpu_count

from rapids_trav import (
    EdgeColumnsError,
    Graph,
    TravError,
    TravMemoryError,
    UnknownColumnError,
    UnknownVertexError,
    errors,
)
from rapids_trav.errors import written

EDGES = pd.DataFrame(
    {
        "src": [1, 2, 3],
        "dst": [2, 3, 4],
        "open": [True, False, True],
        "name": ["a", "b", "c"],
        "next": ["b", "c", "d"],
        "cost": [1.0, None, 2.0],
        "sure": pd.array([True, None, False], dtype="boolean"),
    }
)
ALL = "'src', 'dst', 'open', 'name', 'next', 'cost', 'sure'"
TEXT = EDGES["name"].dtype  # str or object, depending on the version of pandas
KNOWN = "give ids that occur in the edges, or add them with graph(vertices=...)."
LEVELS = "give an integer of 0 or more (None searches without limit)."
WHOLE = "which is not a whole number: round it, or use astype(str) to take the values as labels."
INFINITE = "which is not a whole number: drop that row, or use astype(str) to take the values as labels."
LARGE = "which does not fit 64 bits: use astype(str) to take the values as labels."
FRAMES = (
    "give frames of pandas, polars, pyarrow, cuDF or Dask, two arrays, a sparse matrix, or paths of Parquet "
    "files."
)


def replaced(**columns) -> pd.DataFrame:
    return EDGES.assign(**columns)


def build(frame=EDGES, *args, **options):
    return lambda graph: frame.trav.graph(*args, **options)


def bfs(sources, **options):
    return lambda graph: graph.bfs(sources, **options)


PAIRS = (["src", "name"], ["dst", "next"])
UNSIGNED = np.array([2**63, 1, 2], dtype="uint64")
DATE = pd.Timestamp("2020-01-01")
DATES = pd.DataFrame({"src": [DATE], "dst": [DATE + pd.Timedelta(days=1)]}, dtype="datetime64[ns]")

# A call, the kind of its error unless that is TravError, and the sentence.
WRONG = {
    # Selection of the edge columns
    "no default columns": (
        build(EDGES.rename(columns={"src": "from"})[["from", "dst"]]),
        EdgeColumnsError,
        "The edges have neither columns 'src' and 'dst' nor 'source' and 'destination': "
        "name them with src= and dst=, from 'from', 'dst'.",
    ),
    "one column": (
        lambda graph: EDGES[["src"]].trav,
        EdgeColumnsError,
        "A frame of one column holds no edges: .trav needs a column for each end.",
    ),
    "no column": (
        lambda graph: EDGES[[]].trav,
        EdgeColumnsError,
        "A frame of no column holds no edges: .trav needs a column for each end.",
    ),
    "only src": (build(src="src"), "Only one end of the edges is named: give dst= as well."),
    "only dst": (build(dst="dst"), "Only one end of the edges is named: give src= as well."),
    "unknown column": (
        build(EDGES, "a", "dst"), UnknownColumnError, f"Column 'a' is not in the edges: choose one of {ALL}."
    ),
    "unknown among several columns": (
        build(EDGES, ["src", "x"], ["dst", "name"]),
        UnknownColumnError,
        f"Column 'x' is not in the edges: choose one of {ALL}.",
    ),
    "one column for both ends": (
        build(EDGES, "src", "src"), "src and dst both name 'src': give each end its own column."
    ),
    "ends of different width": (
        build(EDGES, ["src", "name"], "dst"),
        "src names 2 columns and dst names 1: give both ends the same number, at least one.",
    ),
    "empty lists of columns": (
        build(EDGES, [], []),
        "src names 0 columns and dst names 0: give both ends the same number, at least one.",
    ),
    "column twice": (
        build(pd.concat([EDGES, EDGES[["src"]]], axis=1)),
        "Column 'src' occurs 2 times in the edges: rename all but one.",
    ),
    # Contents of the edge columns
    "nulls": (
        build(replaced(src=[1.0, None, None])),
        "Column 'src' holds 2 nulls, and a null is not a vertex: "
        "drop those rows first, with edges.dropna(subset=['src']).",
    ),
    "null among strings": (
        build(replaced(src=["a", None, "c"], dst=["b", "c", "d"])),
        "Column 'src' holds 1 null, and a null is not a vertex: "
        "drop that row first, with edges.dropna(subset=['src']).",
    ),
    "null among nullable integers": (
        build(replaced(dst=pd.array([1, None, 3], dtype="Int64"))),
        "Column 'dst' holds 1 null, and a null is not a vertex: "
        "drop that row first, with edges.dropna(subset=['dst']).",
    ),
    "fraction": (build(replaced(dst=[1.0, 2.5, 3.0])), f"Column 'dst' holds 2.5, {WHOLE}"),
    "infinity": (build(replaced(dst=[1.0, np.inf, 3.0])), f"Column 'dst' holds inf, {INFINITE}"),
    "float beyond 64 bits": (
        build(replaced(src=[1e19, 1.0, 2.0])), f"Column 'src' holds 1e+19, {LARGE}"
    ),
    "booleans": (
        build(EDGES, "src", "open"),
        "Column 'open' is boolean, and booleans cannot be ids: convert it, for example with astype('int8').",
    ),
    "complex numbers": (
        build(replaced(src=1j)),
        "Column 'src' is complex, which has no order: use integers or strings as ids.",
    ),
    "integers and strings": (
        build(EDGES, "src", "name"),
        f"Columns 'src' (int64) and 'name' ({TEXT}) hold different kinds of id: "
        "convert one, for example with astype(str).",
    ),
    "dates and strings": (
        build(replaced(src=pd.Series([DATE] * 3, dtype="datetime64[ns]")), "src", "name"),
        f"Columns 'src' (datetime64[ns]) and 'name' ({TEXT}) hold different kinds of id: "
        "convert one, for example with astype(str).",
    ),
    "several kinds in one column": (
        build(replaced(dst=pd.Series([1, "b", 3], dtype=object))),
        "Column 'dst' mixes int and str: convert it to one kind of id, for example with astype(str).",
    ),
    "boolean categories": (
        build(EDGES.astype({"open": "category"}), "src", "open"),
        "Column 'open' is boolean, and booleans cannot be ids: convert it, for example with astype('int8').",
    ),
    "intervals": (
        build(replaced(src=pd.interval_range(0, 3), dst=pd.interval_range(1, 4))),
        "Column 'src' holds intervals, which cannot be ids: convert it, for example with astype(str).",
    ),
    "lists": (
        build(replaced(src=[[1], [2], [3]])),
        "Column 'src' holds [1], which cannot be an id: put its parts into separate columns.",
    ),
    "integers beyond 64 bits": (
        build(replaced(src=pd.Series([2**70, 1, 2], dtype=object))), f"Column 'src' holds {2**70}, {LARGE}"
    ),
    "fraction among Python's integers": (
        build(replaced(src=pd.Series([2**60, 2.5, 2], dtype=object))), f"Column 'src' holds 2.5, {WHOLE}"
    ),
    "half precision infinity": (
        build(replaced(src=np.array([1, np.inf, 2], dtype="float16"))), f"Column 'src' holds inf, {INFINITE}"
    ),
    "Python's integers reach too far": (
        build(replaced(src=pd.Series([2**63 + 5, -1, 2], dtype=object))),
        "The ids reach from -1 to 9223372036854775813, which no integer type holds: "
        "shift the negative ones, or use astype(str) to take the values as labels.",
    ),
    "objects without an order": (
        build(replaced(src=pd.Series([1j, 2j, 3j], dtype=object), dst=pd.Series([2j, 3j, 4j], dtype=object))),
        "Columns 'src' and 'dst' hold values that have no common order "
        "('<' not supported between instances of 'complex' and 'complex'): "
        "convert them, for example with astype(str).",
    ),
    "negative beside the largest unsigned": (
        build(replaced(src=[-1, 2, 3], dst=UNSIGNED)),
        "The ids reach from -1 to 9223372036854775808, which no integer type holds: "
        "shift the negative ones, or use astype(str) to take the values as labels.",
    ),
    # Type of the edges
    "no frame": (lambda graph: Graph.from_edges(17), f"edges holds an object of type int: {FRAMES}"),
    "a dict": (
        lambda graph: Graph.from_edges({"src": [1], "dst": [2]}),
        "edges is a dict: make a frame of it first, for example with pandas.DataFrame.",
    ),
    "a column for the name of one": (
        build(EDGES, EDGES["src"], "dst"),
        "src holds a Series, not the name of a column: "
        "give the name of a column of the edges, or a list of names.",
    ),
    "index of unknown names": (
        build(EDGES, pd.Index(["a"]), "dst"),
        UnknownColumnError,
        f"Column 'a' is not in the edges: choose one of {ALL}.",
    ),
    "a list with something else": (
        lambda graph: Graph.from_edges([EDGES, np.zeros(3)]),
        f"edges holds an object of type numpy.ndarray: {FRAMES}",
    ),
    "no frames": (
        lambda graph: Graph.from_edges([]),
        "edges is an empty sequence: give at least one frame, which may have no rows.",
    ),
    "frames with other columns": (
        lambda graph: Graph.from_edges([EDGES, EDGES[["src", "dst"]]]),
        UnknownColumnError,
        "Column 'open' is in the first edge frame but not in a later one: give all of them the same columns.",
    ),
    "no such file": (
        lambda graph: Graph.from_edges("nowhere.parquet"),
        "Edges nowhere.parquet do not exist: check the path.",
    ),
    # Options of the graph
    "unknown engine": (
        build(engine="gpu"), "engine='gpu' is not known: choose one of 'auto', 'cpu', 'cuda'."
    ),
    "unknown weight": (
        build(weight="toll"), UnknownColumnError, f"Column 'toll' is not in the edges: choose one of {ALL}."
    ),
    "weight that is no number": (
        build(weight="name"),
        f"weight='name' is a column of {TEXT}: name a numeric one, or convert it with astype.",
    ),
    "weight with nulls": (
        build(weight="cost"),
        "weight='cost' holds 1 null or NaN: fill it first, for example with fillna(0.0).",
    ),
    "vertices of another kind": (
        build(vertices=["a"]),
        f"Columns 'src' (int64) and 'vertices' ({TEXT}) hold different kinds of id: "
        "convert one, for example with astype(str).",
    ),
    "directed that is no flag": (
        build(directed="yes"), "directed='yes' is neither True nor False: give one of them."
    ),
    "vertices beyond 64 bits": (
        build(vertices=2**70),
        f"vertices holds {2**70}, which is no integer of 64 bits: leave it out, or give all ids as strings.",
    ),
    "null vertices": (
        build(vertices=[1, None]), "vertices holds 1 null, and a null is not a vertex: leave it out."
    ),
    "vertices of another width": (
        build(EDGES, *PAIRS, vertices=[1, 2]),
        "vertices holds 1, but ids have 2 columns: give tuples of 2 values.",
    ),
    # Sources of a search
    "unknown source": (bfs(99), UnknownVertexError, f"sources contains 1 unknown vertex: 99: {KNOWN}"),
    "unknown sources": (
        bfs(range(3, 100)),
        UnknownVertexError,
        f"sources contains 95 unknown vertices: 5, 6, 7, 8, 9 and 90 more: {KNOWN}",
    ),
    "fraction as a source": (
        bfs(1.5),
        UnknownVertexError,
        f"sources contains 1 unknown vertex: 1.5: {KNOWN}",
    ),
    "source beyond 64 bits": (
        bfs(2**64), UnknownVertexError, f"sources contains 1 unknown vertex: 18446744073709551616: {KNOWN}"
    ),
    "unknown string": (
        lambda graph: EDGES.trav.bfs("z", src="name", dst="next"),
        UnknownVertexError,
        f"sources contains 1 unknown vertex: 'z': {KNOWN}",
    ),
    "unknown pair": (
        lambda graph: EDGES.trav.graph(*PAIRS).bfs((1, "b")),
        UnknownVertexError,
        f"sources contains 1 unknown vertex: (1, 'b'): {KNOWN}",
    ),
    "no pair": (
        lambda graph: EDGES.trav.graph(*PAIRS).bfs("ab1"),
        "sources holds 'a', but ids have 2 columns: give tuples of 2 values.",
    ),
    "graph without vertices": (
        lambda graph: EDGES.iloc[:0].trav.bfs(1),
        UnknownVertexError,
        "sources names a vertex, but the graph has none, since its edges have no rows: give edges or "
        "graph(vertices=...).",
    ),
    "graph without vertices, no sources": (
        lambda graph: EDGES.iloc[:0].trav.bfs([]), "sources is empty: give at least one vertex id."
    ),
    "graph without vertices, None": (
        lambda graph: EDGES.iloc[:0].trav.bfs(None),
        "sources is None, which names no vertex: give at least one vertex id."
    ),
    "long unknown string": (
        lambda graph: EDGES.trav.bfs("x" * 10**6, src="name", dst="next"),
        UnknownVertexError,
        f"sources contains 1 unknown vertex: '{'x' * 99}...: {KNOWN}",
    ),
    "integer too long to write": (
        bfs(10**5000),
        UnknownVertexError,
        f"sources contains 1 unknown vertex: an integer of 16610 bits: {KNOWN}",
    ),
    "infinite source": (bfs(np.inf), UnknownVertexError, f"sources contains 1 unknown vertex: inf: {KNOWN}"),
    "two dimensions": (
        bfs(np.zeros((2, 2), int)), "sources has 2 dimensions: give a flat sequence of ids."
    ),
    "index of levels": (
        bfs(pd.MultiIndex.from_tuples([(1, 2)])), "sources has several levels: give a flat sequence of ids."
    ),
    "string among integers": (
        bfs([1, "a"]), "sources holds 'a', but the graph's ids are int64: convert one to the other."
    ),
    "list for a string": (
        lambda graph: EDGES.trav.bfs([["a"]], src="name", dst="next"),
        (
            "sources holds values that are not ids (unhashable type: 'list'): give a flat sequence."
            if not pd.api.types.is_extension_array_dtype(TEXT)
            else f"sources holds ['a'], but the graph's ids are {TEXT}: convert one to the other."
        ),
    ),
    "no date": (
        lambda graph: DATES.trav.bfs("garbage"),
        "sources holds 'garbage', but the graph's ids are datetime64[ns]: convert one to the other.",
    ),
    "date with a zone": (
        lambda graph: DATES.trav.bfs(DATE.tz_localize("UTC")),
        "sources holds Timestamp('2020-01-01 00:00:00+0000', tz='UTC'), "
        "but the graph's ids are datetime64[ns]: convert one to the other.",
    ),
    "date without a zone": (
        lambda graph: DATES.apply(lambda column: column.dt.tz_localize("UTC")).trav.bfs(DATE),
        "sources holds Timestamp('2020-01-01 00:00:00'), "
        "but the graph's ids are datetime64[ns, UTC]: convert one to the other.",
    ),
    "date finer than the ids": (
        lambda graph: DATES.astype("datetime64[s]").trav.bfs(DATE + pd.Timedelta("1ms")),
        UnknownVertexError,
        f"sources contains 1 unknown vertex: Timestamp('2020-01-01 00:00:00.001000'): {KNOWN}",
    ),
    "no sources": (bfs([]), "sources is empty: give at least one vertex id."),
    "no sources at all": (
        bfs(None), "sources is None, which names no vertex: give at least one vertex id."
    ),
    "null source": (
        bfs([1, None]), "sources holds 1 null, and a null is not a vertex: leave it out."
    ),
    "boolean source": (
        bfs(True), "sources holds True, but the graph's ids are int64: convert one to the other."
    ),
    "string for integers": (
        bfs("1"), "sources holds '1', but the graph's ids are int64: convert one to the other."
    ),
    "integer for strings": (
        lambda graph: EDGES.trav.bfs(1, src="name", dst="next"),
        f"sources holds 1, but the graph's ids are {TEXT}: convert one to the other.",
    ),
    "frame of other width": (
        bfs(EDGES[["src", "dst"]]),
        "sources is a frame of 2 columns, but the graph's ids have 1: select the columns that hold the ids.",
    ),
    # Options of a search
    "unknown mode": (
        bfs(1, mode="multi"), "mode='multi' is not known: choose one of 'joint', 'each'."
    ),
    "unknown direction": (
        bfs(1, direction="up"), "direction='up' is not known: choose one of 'out', 'in', 'both'."
    ),
    "variant of the other engine": (
        bfs(1, variant="fused"),
        "variant='fused' is not known: choose one of 'auto', 'push', 'pull', 'edge', 'frontier', 'direction' "
        "of the cpu engine.",
    ),
    "unknown policy": (
        bfs(1, tuning={"policy": "greedy"}), "policy='greedy' is not known: choose one of 'gap', 'beamer'."
    ),
    "policy of a variant that does not turn": (
        bfs(1, tuning={"policy": "gap"}, variant="push"),
        "policy='gap' applies only to the variant 'direction': leave it out, or give variant='direction' as "
        "well, which a graph on workers does not take.",
    ),
    "policy of levels": (
        lambda graph: graph.levels(1, tuning={"policy": "beamer"}),
        "policy='beamer' applies only to the variant 'direction': leave it out, or give variant='direction' "
        "as well, which a graph on workers does not take.",
    ),
    "negative depth": (
        bfs(1, depth_limit=-1), f"depth_limit=-1 is not a number of levels: {LEVELS}"
    ),
    "fractional depth": (
        bfs(1, depth_limit=2.0), f"depth_limit=2.0 is not a number of levels: {LEVELS}"
    ),
    "boolean depth": (
        bfs(1, depth_limit=True), f"depth_limit=True is not a number of levels: {LEVELS}"
    ),
    "predecessors that is no flag": (
        bfs(1, predecessors="no"), "predecessors='no' is neither True nor False: give one of them."
    ),
    "reached_only that is no flag": (
        bfs(1, reached_only="False"), "reached_only='False' is neither True nor False: give one of them."
    ),
    "unknown target": (
        bfs(1, targets=[2, 50]), UnknownVertexError, f"targets contains 1 unknown vertex: 50: {KNOWN}"
    ),
    "no targets": (
        lambda graph: graph.paths(1, []), "targets is empty: give at least one vertex id."
    ),
    "unknown seed": (
        lambda graph: graph.khop([1, 50], 1),
        UnknownVertexError,
        f"seeds contains 1 unknown vertex: 50: {KNOWN}",
    ),
    "no number of hops": (
        lambda graph: graph.khop(1, None), "k=None is not a number of steps: give an integer of 0 or more."
    ),
    "unknown direction of degrees": (
        lambda graph: graph.degrees("up"), "direction='up' is not known: choose one of 'out', 'in', 'both'."
    ),
    # Filters of the edges
    "unknown filter": (
        bfs(1, where="shut"),
        UnknownColumnError,
        f"Column 'shut' is not in the edges: choose one of {ALL}; "
        "after adding a column, build the graph again."
    ),
    "filter that is not boolean": (
        bfs(1, where="src"),
        "where='src' is a column of int64: compare it with a value, as in where='src > 3', or name a boolean "
        "one.",
    ),
    "filter with nulls": (
        bfs(1, where="sure"),
        "where='sure' holds 1 null: fill it first, with edges['sure'].fillna(False) or, in polars, "
        "fill_null(False).",
    ),
    "filter that is no column name": (
        bfs(1, where=["open"]),
        "where is a list: give the name of a column, a condition such as 'weight > 3', or an array or Series "
        "of booleans.",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", WRONG)
def test_wrong_call(case):
    call, *kinds, sentence = WRONG[case]
    with pytest.raises(TravError) as caught:
        call(EDGES.trav.graph(directed=True))
    assert str(caught.value) == sentence
    public = next(of for of in type(caught.value).__mro__ if of.__module__ in (errors.__name__, "builtins"))
    assert [public] == (kinds or [TravError])


QUESTIONS = [
    *({}, {"depth_limit": 0}, {"targets": [4]}, {"trace": True}, {"predecessors": False}, {"mode": "each"}),
    *({"deterministic": True}, {"direction": "in"}, {"where": "open"}, {"reached_only": True}),
    {"variant": "push"},
]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("limit", [None, "100 MB"])
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_an_unknown_source_is_told_whatever_is_asked(frame_library, question, limit, directed):
    edges = frame_library.DataFrame(EDGES[["src", "dst", "open"]])
    graph = edges.trav.graph(directed=directed, memory_limit=limit)
    for source in (99, 2**40):
        with pytest.raises(UnknownVertexError, match=f"sources contains 1 unknown vertex: {source}:"):
            graph.bfs(source, **question)


def test_a_graph_without_vertices_knows_no_source(frame_library):
    graph = frame_library.DataFrame(EDGES[["src", "dst"]]).head(0).trav.graph()
    with pytest.raises(UnknownVertexError, match="the graph has none"):
        graph.bfs(1)


def test_strings_that_are_no_unicode():
    lone = pd.DataFrame({"src": ["\ud800", "b"], "dst": ["b", "c"]}, dtype=object)
    if str(TEXT) != "object":  # as Python objects, such strings are ids like any other
        with pytest.raises(TravError, match="Column 'src' holds a string that is not valid Unicode"):
            lone.trav.graph()
    with pytest.raises(UnknownVertexError, match="sources contains 1 unknown vertex: "):
        EDGES.trav.bfs("\ud800", src="name", dst="next")


@pytest.mark.parametrize("value", [5, "", True, b"folder", ["folder"]])
@pytest.mark.parametrize("option", ["checkpoint", "open", "save", "spill"])
def test_what_is_no_path(option, value):
    graph = EDGES.trav.graph()
    wrong = {
        "checkpoint": lambda: graph.pagerank(checkpoint=value),
        "open": lambda: Graph.open(value),
        "save": lambda: graph.save(value),
        "spill": lambda: EDGES.trav.graph(spill=value),
    }[option]
    what = option if option in ("checkpoint", "spill") else "folder"
    with pytest.raises(TravError) as error:
        wrong()
    assert str(error.value) == f"{what}={value!r} is not a path: give the name of a folder."


def test_paths_to_the_wrong_thing(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for options in ({}, {"memory_limit": 1000}):
        with pytest.raises(TravError, match=r"spill='.*file' is a file: name an existing folder\."):
            EDGES.trav.graph(spill=file, **options)
    with pytest.raises(TravError, match=r"checkpoint='.*file' cannot be made a folder: File exists; name an"):
        EDGES.trav.graph().pagerank(checkpoint=file)
    with pytest.raises(TravError, match=r"verify='yes' is neither True nor False: give one of them\."):
        Graph.open(tmp_path, verify="yes")


def test_unknown_options_are_refused_by_python():
    with pytest.raises(TypeError, match="depht_limit"):
        EDGES.trav.graph().bfs(1, depht_limit=2)
    with pytest.raises(TypeError, match="hops"):
        EDGES.trav.khop(1, 1, hops=2)


def test_engine_without_a_gpu():
    if gpu_count():
        pytest.skip("there is a GPU")
    with pytest.raises((TravError, RuntimeError)):
        EDGES.trav.graph(engine="cuda")


def test_errors_are_what_python_calls_them():
    assert issubclass(TravError, ValueError)
    assert issubclass(UnknownVertexError, KeyError)
    assert issubclass(UnknownColumnError, KeyError)
    assert issubclass(EdgeColumnsError, AttributeError)
    assert issubclass(TravMemoryError, MemoryError)
    assert str(UnknownVertexError("a sentence")) == "a sentence"


def test_a_graph_survives_a_wrong_question():
    graph = EDGES.trav.graph(directed=True)
    before = graph.bfs(1)
    for case in ("unknown source", "filter with nulls", "unknown filter", "negative depth"):
        with pytest.raises(TravError):
            WRONG[case][0](graph)
    pd.testing.assert_frame_equal(graph.bfs(1), before)


def test_a_value_is_shown_as_it_is():
    """Blanks in a string are kept; an array is written on one line."""
    assert written("a  b\n") == "'a  b\\n'"
    assert written(np.ones((2, 2))) == "array([[1., 1.], [1., 1.]])"
    assert written(np.int64(3)) == "3"
