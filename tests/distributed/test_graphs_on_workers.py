"""Graphs on the workers of a cluster answer every question as the local graph of the same edges does."""

import gc

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import Graph, Traced, TravError, UnknownColumnError, UnknownVertexError

pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")
pytest.importorskip("rapids_trav.distributed.session.rank_group")
pytest.importorskip("rapids_trav.distributed.ranks.service")

from distributed_cases import answers, as_dask_has_them, edges_of, ids, of, questions  # noqa: E402
from pairs import FULL  # noqa: E402

FEW = ("bfs", "bfs each reached", "bfs with targets", "paths", "levels", "khop", "degrees in")


def few(kind: str = "int") -> dict:
    """Return a few questions, for tests in which the choice of question does not matter."""
    return {name: ask for name, ask in questions(kind).items() if name in FEW}


def spread(client, edges, npartitions=6, **options):
    return Graph.from_edges(dask.from_pandas(edges, npartitions=npartitions), client=client, **options)


def compare(client, graph, local, asked):
    """Check that both graphs answer with equal frames, index and dtypes included."""
    with client.as_current():
        for name, ask in asked.items():
            found, wanted = answers(ask(graph)), answers(ask(local))
            assert len(found) == len(wanted), name
            for one, other in zip(found, wanted, strict=True):
                assert_frame_equal(one, other, check_index_type="exact", obj=name)


@pytest.mark.parametrize(
    ("kind", "directed"), [("int", True), pytest.param("str", False, marks=pytest.mark.slow)]
)
def test_every_question(client, kind, directed):
    edges = as_dask_has_them(edges_of(kind))
    with spread(client, edges, directed=directed) as graph:
        local = edges.trav.graph(directed=directed)
        compare(client, graph, local, questions(kind))
        assert (graph.n_vertices, graph.n_edges) == (local.n_vertices, local.n_edges)
        assert graph.n_self_loops == local.n_self_loops
        assert graph.n_duplicate_edges == local.n_duplicate_edges


@pytest.mark.parametrize("kind", ["date", "category", *(["wide", "float"] if FULL else [])])
def test_every_kind_of_ids(client, kind):
    edges = as_dask_has_them(edges_of(kind))
    with spread(client, edges) as graph:
        compare(client, graph, edges.trav.graph(), few(kind))


@pytest.mark.parametrize("grid", [(1, 4), (4, 1), (2, 2)])
@pytest.mark.parametrize("directed", [True, *([False] if FULL else [])])  # directed: rows are not columns
def test_every_grid(client, grid, directed):
    edges = as_dask_has_them(edges_of("int", n_edges=300, seed=5))
    with spread(client, edges, grid=grid, directed=directed) as graph:
        assert f"({grid[0]} x {grid[1]})" in repr(graph)
        compare(client, graph, edges.trav.graph(directed=directed), few())


def test_ids_of_several_columns(client):
    edges = as_dask_has_them(edges_of("int"))
    edges = edges.assign(a=edges["src"] % 3, b=edges["dst"] % 3)
    ends = {"src": ["src", "a"], "dst": ["dst", "b"]}
    one, two = (tuple(map(int, row)) for row in edges[["src", "a"]].to_numpy()[[0, 5]])
    with spread(client, edges, **ends) as graph:
        compare(
            client,
            graph,
            edges.trav.graph(**ends),
            {
                "bfs": lambda graph: graph.bfs(one, deterministic=True),
                "bfs each": lambda graph: graph.bfs([two, one], mode="each", deterministic=True),
                "paths": lambda graph: graph.paths(one, [two], deterministic=True),
                "khop": lambda graph: graph.khop(one, 2),
                "degrees": lambda graph: graph.degrees(),
            },
        )


@pytest.mark.parametrize("npartitions", [1, 11])  # fewer and more than workers
def test_any_number_of_partitions(client, npartitions):
    edges = as_dask_has_them(edges_of("str"))
    with spread(client, edges, npartitions) as graph:
        compare(client, graph, edges.trav.graph(), few("str"))


def test_partitions_without_rows(client):
    edges = as_dask_has_them(edges_of("int"))
    frame = dask.from_pandas(edges, npartitions=8)
    frame = frame[(frame["src"] < 5) & (frame["dst"] < 8)]
    with Graph.from_edges(frame, client=client) as graph:
        chosen = edges[(edges["src"] < 5) & (edges["dst"] < 8)]
        more = [7, 0, 3, 5]
        with Graph.from_edges(frame, vertices=more, client=client) as other:
            compare(client, other, chosen.trav.graph(vertices=more), few())
        compare(client, graph, chosen.trav.graph(), {"degrees": lambda graph: graph.degrees()})


def test_fewer_vertices_than_workers(client):
    edges = pd.DataFrame({"src": [3, 3], "dst": [9, 3]})
    with spread(client, edges, 2) as graph:
        local = edges.trav.graph()
        compare(
            client,
            graph,
            local,
            {
                "bfs": lambda graph: graph.bfs(9),
                "each": lambda graph: graph.bfs([9, 3], mode="each"),
                "khop": lambda graph: graph.khop(9, 0),
                "degrees": lambda graph: graph.degrees(),
            },
        )


@pytest.mark.parametrize("kind", ["int", "str"])
def test_vertices_that_no_edge_has(client, kind):
    edges = as_dask_has_them(edges_of(kind))
    more = list(pd.Series(ids([61, 100, 70], kind)))
    with spread(client, edges, vertices=more) as graph:
        compare(client, graph, edges.trav.graph(vertices=more), few(kind))


def test_any_valid_predecessor_may_come(client):
    edges = as_dask_has_them(edges_of("int"))
    pairs = {*zip(edges["src"], edges["dst"], strict=True), *zip(edges["dst"], edges["src"], strict=True)}
    with spread(client, edges) as graph, client.as_current():
        found = graph.bfs(0).compute().set_index("vertex")
        wanted = edges.trav.bfs(0).set_index("vertex")
        pd.testing.assert_series_equal(found["distance"], wanted["distance"])
        inner = found[found["distance"] > 0]
        assert len(inner) > 10
        for vertex, row in inner.iterrows():
            assert (row["predecessor"], vertex) in pairs
            assert found.loc[row["predecessor"], "distance"] == row["distance"] - 1
        others = found[~(found["distance"] > 0)]
        assert others["predecessor"].isna().all()


def test_divisions_are_those_of_the_index(client):
    edges = as_dask_has_them(edges_of("int"))
    with spread(client, edges) as graph, client.as_current():
        for answer in (
            graph.bfs(0),
            graph.bfs([0, 7], mode="each", reached_only=True),
            graph.khop(0, 2).vertices,
            graph.degrees(),
        ):
            assert answer.known_divisions
            parts = [part.compute() for part in answer.partitions]
            assert [part.index[0] for part in parts] == list(answer.divisions[:-1])
            assert parts[-1].index[-1] == answer.divisions[-1]
            assert all(dict(part.dtypes) == dict(answer.dtypes) for part in parts)


def test_a_trace_adds_the_ranks_up(client):
    edges = as_dask_has_them(edges_of("int"))
    with spread(client, edges) as graph, client.as_current():
        traced = graph.bfs(0, trace=True)
        assert isinstance(traced, Traced)
        levels = graph.levels(0).compute()
        assert traced.trace["frontier"].tolist() == levels["vertices"][: len(traced.trace)].tolist()
        local = edges.trav.graph().bfs(0, trace=True).trace
        assert list(traced.trace.columns[:4]) == list(local.columns[:4])


def test_memory_names_structures_of_the_workers(client):
    with spread(client, edges_of("int")) as graph:
        held = graph.memory()
        assert {"structure", "bytes", "place"} <= set(held.columns) and held["bytes"].sum() > 0


def test_rows_that_are_not_kept(client):
    edges = as_dask_has_them(edges_of("int"))
    with spread(client, edges, keep_rows=False) as graph:
        asked = few()
        del asked["khop"]
        compare(client, graph, edges.trav.graph(), asked)
        with pytest.raises(TravError):
            graph.bfs(0, where="open")
        with pytest.raises(TravError):
            graph.khop(0, 1)


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda graph: graph.bfs(-1), UnknownVertexError, "^sources contains 1 unknown vertex: -1"),
        (lambda graph: graph.bfs("a"), TravError, "^sources holds 'a', but the graph's ids are int64"),
        (lambda graph: graph.bfs([]), TravError, "^sources is empty"),
        (lambda graph: graph.bfs(0, targets=[0, 999]), UnknownVertexError, "^targets contains 1 unknown"),
        (lambda graph: graph.khop(999, 1), UnknownVertexError, "^seeds contains 1 unknown vertex: 999"),
        (lambda graph: graph.khop(0, -1), TravError, "^k=-1 is not a number of steps"),
        (lambda graph: graph.bfs(0, where="shut"), UnknownColumnError, "'shut' is not in the edges"),
        (lambda graph: graph.bfs(0, where="kind"), TravError, "kind"),
        (lambda graph: graph.bfs(0, variant="none"), TravError, "^variant='none' is not known"),
        (lambda graph: graph.degrees("up"), TravError, "^direction='up' is not known"),
    ],
)
def test_a_question_that_is_refused_leaves_the_graph_as_it_is(client, shared, ask, kind, message):
    graph, edges = shared
    with pytest.raises(kind, match=message):
        ask(graph)
    compare(client, graph, edges.trav.graph(), {"bfs": lambda graph: graph.bfs(0, deterministic=True)})


@pytest.fixture(scope="module")
def shared(client):
    edges = as_dask_has_them(edges_of("int"))
    with spread(client, edges) as graph:
        yield graph, edges


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda edges: edges.assign(src=edges["src"].where(edges["src"] != 7)), "null"),
        (lambda edges: edges.assign(src=edges["src"] > 3), "bool"),
        (lambda edges: edges.assign(src=edges["src"] + 0.5), r"\.5, which is not a whole number"),
    ],
)
def test_edges_that_are_refused(client, change, message):
    edges = change(edges_of("int"))
    with pytest.raises(TravError) as local:
        edges.trav.graph()
    with pytest.raises(TravError, match=message) as found:
        spread(client, edges)
    assert type(found.value) is type(local.value)


def test_answers_outlive_questions_graph_and_group(client):
    edges = as_dask_has_them(edges_of("int"))
    graph = spread(client, edges)
    first = graph.bfs(0, deterministic=True)
    for source in range(8):
        graph.bfs(source)
    with client.as_current():
        assert_frame_equal(first.compute(), edges.trav.bfs(0, deterministic=True))
        graph.close()
        graph.close()
        gc.collect()
        assert_frame_equal(first.compute(), edges.trav.bfs(0, deterministic=True))
        near = first[first["distance"] == 1]
        assert len(near) == (edges.trav.bfs(0)["distance"] == 1).sum()
    with pytest.raises(TravError, match=r"^The graph is closed"):
        graph.bfs(0)


def test_one_question_in_one_line(client):
    edges = as_dask_has_them(edges_of("str"))
    with client.as_current():
        frame = dask.from_pandas(edges, npartitions=3)
        found = frame.trav.bfs(of("str", 0), deterministic=True, directed=True).compute()
    assert_frame_equal(found, edges.trav.bfs(of("str", 0), deterministic=True, directed=True))


def test_sources_may_be_a_dask_series(client):
    edges = as_dask_has_them(edges_of("int"))
    with spread(client, edges) as graph, client.as_current():
        sources = dask.from_pandas(pd.Series([7, 0]), npartitions=2)
        for given in (sources, pd.Series([7, 0]), np.array([7, 0]), iter([7, 0])):
            found = graph.bfs(given, deterministic=True).compute()
            assert_frame_equal(found, edges.trav.bfs([0, 7], deterministic=True))


def test_two_graphs_side_by_side(client):
    one, two = (as_dask_has_them(edges_of(kind, seed=seed)) for kind, seed in (("int", 1), ("str", 2)))
    with spread(client, one) as first, spread(client, two) as second:
        for _ in range(3):
            compare(client, first, one.trav.graph(), {"bfs": lambda graph: graph.bfs(0, deterministic=True)})
            compare(
                client,
                second,
                two.trav.graph(),
                {"bfs": lambda graph: graph.bfs(of("str", 0), deterministic=True)},
            )


def test_saved_and_opened(client, tmp_path):
    pytest.importorskip("rapids_trav.distributed.ranks.saved_parts")
    edges = as_dask_has_them(edges_of("str"))
    asked = few("str")
    del asked["khop"]  # its edges lack the columns that are not saved
    with spread(client, edges) as graph:
        graph.save(tmp_path / "graph")
    with Graph.open(tmp_path / "graph", client=client) as opened:
        compare(client, opened, edges.trav.graph(), asked)
