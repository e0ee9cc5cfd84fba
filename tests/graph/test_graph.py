"""Questions to a `Graph`, on frames of pandas and cuDF."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import weakref
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from common import rows, to_pandas

import rapids_trav
from rapids_trav import Graph, TravError, UnknownColumnError, generators
from rapids_trav.algorithms import bfs as bfs_module
from rapids_trav.algorithms.validation import TreeError, check_tree
from rapids_trav.errors import TravMemoryError
from rapids_trav.storage.in_memory import MemoryView

# The nine vertices and fifteen edges of the textbook's figure, in CSR format.
ROW_OFFSETS = [0, 2, 4, 7, 9, 11, 12, 13, 15, 15]
COLUMN_INDICES = [1, 2, 3, 4, 5, 6, 7, 4, 8, 5, 8, 6, 8, 0, 6]
FIGURE = {0: [0, 1, 1, 2, 2, 2, 2, 2, 3], 2: [2, 3, 0, 4, 4, 1, 1, 1, 2]}


@pytest.fixture
def figure(frame_library):
    src = np.repeat(np.arange(9), np.diff(ROW_OFFSETS))
    return frame_library.DataFrame({"src": src, "dst": COLUMN_INDICES})


@pytest.fixture
def edges(frame_library):
    """Directed diamond with a tail, a self-loop and a repeated edge, and one edge in a separate component."""
    return frame_library.DataFrame(
        {
            "src": [10, 10, 20, 30, 40, 50, 10, 70],
            "dst": [20, 30, 40, 40, 50, 50, 20, 80],
            "open": [True, True, False, True, True, True, True, True],
            "cost": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        }
    )


def distances(result) -> dict:
    return {row[0]: row[1] for row in rows(result[["vertex", "distance"]])}


@pytest.mark.parametrize("root", FIGURE)
def test_figure_of_the_textbook(figure, root):
    graph = figure.trav.graph(directed=True)
    for variant in graph.engine.variants:
        result = graph.bfs(root, variant=variant)
        assert to_pandas(result)["distance"].tolist() == FIGURE[root], variant
        check_tree(graph, result, root)


def test_result_columns_and_dtypes(edges):
    result = to_pandas(edges.trav.graph(directed=True).bfs(10))
    assert list(result.columns) == ["vertex", "distance", "predecessor"]
    assert result["vertex"].tolist() == [10, 20, 30, 40, 50, 70, 80]
    assert [str(dtype).lower() for dtype in result.dtypes] == ["int64", "int32", "int64"]
    assert rows(result)[0] == (10, 0, None)
    assert rows(result)[1] == (20, 1, 10)
    assert rows(result)[5] == (70, None, None)


def test_library_of_the_result(edges, frame_library):
    graph = edges.trav.graph()
    hood = graph.khop(10, 1)
    answers = [graph.bfs(10), graph.paths(10, 50), graph.levels(10), graph.memory(), *hood, graph.degrees()]
    assert all(isinstance(answer, frame_library.DataFrame) for answer in answers)
    assert graph.engine.name == ("cpu" if frame_library is pd else "cuda")


def test_undirected_is_the_default(edges):
    graph = edges.trav.graph()
    assert not graph.directed
    assert distances(graph.bfs(50)) == {10: 3, 20: 2, 30: 2, 40: 1, 50: 0, 70: None, 80: None}


def test_directions(edges):
    graph = edges.trav.graph(directed=True)
    assert distances(graph.bfs(40)) == {10: None, 20: None, 30: None, 40: 0, 50: 1, 70: None, 80: None}
    backwards = graph.bfs(40, direction="in")
    assert distances(backwards) == {10: 2, 20: 1, 30: 1, 40: 0, 50: None, 70: None, 80: None}
    check_tree(graph, backwards, 40, direction="in")
    both = graph.bfs(40, direction="both")
    assert distances(both) == {10: 2, 20: 1, 30: 1, 40: 0, 50: 1, 70: None, 80: None}
    check_tree(graph, both, 40, direction="both")


def test_counts_and_repr(edges, frame_library):
    graph = edges.trav.graph(directed=True, weight="cost", vertices=[5])
    assert (graph.n_vertices, graph.n_edges) == (8, 8)
    assert (graph.n_self_loops, graph.n_duplicate_edges) == (1, 1)
    undirected = edges.trav.graph()
    assert (undirected.n_edges, undirected.n_self_loops, undirected.n_duplicate_edges) == (8, 1, 1)
    assert graph.edge_columns == ["src", "dst", "open", "cost"]
    assert graph.weight == "cost"
    assert repr(graph) == (
        f"<Graph: 8 vertices, 8 edges (src to dst, directed), {frame_library.__name__} frames, "
        f"{graph.engine.name} engine>"
    )


def test_opposite_edges_of_an_undirected_graph_repeat_each_other(frame_library):
    edges = frame_library.DataFrame({"src": [1, 2, 2, 3, 3], "dst": [2, 1, 1, 3, 3]})
    graph = edges.trav.graph()
    assert (graph.n_duplicate_edges, graph.n_self_loops) == (3, 2)
    assert edges.trav.graph(directed=True).n_duplicate_edges == 2


def test_isolated_vertices(edges):
    graph = edges.trav.graph(vertices=[5, 10, 99])
    assert graph.n_vertices == 9
    assert rows(graph.bfs(99, reached_only=True)) == [(99, 0, None)]


@pytest.mark.parametrize("vertices", [None, [3, 1, 2]])
def test_no_edges(frame_library, vertices):
    edges = frame_library.DataFrame({"src": np.array([], dtype="int64"), "dst": np.array([], dtype="int64")})
    graph = edges.trav.graph(vertices=vertices)
    assert (graph.n_vertices, graph.n_edges, graph.n_self_loops) == (len(vertices or []), 0, 0)
    if vertices:
        assert distances(graph.bfs(2)) == {1: None, 2: 0, 3: None}
    else:
        assert len(graph.degrees()) == 0
        with pytest.raises(rapids_trav.UnknownVertexError):
            graph.bfs(0)


def test_joint_sources(edges):
    graph = edges.trav.graph(directed=True)
    assert distances(graph.bfs([40, 10, 10, 70])) == {10: 0, 20: 1, 30: 1, 40: 0, 50: 1, 70: 0, 80: 1}


def test_each_source_has_its_own_search(edges):
    graph = edges.trav.graph(directed=True)
    result = graph.bfs([40, 10, 40], mode="each")
    assert list(result.columns) == ["source", "vertex", "distance", "predecessor"]
    answer = rows(result)
    assert [row[0] for row in answer] == [40] * 7 + [10] * 7 + [40] * 7
    assert answer[:7] == answer[14:]
    assert [row[1:] for row in answer[:7]] == rows(graph.bfs(40))
    reached = rows(graph.bfs([40, 70], mode="each", reached_only=True, predecessors=False))
    assert reached == [(40, 40, 0), (40, 50, 1), (70, 70, 0), (70, 80, 1)]


def test_each_in_batches(edges, monkeypatch):
    graph = edges.trav.graph(directed=True)
    sources = [10, 20, 30, 40, 50]
    whole = [
        rows(graph.bfs(sources, mode="each", reached_only=only, deterministic=True)) for only in (False, True)
    ]
    whole += [rows(graph.paths(sources, [50, 20], mode="each")), rows(graph.levels(sources, mode="each"))]
    monkeypatch.setattr(bfs_module, "BATCH_SOURCES", 2)
    parts = [
        rows(graph.bfs(sources, mode="each", reached_only=only, deterministic=True)) for only in (False, True)
    ]
    parts += [rows(graph.paths(sources, [50, 20], mode="each")), rows(graph.levels(sources, mode="each"))]
    assert whole == parts
    traced = graph.bfs(sources, mode="each", trace=True)
    trace = to_pandas(traced.trace)
    assert set(trace["batch"]) >= {0, 1, 2} and trace["batch"].is_monotonic_increasing
    levels = trace.groupby("batch")["level"]
    assert all(group.tolist() == list(range(1, len(group) + 1)) for _, group in levels)


def test_depth_limit(edges):
    graph = edges.trav.graph(directed=True)
    assert rows(graph.bfs(10, depth_limit=0, reached_only=True)) == [(10, 0, None)]
    assert distances(graph.bfs(10, depth_limit=1, reached_only=True)) == {10: 0, 20: 1, 30: 1}
    assert distances(graph.bfs(10, depth_limit=np.int64(2)))[40] == 2
    check_tree(graph, graph.bfs(10, depth_limit=1), 10, depth_limit=1)


def test_targets_end_the_search(edges):
    graph = edges.trav.graph(directed=True)
    found = distances(graph.bfs(10, targets=[20], reached_only=True))
    assert found == {10: 0, 20: 1, 30: 1}
    assert distances(graph.bfs(10, targets=[20, 80]))[50] == 3  # 80 cannot be reached


def test_predecessors_are_left_out(edges):
    assert list(edges.trav.graph().bfs(10, predecessors=False).columns) == ["vertex", "distance"]


def test_deterministic_takes_the_smallest(edges):
    graph = edges.trav.graph(directed=True)
    for mode in ("joint", "each"):
        result = to_pandas(graph.bfs(10, deterministic=True, mode=mode))
        assert result.set_index("vertex")["predecessor"][40] == 20


def test_where_filters_edges(edges):
    graph = edges.trav.graph(directed=True)
    result = graph.bfs(10, where="open")
    assert rows(result[["vertex", "predecessor"]])[3] == (40, 30)
    check_tree(graph, result, 10, where="open")
    assert distances(graph.bfs(40, where="open", direction="in")) == {
        10: 2, 20: None, 30: 1, 40: 0, 50: None, 70: None, 80: None
    }  # fmt: skip
    assert distances(graph.bfs(10))[20] == 1
    structures = to_pandas(graph.memory())["structure"].tolist()
    assert "CSR, where 'open'" in structures


def test_paths(edges):
    graph = edges.trav.graph(directed=True)
    result = graph.paths(10, [50, 80, 10], where="open")
    assert rows(result) == [
        (50, 0, 10), (50, 1, 30), (50, 2, 40), (50, 3, 50), (80, None, None), (10, 0, 10)
    ]  # fmt: skip
    assert str(result["step"].dtype).lower() == "int32"
    result = graph.paths([10, 70], [80, 20], mode="each")
    assert rows(result) == [
        (10, 80, None, None), (10, 20, 0, 10), (10, 20, 1, 20),
        (70, 80, 0, 70), (70, 80, 1, 80), (70, 20, None, None),
    ]  # fmt: skip
    assert rows(graph.paths(50, 10, direction="in", deterministic=True))[:2] == [(10, 0, 50), (10, 1, 40)]
    assert rows(graph.paths(10, 50, depth_limit=2)) == [(50, None, None)]


def test_khop(edges):
    graph = edges.trav.graph(directed=True)
    hood = graph.khop(10, 1)
    assert rows(hood.vertices) == [(10, 0), (20, 1), (30, 1)]
    kept = to_pandas(hood.edges)
    assert list(kept.columns) == ["src", "dst", "open", "cost"]
    assert kept.index.tolist() == [0, 1, 6]
    assert kept["cost"].tolist() == [1.0, 2.0, 7.0]
    assert to_pandas(graph.khop(40, 1, direction="in").edges).index.tolist() == [2, 3]
    assert to_pandas(graph.khop(40, 1, direction="in", where="open").edges).index.tolist() == [3]
    assert rows(graph.khop([50], 0).vertices) == [(50, 0)]
    assert to_pandas(graph.khop([50], 0).edges).index.tolist() == [5]


def test_levels(edges):
    graph = edges.trav.graph(directed=True)
    assert rows(graph.levels(10)) == [(0, 1, 1), (1, 2, 3), (2, 1, 4), (3, 1, 5), (None, 2, 7)]
    assert rows(graph.levels([10, 70])) == [(0, 2, 2), (1, 3, 5), (2, 1, 6), (3, 1, 7)]
    assert rows(graph.levels([70, 40], mode="each")) == [
        (70, 0, 1, 1), (70, 1, 1, 2), (70, None, 5, 7), (40, 0, 1, 1), (40, 1, 1, 2), (40, None, 5, 7)
    ]  # fmt: skip


def test_degrees(edges):
    graph = edges.trav.graph(directed=True)
    assert rows(graph.degrees()) == [(10, 3), (20, 1), (30, 1), (40, 1), (50, 1), (70, 1), (80, 0)]
    assert [row[1] for row in rows(graph.degrees("in"))] == [0, 2, 1, 2, 2, 0, 1]
    assert [row[1] for row in rows(edges.trav.graph().degrees())] == [3, 3, 2, 3, 2, 1, 1]


def test_trace(edges):
    graph = edges.trav.graph(directed=True)
    answer = graph.bfs(10, trace=True)
    assert isinstance(answer, rapids_trav.Traced)
    assert distances(answer.result) == distances(graph.bfs(10))
    trace = to_pandas(answer.trace)
    assert list(trace.columns) == [
        "level", "direction", "frontier", "edges", "bytes", "host_bytes", "milliseconds"
    ]  # fmt: skip
    assert (trace["host_bytes"] == 0).all()
    assert set(trace["direction"]) <= {"push", "pull"}
    assert trace["level"].is_monotonic_increasing
    assert "batch" in graph.bfs(10, trace=True, mode="each").trace.columns


def test_memory_tells_what_was_built(edges):
    graph = edges.trav.graph(directed=True)
    assert to_pandas(graph.memory())["structure"].tolist() == ["vertex ids", "CSR"]
    graph.bfs(10, direction="in", variant="push")
    graph.bfs(10, direction="both")
    graph.bfs(10, variant="edge")
    held = to_pandas(graph.memory())
    assert {"CSR", "CSC", "CSR, symmetrised", "COO of CSR"} <= set(held["structure"])
    assert (held["bytes"] > 0).all()


def test_undirected_graph_needs_one_structure(edges):
    graph = edges.trav.graph()
    for direction in ("out", "in", "both"):
        graph.bfs(10, direction=direction, variant="pull")
    assert len(graph.memory()) == 2


def test_results_share_no_memory_with_the_graph(edges):
    graph = edges.trav.graph(directed=True)
    before = rows(graph.bfs(10, deterministic=True))
    answer = graph.bfs(10, deterministic=True)
    answer.loc[:, "vertex"] = 0
    assert rows(graph.bfs(10, deterministic=True)) == before


@pytest.mark.parametrize("sources", [
    [10, 40], (10, 40), {10, 40}, np.array([10, 40]), np.array([10, 40], dtype="uint8"), [10.0, 40.0],
    pd.Series([10, 40]), pd.Index([10, 40]), range(10, 41, 30), pd.DataFrame({"id": [10, 40]}),
    lambda: (vertex for vertex in (10, 40)),
])  # fmt: skip
def test_forms_of_sources(edges, sources):
    graph = edges.trav.graph(directed=True)
    given = sources() if callable(sources) else sources
    assert distances(graph.bfs(given)) == {10: 0, 20: 1, 30: 1, 40: 0, 50: 1, 70: None, 80: None}


@pytest.mark.parametrize("source", [10, 10.0, np.int8(10), np.array(10), "series"])
def test_forms_of_one_source(edges, source, frame_library):
    source = frame_library.Series([10]) if isinstance(source, str) else source
    assert distances(edges.trav.graph().bfs(source))[10] == 0


def test_random_graph_against_networkx(frame_library):
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 300, (2, 900)) * 7 - 400
    graph = frame_library.DataFrame({"a": src, "b": dst}).trav.graph("a", "b", directed=True)
    oracle = nx.DiGraph(zip(src.tolist(), dst.tolist(), strict=True))
    for source in src[:3].tolist():
        wanted = nx.single_source_shortest_path_length(oracle, source)
        assert distances(graph.bfs(source, reached_only=True)) == dict(sorted(wanted.items()))
        check_tree(graph, graph.bfs(source), source)
        hood = graph.khop(source, 2)
        near = {v for v, d in wanted.items() if d <= 2}
        assert set(to_pandas(hood.vertices)["vertex"]) == near
        inside = [u in near and v in near for u, v in zip(src.tolist(), dst.tolist(), strict=True)]
        assert len(hood.edges) == sum(inside)
        route = to_pandas(graph.paths(source, list(wanted)))
        assert route.groupby("target", sort=False)["step"].max().to_dict() == wanted
        for _, one in route.groupby("target"):
            steps = one["vertex"].tolist()
            assert all(oracle.has_edge(u, v) for u, v in pairwise(steps))


def test_several_frames(edges, frame_library):
    whole = edges.trav.graph(directed=True)
    parts = [edges.iloc[:3], edges.iloc[3:3], edges.iloc[3:]]
    for given in (parts, tuple(parts), iter(parts)):
        graph = Graph.from_edges(given, directed=True)
        assert graph.n_edges == 8
        assert distances(graph.bfs(10)) == distances(whole.bfs(10))
        assert distances(graph.bfs(10, where="open")) == distances(whole.bfs(10, where="open"))
        assert to_pandas(graph.khop(10, 1).edges).index.tolist() == [0, 1, 6]


@pytest.mark.parametrize("engine", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_parquet(tmp_path, engine):
    edges = pd.DataFrame({"src": ["b", "a", "c", "d"], "dst": ["c", "b", "d", "e"]})
    edges["open"] = [True, True, True, False]
    edges.to_parquet(tmp_path / "one.parquet", row_group_size=1)
    edges.assign(src="z").to_parquet(tmp_path / "two.parquet")
    graph = Graph.from_edges(tmp_path, directed=True, engine=engine)
    assert (graph.n_vertices, graph.n_edges) == (6, 8)
    assert graph.edge_columns == ["src", "dst", "open"]
    assert distances(graph.bfs("a", reached_only=True)) == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    assert distances(graph.bfs("a", reached_only=True, where="open")) == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert to_pandas(graph.khop("z", 1).edges).index.tolist() == [0, 2, 3, 4, 5, 6, 7]
    files = [str(tmp_path / "one.parquet")]
    assert Graph.from_edges(files, directed=True, engine=engine).n_edges == 4
    assert Graph.from_edges(files[0], engine=engine, weight=None).n_vertices == 5


@pytest.mark.parametrize("engine", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_parquet_without_rows(tmp_path, engine):
    edges = pd.DataFrame({"src": [1], "dst": [2]}, dtype="int32")
    edges.iloc[:0].to_parquet(tmp_path / "edges.parquet")
    graph = Graph.from_edges(tmp_path / "edges.parquet", engine=engine, vertices=[3, 4])
    assert (graph.n_vertices, graph.n_edges) == (2, 0)
    assert rows(graph.bfs(3)) == [(3, 0, None), (4, None, None)]
    assert len(graph.khop(3, 1).edges) == 0


@pytest.mark.parametrize("whole", [False, True], ids=["files", "folder"])
@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (7, "007", "which are different kinds of id"),
        ("7", 7, "which are different kinds of id"),
        (7, True, "is boolean, and booleans cannot be ids"),
        (7, pd.Timestamp("2020-01-01"), "which are different kinds of id"),
    ],
    ids=str,
)
def test_parquet_files_keep_their_types(tmp_path, first, second, told, whole):
    """Files are treated like frames: none is converted to the types of another."""
    for name, end in (("one", first), ("two", second)):
        pd.DataFrame({"src": [end], "dst": [end]}).to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(TravError, match=told):
        Graph.from_edges(tmp_path if whole else sorted(tmp_path.iterdir()))


def test_parquet_files_of_wider_types(tmp_path):
    pd.DataFrame({"src": [1], "dst": [2], "w": [1]}, dtype="int32").to_parquet(tmp_path / "one.parquet")
    pd.DataFrame({"src": [2], "dst": [2**40], "w": [0.5]}).to_parquet(tmp_path / "two.parquet")
    found = Graph.from_edges(tmp_path, weight="w").sssp(1)
    assert rows(found[["vertex", "distance"]]) == [(1, 0.0), (2, 1.0), (2**40, 1.5)]


@pytest.mark.parametrize(("first", "second"), [(["src", "dst", "a"], ["src", "dst"]), (["src", "dst"],) * 2])
def test_parquet_files_of_other_columns(tmp_path, first, second):
    """An index that pandas stored in the file is not a column."""
    for name, columns in (("one", first), ("two", second)):
        edges = pd.DataFrame({key: [1, 2] for key in columns}).iloc[1:]
        edges.to_parquet(tmp_path / f"{name}.parquet", index=name == "one")
    for paths in (["one", "two"], ["two", "one"]):
        paths = [tmp_path / f"{name}.parquet" for name in paths]
        if first == second:
            assert Graph.from_edges(paths).edge_columns == ["src", "dst"]
            continue
        with pytest.raises(UnknownColumnError, match=r"'a' is in .*one\.parquet but not in .*two\.parquet"):
            Graph.from_edges(paths)


def test_parquet_with_partition_columns(tmp_path):
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "year": [2020, 2020, 2021]})
    edges.to_parquet(tmp_path, partition_cols=["year"])
    graph = Graph.from_edges(tmp_path)
    assert graph.edge_columns == ["src", "dst", "year"]
    assert to_pandas(graph.khop(3, 1).edges)["year"].astype(int).tolist() == [2021]


def test_pandas_frame_on_another_engine_is_refused_or_runs(edges, frame_library):
    graph = edges.trav.graph(engine="cpu", directed=True)
    assert graph.engine.name == "cpu"
    assert isinstance(graph.bfs(10), frame_library.DataFrame)
    assert distances(graph.bfs(10, where="open"))[40] == 2
    assert to_pandas(graph.khop(10, 1).edges).index.tolist() == [0, 1, 6]


@pytest.mark.gpu
def test_pandas_frame_on_the_gpu():
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]})
    result = edges.trav.graph(engine="cuda").bfs("a")
    assert isinstance(result, pd.DataFrame)
    assert distances(result) == {"a": 0, "b": 1, "c": 2}


def test_wrong_trees_are_noticed(edges):
    graph = edges.trav.graph(directed=True)
    right = graph.bfs(10, deterministic=True)

    def change(column, vertex, value):
        wrong = to_pandas(right).copy()
        wrong.loc[wrong["vertex"] == vertex, column] = value
        library = type(right)
        return wrong if library is pd.DataFrame else library(wrong)

    check_tree(graph, right, 10)
    for column, vertex, value, rule in [
        ("distance", 20, 0, "rule 1"),
        ("predecessor", 10, 50, "rule 1"),
        ("predecessor", 20, None, "rule 2"),
        ("distance", 50, 4, "rule 3"),
        ("predecessor", 50, 30, "rule 3"),
        ("predecessor", 30, 20, "rule 3"),
        ("predecessor", 50, 70, "rule 4"),
        ("distance", 80, 1, "rule 2"),
    ]:
        with pytest.raises(TreeError, match=rule):
            check_tree(graph, change(column, vertex, value), 10)
    with pytest.raises(TreeError, match="rule 5"):
        check_tree(graph, graph.bfs(10, depth_limit=1), 10)
    with pytest.raises(TreeError, match="rule 1"):
        check_tree(graph, right, 20)


def test_rows_beyond_a_cudf_frame(edges, monkeypatch):
    graph = edges.trav.graph()
    monkeypatch.setattr(bfs_module, "CUDF_ROWS", 10)
    monkeypatch.setattr(graph.rows.source.library, "name", "cudf", raising=False)
    with pytest.raises(rapids_trav.TravMemoryError, match="holds 10"):
        graph.bfs([10, 20], mode="each")


def replace_ids(edges):
    edges["src"] = 10**9


def replace_mask(edges):
    edges["open"] = False


def drop_column(edges):
    del edges["src"]


def rename_columns(edges):
    edges.columns = ["a", "b", "c", "d"]


def change_value(edges):
    edges.loc[0, "dst"] = 70


def add_row(edges):
    edges.loc[len(edges)] = [10, 70, True, 1.0]


CHANGES = [replace_ids, replace_mask, drop_column, rename_columns, change_value, add_row]
CHANGED = "The edges changed since the graph was built: build the graph again."


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_the_frame_do_not_reach_the_graph(edges, change):
    in_place = change in (change_value, add_row)
    if in_place and not (isinstance(edges, pd.DataFrame) and int(pd.__version__.partition(".")[0]) >= 3):
        pytest.skip("changes in place are kept apart by pandas from 3 on")
    untouched = edges.copy().trav.graph(directed=True)
    graph = edges.trav.graph(directed=True)
    change(edges)
    assert rows(graph.bfs(10, where="open")) == rows(untouched.bfs(10, where="open"))
    assert rows(graph.khop(10, 1).edges) == rows(untouched.khop(10, 1).edges)


@pytest.mark.parametrize("first", [0, 5, -3])
@pytest.mark.parametrize("gap", [1, 3, 10**9])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_changes_of_the_array_behind_a_frame_are_noticed(first, gap, degree_sort):
    ends = np.array([[0, 1], [1, 2], [2, 3]]) * gap + first
    edges = pd.DataFrame(ends, columns=["src", "dst"], copy=False).assign(open=True)
    graph = edges.trav.graph(degree_sort=degree_sort)
    before = ends[0, 0]
    for unknown in (10**9 + 7, 2**32 + first + 1, 2**63 - 1, -(2**40), -(2**63)):
        ends[0, 0] = unknown
        assert graph.rows.source._frames[0].loc[0, "src"] == unknown
        for question in (lambda: graph.bfs(first, where="open"), lambda: graph.khop(first, 1)):
            with pytest.raises(rapids_trav.TravError) as caught:
                question()
            assert str(caught.value) == CHANGED
    ends[0, 0] = before
    assert graph.bfs(first, where="open")["distance"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("engine", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_changed_files(tmp_path, engine):
    file = tmp_path / "edges.parquet"
    edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "open": True})
    edges.to_parquet(file)
    graph = Graph.from_edges(file, engine=engine)
    assert graph.bfs(0, where="open")["distance"].to_numpy().tolist() == [0, 1, 2, 3]
    for change in (lambda: edges.assign(src=10**9).to_parquet(file), file.unlink):
        change()
        with pytest.raises(rapids_trav.TravError) as caught:
            graph.khop(0, 1)
        assert str(caught.value) == CHANGED


def test_other_rows_at_a_second_reading(edges):
    for other in (edges.iloc[:5], edges.iloc[[*range(8), 0]]):
        given = [edges]
        graph = Graph.from_edges(lambda given=given: iter([given[-1]]))
        given.append(other)
        with pytest.raises(rapids_trav.TravError, match=CHANGED):
            graph.bfs(10, where="open")
        given.append(edges)
        assert graph.bfs(10, where="open")["distance"].notna().any()


@pytest.mark.parametrize("ids", [
    [0, 1, 2], [5, 500, 50], [-(10**12), 0, 10**12], ["a", "b", "c"], pd.Categorical(["b", "a", "c"]),
])  # fmt: skip
@pytest.mark.parametrize("degree_sort", [False, True])
def test_pickle(ids, degree_sort):
    ids = pd.Series(ids)
    edges = pd.DataFrame({"src": ids.iloc[:2].array, "dst": ids.iloc[1:].array, "open": [True, False]})
    graph = edges.trav.graph(directed=True, degree_sort=degree_sort)
    again = pickle.loads(pickle.dumps(graph))
    for where in (None, "open"):
        pd.testing.assert_frame_equal(again.bfs([ids[0]], where=where), graph.bfs([ids[0]], where=where))
    pd.testing.assert_frame_equal(again.khop([ids[0]], 1).edges, graph.khop([ids[0]], 1).edges)


def test_pickle_of_several_columns_and_files(tmp_path):
    edges = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [2, 3], "d": ["y", "z"]})
    edges.to_parquet(tmp_path / "edges.parquet")
    graph = Graph.from_edges(tmp_path / "edges.parquet", ["a", "b"], ["c", "d"])
    again = pickle.loads(pickle.dumps(graph))
    pd.testing.assert_frame_equal(again.khop((1, "x"), 1).edges, graph.khop((1, "x"), 1).edges)


@pytest.mark.gpu
def test_no_pickle_of_a_gpu():
    graph = pd.DataFrame({"src": [0], "dst": [1]}).trav.graph(engine="cuda")
    with pytest.raises(TypeError, match="on the cuda engine cannot be pickled"):
        pickle.dumps(graph)


def test_limits_beyond_all_levels(edges):
    graph = edges.trav.graph(directed=True)
    for limit in (2**31, 2**63, 2**70):
        for variant in graph.engine.variants:
            found = graph.bfs(10, depth_limit=limit, variant=variant)
            assert distances(found) == distances(graph.bfs(10))
        assert len(graph.khop(10, limit).vertices) == len(graph.bfs(10, reached_only=True))


def test_columns_named_by_an_index(edges):
    graph = edges.trav.graph(pd.Index(["dst"]), pd.Index(["src"]), directed=True)
    assert distances(graph.bfs(50, reached_only=True)) == {10: 3, 20: 2, 30: 2, 40: 1, 50: 0}


def test_a_graph_made_of_edges_is_the_graph_of_from_edges(edges):
    graph = Graph(edges, "src", "dst", directed=True)
    assert repr(graph) == repr(Graph.from_edges(edges, "src", "dst", directed=True))
    assert rows(graph.bfs(10)) == rows(edges.trav.graph(directed=True).bfs(10))


# ---- closing of graphs


EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 2]})
CLOSED = "^The graph is closed: build it again, and ask questions before "


def test_a_closed_graph_refuses_every_question():
    with EDGES.trav.graph() as graph:
        answer = graph.bfs(0)
    assert answer["distance"].tolist() == [0, 1, 2]
    assert repr(graph) == "<Graph: closed>"
    for ask in (
        lambda: graph.bfs(0),
        lambda: graph.paths(0, 1),
        lambda: graph.khop(0, 1),
        lambda: graph.levels(0),
        lambda: graph.degrees(),
        lambda: graph.memory(),
        lambda: graph.components(),
        lambda: graph.n_vertices,
        lambda: graph.n_self_loops,
        lambda: graph.storage,
        lambda: graph.save("nowhere"),
    ):
        with pytest.raises(TravError, match=CLOSED):
            ask()


def test_closing_again_is_nothing():
    graph = EDGES.trav.graph()
    graph.close()
    graph.close()
    assert repr(copy.copy(graph)) == "<Graph: closed>"


def test_a_closed_graph_holds_nothing():
    graph = EDGES.trav.graph()
    storage = weakref.ref(graph.storage)
    graph.close()
    gc.collect()
    assert storage() is None


def test_a_graph_goes_with_its_last_reference():
    graph = EDGES.trav.graph()
    graph.bfs(0)
    storage = weakref.ref(graph.storage)
    gc.collect()
    gc.disable()
    try:
        del graph
        assert storage() is None
    finally:
        gc.enable()


def test_a_block_that_fails_closes_the_graph():
    with pytest.raises(KeyError), EDGES.trav.graph() as graph:
        raise KeyError
    with pytest.raises(TravError, match=CLOSED):
        graph.bfs(0)


# ---- HTML of graphs, as notebooks show it


def heights(html):
    return [int(number.replace(",", "")) for number in re.findall(r"<title>\S+: ([\d,]+)</title>", html)]


def test_sizes_degrees_and_memory():
    graph = generators.rmat(9, 4, seed=2).trav.graph(vertices=[10**6])
    html = graph._repr_html_()
    degree = graph.degrees()["degree"]
    wanted = [int((degree == 0).sum())]
    while sum(wanted) < len(degree):
        low = 1 << len(wanted) - 1
        wanted.append(int(((degree >= low) & (degree < 2 * low)).sum()))
    assert heights(html) == wanted
    assert f"{graph.n_edges:,} edges" in html
    for name in graph.memory()["structure"]:
        assert f"<td>{name}</td>" in html


def test_a_graph_without_edges():
    html = pd.DataFrame({"src": [], "dst": []}, dtype="int64").trav.graph()._repr_html_()
    assert "0 vertices" in html and heights(html) == []


def test_names_of_columns_are_escaped():
    html = pd.DataFrame({"<u>": [1], "v": [2]}).trav.graph("<u>", "v")._repr_html_()
    assert "&lt;u&gt; to v" in html and "<u>" not in html


def test_a_closed_graph():
    graph = pd.DataFrame({"src": [1], "dst": [2]}).trav.graph()
    graph.close()
    assert graph._repr_html_() == "<div>&lt;Graph: closed&gt;</div>"


def test_a_memory_limit_holds_for_the_picture():
    edges = generators.rmat(12, 2, seed=1)
    small, large = (edges.trav.graph(memory_limit=limit) for limit in ("50kB", "10MB"))
    assert "<svg" not in small._repr_html_() and "<svg" in large._repr_html_()
    assert large.budget.peak <= large.budget.limit and large.budget.peak > large.budget.used


@pytest.mark.parametrize("error", [TravMemoryError("no room"), MemoryError()])
def test_without_room_for_the_degrees_the_rest_is_shown(monkeypatch, error):
    def refuse(_):
        raise error

    graph = generators.rmat(6, 4).trav.graph()
    monkeypatch.setattr(MemoryView, "degrees", refuse)
    html = graph._repr_html_()
    assert "<table>" in html and "<svg" not in html
