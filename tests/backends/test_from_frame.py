"""`from_pandas_edgelist` of the backend gives the same graph as NetworkX's loop over the rows."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx_cases import plain
from random_graphs import common

from rapids_trav.backends.from_frame import structure_of_frame
from rapids_trav.backends.graphs import LAZY, TravDiGraph, TravGraph
from rapids_trav.backends.interface import backend

original = nx.utils.backends._registered_algorithms["from_pandas_edgelist"].orig_func
IDS = {
    "dense": st.integers(-3, 6),
    "wide": st.sampled_from([-(2**62) - 1, 5, 2**62 + 1, 0]),
    "text": st.sampled_from(["a", "b", "ä", ""]),
}


@st.composite
def frames(draw):
    ids = IDS[draw(st.sampled_from(list(IDS)))]
    rows = draw(st.lists(st.tuples(ids, ids, st.integers(0, 9), st.floats(0, 1)), min_size=1, max_size=30))
    frame = pd.DataFrame(rows, columns=["source", "target", "w", "x"])
    if frame["source"].dtype != np.int64:
        frame = frame.astype({"source": draw(st.sampled_from(["object", "str"])), "target": "object"})
    return frame


@common
@given(
    frame=frames(),
    edge_attr=st.sampled_from([None, True, "w", ["x", "w"]]),
    kind=st.sampled_from([None, nx.Graph, nx.DiGraph, TravGraph, TravDiGraph]),
)
def test_nodes_rows_and_attributes_are_in_networkx_order(frame, edge_attr, kind):
    own = backend.from_pandas_edgelist(frame, edge_attr=edge_attr, create_using=kind)
    assert LAZY in own.__dict__
    theirs = original(frame, edge_attr=edge_attr, create_using=kind)
    source = next(iter(theirs))
    for name in ("bfs_edges", "single_source_dijkstra_path_length", "ancestors"):  # before dicts are made
        found = getattr(nx, name)(own, source)
        assert plain(found) == plain(getattr(nx, name)(theirs, source))
    weight = "w" if edge_attr is not None else None
    assert nx.dijkstra_path_length(own, source, source, weight) == 0
    assert nx.single_source_dijkstra(own, source, weight=weight) == nx.single_source_dijkstra(
        theirs, source, weight=weight
    )
    near = nx.ego_graph(own, source, 2)
    assert LAZY in own.__dict__
    assert plain(near) == plain(nx.ego_graph(theirs, source, 2))
    assert plain(own) == plain(theirs)
    assert [type(node) for node in own] == [type(node) for node in theirs]
    if theirs.is_directed():
        assert {v: list(own._pred[v]) for v in own} == {v: list(theirs._pred[v]) for v in theirs}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"source": [1, 2], "target": [2.0, 3.0]}),
        pd.DataFrame({"source": [1, 2], "target": ["a", "b"]}),
        pd.DataFrame({"source": [True, False], "target": [1, 2]}),
        pd.DataFrame({"source": [(1, 2), "x"], "target": ["a", 3]}),
        pd.DataFrame({"source": np.array([1], np.int64), "target": np.array([2**63], np.uint64)}),
        pd.DataFrame({"source": pd.array([1, None], "Int64"), "target": [2, 3]}),
        pd.DataFrame({"source": pd.to_datetime(["2020-01-01"]), "target": pd.to_datetime(["2020-01-02"])}),
        pd.DataFrame({"source": [], "target": []}),
    ],
)
def test_other_columns_take_networkx_own_loop(frame):
    assert structure_of_frame(frame, "source", "target", [], False) is None
    assert list(backend.from_pandas_edgelist(frame).edges) == list(original(frame).edges)


@pytest.mark.parametrize(
    "options",
    [{"edge_attr": "no such"}, {"edge_attr": []}, {"source": "no such"}, {"edge_attr": ["w", "no such"]}],
)
def test_errors_are_networkx_own(options):
    frame = pd.DataFrame({"source": [0], "target": [1], "w": [2]})
    with pytest.raises(Exception) as own:
        backend.from_pandas_edgelist(frame, **options)
    with pytest.raises(own.type):
        original(frame, **options)


def test_multigraphs_and_keys_take_networkx_own_loop():
    frame = pd.DataFrame({"source": [0, 0], "target": [1, 1], "key": ["a", "b"]})
    made = nx.from_pandas_edgelist(frame, create_using=nx.MultiGraph, edge_key="key", backend="trav")
    assert sorted(made.edges(keys=True)) == [(0, 1, "a"), (0, 1, "b")]
    assert made.__networkx_backend__ == "trav"


def test_the_frame_may_change_afterwards():
    frame = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [2, 3]})
    graph = nx.from_pandas_edgelist(frame, edge_attr="weight", backend="trav", create_using=nx.DiGraph)
    frame.loc[:, :] = 7
    assert nx.single_source_dijkstra_path_length(graph, 0) == {0: 0, 1: 2, 2: 5}
    assert nx.ancestors(graph, 2) == {0, 1}


TIMES = pd.to_datetime(["2020-01-01", None, "2020-01-03 04:05:06.123456789"], format="mixed")
COLUMNS = {
    "datetime64[ns]": pd.Series(TIMES),
    "datetime64[us]": pd.Series(TIMES).dt.floor("us").astype("datetime64[us]"),
    "timezone": pd.Series(TIMES).dt.tz_localize("Europe/Oslo"),
    "timedelta": pd.Series(TIMES - TIMES[0]),
    "timestamp[ns][pyarrow]": pd.Series(TIMES).astype("timestamp[ns][pyarrow]"),
    "Int64": pd.Series([1, None, 3], dtype="Int64"),
    "Int64 without nulls": pd.Series([1, 2, 3], dtype="Int64"),
    "Float32": pd.Series([0.1, 0.2, None], dtype="Float32"),
    "int64[pyarrow]": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
    "int64[pyarrow] without nulls": pd.Series([1, 2, 3], dtype="int64[pyarrow]"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "string": pd.Series(["a", None, "b"], dtype="string"),
    "str": pd.Series(["a", None, "b"], dtype="str"),
    "category": pd.Series(["a", None, "b"], dtype="category"),
    "period": pd.Series(TIMES).dt.to_period("D"),
    "float32": pd.Series([0.1, 0.2, 0.3], dtype="float32"),
    "bool": pd.Series([True, False, True]),
    "complex": pd.Series([1j, 2, 3]),
    "lists": pd.Series([[1, 2], [3, 4], [5, 6]]),
    "mixed": pd.Series([1, 2.5, None], dtype=object),
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("name", COLUMNS)
def test_attributes_of_every_type_are_networkx_own(name, kind):
    frame = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "w": [5, 6, 7], "x": COLUMNS[name]})
    for edge_attr in ("x", ["w", "x"], True):
        made = backend.from_pandas_edgelist(frame, edge_attr=edge_attr, create_using=kind)
        assert LAZY in made.__dict__
        theirs = original(frame, edge_attr=edge_attr, create_using=kind)
        ego = nx.ego_graph(made, 0, 2)
        assert LAZY in made.__dict__
        assert repr(plain(ego)) == repr(plain(nx.ego_graph(theirs, 0, 2)))
        assert repr(plain(made)) == repr(plain(theirs))
        assert [type(x) for *_, x in made.edges(data="x")] == [type(x) for *_, x in theirs.edges(data="x")]


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "lists"])
def test_nodes_of_every_type_are_networkx_own(name):
    frame = pd.DataFrame({"source": COLUMNS[name].dropna(), "target": 7})
    made, theirs = backend.from_pandas_edgelist(frame), original(frame)
    assert repr(plain(made)) == repr(plain(theirs))
    assert [type(node) for node in made] == [type(node) for node in theirs]


@pytest.mark.parametrize("name", ["Int64 without nulls", "int64[pyarrow] without nulls", "float32"])
def test_attributes_that_are_numbers_are_weights(name):
    frame = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "x": COLUMNS[name]})
    made = backend.from_pandas_edgelist(frame, edge_attr="x", create_using=nx.DiGraph)
    theirs = original(frame, edge_attr="x", create_using=nx.DiGraph)
    found = nx.single_source_dijkstra_path_length(made, 0, weight="x")
    assert LAZY in made.__dict__
    assert found == nx.single_source_dijkstra_path_length(theirs, 0, weight="x")


@pytest.mark.parametrize("dtype", ["str", "string", object])
@pytest.mark.parametrize("n", [3, 3_000])
def test_nulls_among_strings_are_nodes_as_in_networkx(dtype, n):
    ends = [[f"n{i % 50}" for i in range(n)], [f"n{(7 * i) % 60}" for i in range(n)]]
    ends[0][n // 2] = ends[1][n - 1] = float("nan")
    frame = pd.DataFrame({"source": ends[0], "target": ends[1]}, dtype=dtype)
    own = backend.from_pandas_edgelist(frame, create_using=nx.DiGraph)
    right = nx.from_pandas_edgelist(frame, create_using=nx.DiGraph, backend="networkx")
    assert list(map(str, own)) == list(map(str, right))
    assert list(map(str, own.edges)) == list(map(str, right.edges))
