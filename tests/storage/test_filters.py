"""Columns, conditions and masks select the right edges, and results kept for a filter belong to it alone."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rapids_trav import Graph, TravError, UnknownColumnError
from rapids_trav.errors import EDGES_CHANGED
from rapids_trav.storage.filters import Mask

RNG = np.random.default_rng(8)
N = 400
EDGES = pd.DataFrame({"src": RNG.integers(0, 90, N), "dst": RNG.integers(0, 90, N)})
EDGES["weight"] = RNG.integers(1, 9, N)
EDGES["kind"] = RNG.choice(["road", "rail"], N)
EDGES["road name"] = EDGES["kind"] + "!"
KEPT = (EDGES["weight"] > 3) & (EDGES["kind"] == "road")
CONDITION = "weight > 3 and kind == 'road'"
ROOT = int(EDGES["src"][KEPT.idxmax()])

QUESTIONS = {
    "bfs": lambda graph, where: graph.bfs(ROOT, where=where, deterministic=True),
    "each": lambda graph, where: graph.bfs([ROOT, 5], where=where, mode="each", predecessors=False),
    "paths": lambda graph, where: graph.paths(ROOT, [3, 5], where=where, deterministic=True),
    "levels": lambda graph, where: graph.levels(ROOT, where=where),
    "khop vertices": lambda graph, where: graph.khop(ROOT, 2, where=where).vertices,
    "khop edges": lambda graph, where: graph.khop(ROOT, 2, where=where).edges,
    "components": lambda graph, where: graph.components(where=where),
    "sssp": lambda graph, where: graph.sssp(ROOT, where=where),
    "pagerank": lambda graph, where: graph.pagerank(where=where, tol=1e-12),
}
FORMS = {
    "condition": CONDITION,
    "other spelling": "(kind=='road') AND 3<weight",
    "quoted columns": "`road name` == 'road!' and weight > 3",
    "Series": KEPT,
    "array": KEPT.to_numpy(),
    "nullable": KEPT.astype("boolean"),
    "arrow": KEPT.astype("bool[pyarrow]"),
    "objects": KEPT.astype(object),
}


@pytest.fixture(scope="module", params=["memory", "a limit", "several frames", "files"])
def graph(request, tmp_path_factory):
    edges = EDGES.assign(kept=KEPT)
    if request.param == "memory":
        return edges.trav.graph(weight="weight", directed=True)
    if request.param == "a limit":
        return edges.trav.graph(weight="weight", directed=True, memory_limit="200kB")
    parts = [edges[:101], edges[101:101], edges[101:]]
    if request.param == "files":
        folder = tmp_path_factory.mktemp("edges")
        paths = [folder / f"{i}.parquet" for i in range(3)]
        for part, path in zip(parts, paths, strict=True):
            part.to_parquet(path)
        parts = paths
    return Graph.from_edges(parts, weight="weight", directed=True)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_form_answers_as_the_column_does(graph, question):
    wanted = QUESTIONS[question](graph, "kept")
    for form in FORMS.values():
        pd.testing.assert_frame_equal(QUESTIONS[question](graph, form), wanted)
    assert not wanted.equals(QUESTIONS[question](graph, None))


def searches_built(graph, monkeypatch):
    """Return a list that grows with each reading of filtered edges."""
    built, build = [], graph.contents.storage._build
    monkeypatch.setattr(graph.contents.storage, "_build", lambda *given: built.append(1) or build(*given))
    return built


def test_the_edges_of_a_condition_are_kept_however_it_is_written(monkeypatch):
    graph = EDGES.trav.graph()
    built = searches_built(graph, monkeypatch)
    for where in (CONDITION, 'weight>3 and kind=="road"', "((3 < weight) and `kind` == 'road')"):
        graph.bfs(ROOT, where=where)
    assert len(built) == 1
    graph.bfs(ROOT, where="weight >= 3 and kind == 'road'")
    assert len(built) == 2
    assert any(", where \"weight >= 3 and kind == 'road'\"" in name for name in graph.memory()["structure"])


def test_a_mask_is_known_by_its_flags(monkeypatch):
    graph = EDGES.trav.graph(weight="weight")
    wanted = graph.sssp(ROOT, where=CONDITION)
    built = searches_built(graph, monkeypatch)
    mask = KEPT.to_numpy().copy()
    graph.bfs(ROOT, where=mask)
    graph.bfs(ROOT, where=KEPT)  # the same flags in another array
    assert len(built) == 1
    mask[:] = True  # changed in place, before the weights of the kept edges have been read
    pd.testing.assert_frame_equal(graph.sssp(ROOT, where=KEPT), wanted)
    assert len(built) == 1
    pd.testing.assert_frame_equal(graph.bfs(ROOT, where=mask)[["distance"]], graph.bfs(ROOT)[["distance"]])
    assert len(built) == 2


def test_masks_are_equal_by_content():
    flags = RNG.random(77) < 0.5
    one, same = Mask(flags), Mask(flags.copy())
    flags[70] ^= True
    assert one == same and hash(one) == hash(same) and repr(one) == repr(same)
    other = Mask(flags)
    assert one != other and repr(one) != repr(other)
    swapped = flags.copy()
    first = int(np.flatnonzero(swapped)[0])
    swapped[[first, int(np.flatnonzero(~swapped)[0])]] ^= True  # as many flags are true
    assert Mask(swapped) != other and repr(Mask(swapped)) != repr(other)
    flags[[70, 71]] = ~flags[[70, 71]]
    for first, last in [(0, 77), (3, 5), (8, 16), (69, 77), (77, 77)]:
        assert (
            other.part(first, last).tolist()
            == (flags ^ np.isin(np.arange(77), [70, 71]))[first:last].tolist()
        )


def test_a_column_with_the_name_of_a_condition_is_that_column():
    edges = EDGES.assign(**{"weight > 3": False})
    assert edges.trav.bfs(ROOT, where="weight > 3")["distance"].notna().sum() == 1
    assert EDGES.trav.bfs(ROOT, where="weight > 3")["distance"].notna().sum() > 1


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (KEPT[:-1], "^where is a mask of 399 flags, but there are 400 edges: give one flag for each"),
        (
            KEPT.to_numpy().reshape(2, -1),
            r"^where is an array of bool with the shape \(2, 200\): give one flag",
        ),
        (KEPT.astype(int), "^where is an array of int64 with the shape"),
        (KEPT.sample(frac=1, random_state=1), "^where is a Series whose index is not that of the edges"),
        (KEPT.astype("boolean").mask(EDGES.index < 2), "^where is a mask with 2 nulls: fill them first"),
        (pa.array([None, *KEPT[1:]]), r"^where is a mask with 1 null: fill it first, .* mask\.fill_null"),
        (pl.Series([None, *KEPT[1:]]), r"^where is a mask with 1 null: fill it first, .* mask\.fill_null"),
        (
            np.ma.array(KEPT, mask=[True] + [False] * (len(KEPT) - 1)),
            r"^where is a mask with 1 null: fill it",
        ),
        (np.array([None, *KEPT[1:]]), r"^where is a mask with 1 null: fill it first\.$"),
        ("true", "^where='true' is a word of the grammar of conditions, not a column: write a condition"),
        ("Not", "^where='Not' is a word of the grammar of conditions"),
        (list(KEPT), "^where is a list: give the name of a column, a condition"),
        (EDGES, "^where is a DataFrame: give the name of a column"),
        (len, "^where is a builtin_function_or_method: give the name of a column, a condition"),
        (True, "^where is a bool: give the name"),
    ],
)
def test_masks_that_are_refused(where, message):
    with pytest.raises(TravError, match=message):
        EDGES.trav.bfs(ROOT, where=where)


@pytest.mark.parametrize("kind", [pa.array, pl.Series])
def test_masks_of_arrow_and_polars(kind):
    expected = EDGES.trav.bfs(ROOT, where=KEPT)
    pd.testing.assert_frame_equal(EDGES.trav.bfs(ROOT, where=kind(KEPT.tolist())), expected)


def test_conditions_that_are_null_somewhere_are_refused():
    edges = EDGES.assign(weight=EDGES["weight"].astype("float64").where(EDGES.index > 1))
    graph = edges.trav.graph()
    with pytest.raises(TravError) as caught:
        graph.bfs(ROOT, where="weight > 3 or kind == 'x'")
    assert str(caught.value) == (
        "where=\"weight > 3 or kind == 'x'\" is null for 2 edges, because a column that it compares is: "
        "decide about nulls, for example with `weight is not null and (...)`."
    )
    wanted = (edges["weight"] > 3).to_numpy()
    told = graph.bfs(ROOT, where="weight is not null and weight > 3", deterministic=True)
    pd.testing.assert_frame_equal(told, graph.bfs(ROOT, where=wanted, deterministic=True))


def test_columns_that_are_not_there_are_named():
    for where in ("wieght > 3", "wieght"):
        with pytest.raises(
            UnknownColumnError, match=r"^Column 'wieght'.* is not in the edges: choose one of 'src'"
        ):
            EDGES.trav.bfs(ROOT, where=where)


def test_edges_that_have_changed_are_refused_with_a_mask():
    edges = EDGES.copy()
    frames = [edges]
    graph = Graph.from_edges(lambda: iter(frames))
    frames.append(edges[:1])
    with pytest.raises(TravError, match=EDGES_CHANGED[:20]):
        graph.bfs(ROOT, where=KEPT.to_numpy())


def test_saved_graphs_have_nothing_to_filter_by(tmp_path):
    EDGES.trav.graph(weight="weight").save(tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    for where, what in ((CONDITION, "weight > 3 and"), (KEPT, "<a mask>")):
        with pytest.raises(TravError, match=f"{what}.* needs the columns of the edges, which a saved graph"):
            graph.bfs(ROOT, where=where)


def test_checkpoints_tell_filters_apart(tmp_path):
    graph = EDGES.trav.graph()
    mask = KEPT.to_numpy().copy()
    graph.pagerank(where=mask, checkpoint=tmp_path / "ranks")
    graph.pagerank(where=KEPT, checkpoint=tmp_path / "ranks", resume=True)
    mask[0] ^= True
    with pytest.raises(TravError, match="another choice of where"):
        graph.pagerank(where=mask, checkpoint=tmp_path / "ranks", resume=True)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            lambda: pl.col("weight") > 3,
            r"of polars: .* 'weight > 3', or a mask, edges\.select\(where\)\.to_series\(\)",
        ),
        (lambda: pc.field("weight") > 3, "of pyarrow: give the text of a condition"),
        (lambda: duckdb.ColumnExpression("weight") > 3, "of duckdb: give the text of a condition"),
    ],
    ids=["polars", "pyarrow", "duckdb"],
)
def test_expressions_of_other_libraries_are_told_as_such(expression, message):
    edges = pl.DataFrame({"src": [0, 1], "dst": [1, 2], "weight": [5, 1]})
    with pytest.raises(TravError, match=f"^where is an expression {message}"):
        edges.trav.bfs(0, where=expression())
    mask = edges.select(pl.col("weight") > 3).to_series()  # as the message says
    assert edges.trav.bfs(0, where=mask)["distance"].to_list() == [0, 1, None]


@pytest.mark.parametrize(
    ("name", "values", "condition"),
    [
        ("n", [1, 4], "n > 3"),
        ("a b", [1.0, 4.0], "`a b` > 3"),
        ("s", ["a", "b"], "s == 'a'"),
        ("t", pd.to_datetime(["2026-01-01", "2026-06-01"]), "t >= '2026-05-31'"),
        ("lasts", pd.to_timedelta(["1min", "2h"]), "lasts > '90min'"),
    ],
)
def test_a_column_that_is_no_filter_is_told_a_condition(name, values, condition):
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2], name: values})
    with pytest.raises(TravError, match="compare it with a value, as in where=") as caught:
        edges.trav.bfs(0, where=name)
    assert f"where={condition!r}, or name a boolean one" in str(caught.value)
    assert int(edges.trav.khop([0, 1], 1, where=condition).edges.shape[0]) == 1
