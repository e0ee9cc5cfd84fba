"""Conversion of graphs and neighbourhoods to NetworkX, igraph and SciPy."""

import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.frames.exchange import EdgeColumns, ends_of

RANDOM = np.random.default_rng(4)
EDGES = pd.DataFrame(RANDOM.integers(0, 25, (60, 2)), columns=["src", "dst"]).drop_duplicates()
EDGES = EDGES[EDGES["src"] <= EDGES["dst"]].assign(km=lambda frame: RANDOM.random(len(frame)), kind="road")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("degree_sort", [False, True])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_networkx_and_scipy(make, degree_sort, directed):
    graph = Graph.from_edges(
        make(EDGES), weight="km", directed=directed, vertices=[99], degree_sort=degree_sort
    )
    kind = nx.DiGraph if directed else nx.Graph
    right = nx.from_pandas_edgelist(EDGES, "src", "dst", ["km", "kind"], kind)
    right.add_node(99)
    found = graph.to_networkx()
    assert type(found) is kind
    assert nx.utils.graphs_equal(found, right)
    assert list(found) == sorted(right)
    adjacency = nx.to_scipy_sparse_array(right, sorted(right), weight="km")
    np.testing.assert_allclose(graph.to_scipy().toarray(), adjacency.toarray())
    hood = graph.khop(3, 1)
    near = nx.ego_graph(right, 3)
    assert set(hood.to_networkx().edges) == set(near.edges) or not directed
    assert nx.is_isomorphic(hood.to_networkx(), near)
    assert nx.get_node_attributes(hood.to_networkx(), "distance") == nx.single_source_shortest_path_length(
        near, 3
    )
    np.testing.assert_allclose(
        hood.to_scipy().toarray(), nx.to_scipy_sparse_array(near, sorted(near), weight="km").toarray()
    )
    assert nx.utils.graphs_equal(pickle.loads(pickle.dumps(hood)).to_networkx(), hood.to_networkx())
    vertices, edges = hood  # still a pair
    assert (len(vertices), len(edges)) == (len(near), near.number_of_edges())


@pytest.mark.parametrize("directed", [False, True])
def test_repeated_edges_are_kept(directed):
    edges = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 1, 0, 2], "w": [1, 2, 4, 8]})
    graph = edges.trav.graph(directed=directed, weight="w")
    found = graph.to_networkx()
    assert type(found) is (nx.MultiDiGraph if directed else nx.MultiGraph)
    assert found.number_of_edges() == 4
    right = [[0, 3, 0], [4, 0, 0], [0, 0, 8]] if directed else [[0, 7, 0], [7, 0, 0], [0, 0, 8]]
    assert graph.to_scipy().toarray().tolist() == right
    assert edges.trav.graph(directed=True).to_scipy().toarray().tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 1]]


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = Graph.from_edges(EDGES, weight="km", directed=True, vertices=[99])
    found = graph.to_igraph()
    assert isinstance(found, igraph.Graph)
    assert found.is_directed()
    assert found.vs["name"] == sorted({*EDGES["src"], *EDGES["dst"], 99})
    named = [(found.vs[edge.source]["name"], found.vs[edge.target]["name"]) for edge in found.es]
    assert named == list(EDGES[["src", "dst"]].itertuples(index=False, name=None))
    assert found.es["km"] == EDGES["km"].tolist()
    near = graph.khop(3, 2)
    assert near.to_igraph().vs["distance"] == near.vertices["distance"].tolist()


def test_ids_of_other_types():
    edges = pd.DataFrame({"a": ["x", "x"], "b": [1, 2], "c": ["x", "y"], "d": [2, 1]})
    assert list(edges.trav.graph(["a", "b"], ["c", "d"]).to_networkx().edges) == [
        (("x", 1), ("x", 2)), (("x", 2), ("y", 1))
    ]  # fmt: skip
    mixed = pd.DataFrame(
        {"src": pd.Categorical(["a", "b"]), "dst": pd.Categorical(["b", "c"]), "n": [None, 1.5]}
    )
    found = mixed.trav.graph().to_networkx()
    assert list(found.edges) == [("a", "b"), ("b", "c")]
    whole = pd.DataFrame({"src": [0.0, 1.0], "dst": [1, 2], "m": pd.array([1, None], "Int64")})
    told = whole.trav.graph().to_networkx()
    assert list(told.edges(data="m")) == [(0, 1, 1), (1, 2, None)]


def test_saved_graphs(tmp_path):
    graph = EDGES.trav.graph(weight="km")
    graph.save(tmp_path / "saved")
    again = Graph.open(tmp_path / "saved", engine="cpu")
    assert (again.to_scipy() != graph.to_scipy()).nnz == 0
    assert set(again.to_networkx().edges) == set(graph.to_networkx().edges)


@pytest.mark.parametrize(("method", "package"), [
    ("to_networkx", "networkx"), ("to_igraph", "igraph"), ("to_scipy", "scipy")
])  # fmt: skip
def test_a_missing_library_is_named(monkeypatch, method, package):
    for name in (package, f"{package}.sparse"):
        monkeypatch.setitem(sys.modules, name, None)
    graph = pd.DataFrame({"src": [0], "dst": [1]}).trav.graph()
    for asked in (graph, graph.khop(0, 1)):
        with pytest.raises(TravError, match=rf"^{method}\(\) needs {package}, .* pip install {package}\.$"):
            getattr(asked, method)()


def test_none_of_them_is_imported_before():
    code = (
        "import sys, pandas, rapids_trav; graph = pandas.DataFrame({'src': [0], 'dst': [1]}).trav.graph(); "
        "graph.khop(0, 1); "
        "print([name for name in ('networkx', 'igraph', 'polars', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("names", [["w", "w"], [1, "1"]])
@pytest.mark.parametrize("method", ["to_networkx", "to_igraph"])
def test_attributes_of_one_name_are_refused(names, method):
    edges = pd.DataFrame([[0, 1, 2, 3]], columns=["src", "dst", *names])
    if method == "to_igraph":
        pytest.importorskip("igraph")
    elif len(set(names)) > 1:
        assert edges.trav.graph().to_networkx().edges[0, 1] == {1: 2, "1": 3}
        return
    with pytest.raises(TravError, match=r"^Column .* occurs 2 times in the edges, .*: rename all but one\.$"):
        getattr(edges.trav.graph(), method)()
    with pytest.raises(TravError, match="occurs 2 times"):
        getattr(edges.trav.graph().khop(0, 1), method)()


@pytest.mark.parametrize(("width", "shown"), [(1, "7"), (2, r"\(7, 8\)")])
def test_ends_that_are_no_vertices_are_named(width, shown):
    names = [["src", "src2"][:width], ["dst", "dst2"][:width]]
    columns = EdgeColumns(*names, None, False)
    vertices = pd.DataFrame([[0, 0], [1, 1]])[[*range(width)]].set_axis(columns.vertex, axis=1)
    edges = pd.DataFrame([[0, 0, 1, 1], [1, 1, 7, 8]], columns=["src", "src2", "dst", "dst2"])
    with pytest.raises(
        TravError, match=f"^The edges lead to {shown}, which is not among the vertices: give "
    ):
        ends_of(vertices, edges, columns)


@pytest.mark.parametrize(
    "dtype, value",
    [("int8", 100), ("int32", 2**31 - 1), ("int64", 2**61), ("float16", 60_000), ("float32", 2**24 + 2)],
)
def test_weights_of_repeated_edges_are_added_without_overflow(dtype, value):
    edges = pd.DataFrame({"src": [0, 0, 1], "dst": [1, 1, 2], "km": np.array([value, value, 1], dtype)})
    value = int(edges["km"].iloc[0])
    graph = edges.trav.graph(weight="km")
    for matrix in (graph.to_scipy(), graph.khop(0, 2).to_scipy()):
        assert int(matrix[0, 1]) == int(matrix[1, 0]) == 2 * value
