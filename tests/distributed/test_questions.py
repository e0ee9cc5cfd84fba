"""Answers of a graph on workers, as the client assembles them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import Graph, Neighborhood, Traced, TravError, UnknownVertexError
from rapids_trav.engines.multigpu.communicator import RankError

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask.dataframe")

from distributed_cases import NAMED, QUESTIONS, SOURCES, answers, as_dask_has_them, edges_of  # noqa: E402


@pytest.fixture
def edges():
    return as_dask_has_them(edges_of("int"))


@pytest.fixture
def graph(here, groups, edges):
    return Graph.from_edges(dask.from_pandas(edges, npartitions=5, sort=False), client=here)


@pytest.mark.parametrize("name", NAMED)
def test_answers_are_dask_frames_equal_to_the_local_ones(here, graph, edges, name):
    answer, local = QUESTIONS[name](graph), QUESTIONS[name](edges.trav.graph())
    with here.as_current():
        assert len(answers(answer)) == len(answers(local)) > 0
        for found, wanted in zip(answers(answer), answers(local), strict=True):
            assert_frame_equal(found, wanted, check_index_type="exact")


@pytest.mark.parametrize("options", [{}, {"reached_only": True}, {"mode": "each"}, {"depth_limit": 0}])
def test_divisions_of_an_answer_are_known_and_ascend(here, graph, options):
    answer = graph.bfs(SOURCES, **options)
    assert isinstance(answer, dask.DataFrame) and answer.known_divisions
    assert list(answer.divisions) == sorted(set(answer.divisions)) or answer.npartitions == 1
    with here.as_current():
        computed = answer.compute()
        assert answer.divisions[0] == 0 and answer.divisions[-1] == len(computed) - 1
        assert isinstance(computed.index, pd.RangeIndex)
        half = len(computed) // 2
        assert_frame_equal(answer.loc[half:].compute(), computed.loc[half:])
        assert dict(answer.dtypes) == dict(computed.dtypes)


def test_kinds_of_answers(here, graph):
    traced = graph.bfs(0, trace=True)
    assert isinstance(traced, Traced) and isinstance(traced.result, dask.DataFrame)
    assert isinstance(traced.trace, pd.DataFrame) and len(traced.trace)
    assert isinstance(graph.memory(), pd.DataFrame)
    hood = graph.khop(0, 1)
    assert isinstance(hood, Neighborhood)
    assert all(isinstance(part, dask.DataFrame) for part in hood)


def test_the_edges_of_a_neighbourhood_keep_their_divisions(here, groups, edges):
    frame = dask.from_pandas(edges, npartitions=4)
    found = Graph.from_edges(frame, client=here).khop(0, 1).edges
    assert found.known_divisions and found.divisions == frame.divisions
    unknown = Graph.from_edges(frame.clear_divisions(), client=here).khop(0, 1).edges
    assert not unknown.known_divisions


@pytest.mark.parametrize(
    "of", [list, iter, np.array, pd.Series, lambda ids: dask.from_pandas(pd.Series(ids), npartitions=2)]
)
def test_sources_and_targets_of_every_kind(here, graph, edges, of):
    local = edges.trav.graph()
    with here.as_current():
        found = graph.levels(of(SOURCES), targets=of([5])).compute()
        assert_frame_equal(found, local.levels(SOURCES, targets=[5]))
        found = graph.paths(of(SOURCES), of([5, 6])).compute()
    assert_frame_equal(found, local.paths(SOURCES, [5, 6]))


@pytest.mark.parametrize(
    "of", [list, iter, np.array, pd.Series, lambda ids: dask.from_pandas(pd.Series(ids), npartitions=2)]
)
def test_a_stream_of_searches(here, graph, edges, of):
    local = edges.trav.graph()
    with here.as_current():
        stream = graph.bfs_stream(of(SOURCES), deterministic=True)
        for root, (own, frame) in zip(SOURCES, stream, strict=True):
            assert own == root
            assert_frame_equal(frame.compute(), local.bfs(root, deterministic=True))


def test_a_stream_reads_its_roots_as_they_are_searched(graph):
    roots = iter([0, 5, 99])
    stream = graph.bfs_stream(roots)
    next(stream)
    assert next(roots) == 5
    with pytest.raises(UnknownVertexError, match="99"):
        next(stream)


def test_a_stream_of_a_graph_that_is_closed(graph):
    stream = graph.bfs_stream(SOURCES)
    next(stream)
    graph.close()
    with pytest.raises(TravError, match=r"^The graph is closed"):
        next(stream)


def test_ids_of_several_columns(here, groups, edges):
    edges = edges.assign(a=edges["src"] % 3, b=edges["dst"] % 3)
    ends = {"src": ["src", "a"], "dst": ["dst", "b"]}
    local = edges.trav.graph(**ends)
    source = tuple(map(int, edges.loc[0, ["src", "a"]]))
    frame = dask.from_pandas(edges, npartitions=3)
    graph = Graph.from_edges(frame, **ends, client=here)
    rows = dask.from_pandas(pd.DataFrame([source]), npartitions=1)
    with here.as_current():
        for sources in (source, [source], rows):
            assert_frame_equal(graph.bfs(sources).compute(), local.bfs(source))


def test_only_options_that_are_given_are_sent(graph, groups):
    graph.bfs(0)
    graph.bfs([0], depth_limit=2, where="open", targets=[1])
    graph.paths(0, 1)
    graph.levels(0, mode="each")
    graph.degrees("in")
    asked = [arguments for name, arguments in groups[0].calls if name == "ask"]
    assert asked == [
        ("bfs", (0,), {}),
        ("bfs", ([0],), {"depth_limit": 2, "where": "open", "targets": [1]}),
        ("paths", (0, 1), {}),
        ("levels", (0,), {"mode": "each"}),
        ("degrees", ("in",), {}),
    ]


def test_attributes(graph, edges):
    local = edges.trav.graph()
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (local.n_vertices, local.n_edges, False)
    assert (graph.n_self_loops, graph.n_duplicate_edges) == (local.n_self_loops, local.n_duplicate_edges)
    assert graph.edge_columns == local.edge_columns
    assert (graph.weight, graph.budget, graph.frame_library) == (None, None, "pandas")
    assert graph.engine.name == "cpu" and "renumber" in graph.build_times
    wanted = (
        f"{local.n_edges:,} edges (src to dst, undirected), pandas frames, cpu engine on 3 workers (1 x 3)>"
    )
    assert repr(graph).endswith(wanted)
    with pytest.raises(
        TravError, match=r"^The graph's ids and edges are not in this process \(cpu engine on 3 workers"
    ):
        graph.ids  # noqa: B018


def test_a_graph_that_lost_a_rank_says_so(graph, monkeypatch):
    monkeypatch.setattr(graph.questions._group, "error", RankError("Rank 1 was lost."))
    assert repr(graph).endswith("cpu engine on 3 workers (1 x 3), lost>")


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("components", lambda graph: graph.components()),
        ("sssp", lambda graph: graph.sssp(0)),
        ("pagerank", lambda graph: graph.pagerank()),
        ("run", lambda graph: graph.run(None, initial=0)),
        ("annotate", lambda graph: graph.annotate(pd.DataFrame(), pd.DataFrame())),
        ("to_networkx", lambda graph: graph.to_networkx()),
        ("to_igraph", lambda graph: graph.to_igraph()),
        ("to_scipy", lambda graph: graph.to_scipy()),
    ],
)
def test_questions_that_workers_do_not_answer(graph, name, ask):
    with pytest.raises(TravError, match=rf"^{name} is not answered by .* with edges\.compute\(\)"):
        ask(graph)


def test_answers_outlive_the_graph(here, graph, groups, edges):
    with graph:
        answer = graph.bfs(0)
    assert groups[0].closed
    assert repr(graph) == "<Graph: closed>"
    with pytest.raises(TravError, match=r"^The graph is closed: "):
        graph.bfs(0)
    graph.close()
    with here.as_current():
        assert_frame_equal(answer.compute(), edges.trav.bfs(0))


def test_one_question_closes_its_graph(here, groups, edges):
    answer = dask.from_pandas(edges, npartitions=2).trav.bfs(0, client=here)
    assert [group.closed for group in groups] == [True]
    with here.as_current():
        assert_frame_equal(answer.compute(), edges.trav.bfs(0))


def test_pickling_is_refused(graph):
    with pytest.raises(TypeError, match=r"^A graph on the workers of a cluster cannot be pickled: save it"):
        pickle.dumps(graph)


def test_saved_and_opened(tmp_path, here, graph, groups, edges):
    graph.save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph", client=here)
    assert groups[1].device is None
    with here.as_current():
        assert_frame_equal(opened.degrees().compute(), edges.trav.graph().degrees())
    with pytest.raises(TravError, match=r"^verify=True is not supported by a graph on the workers"):
        Graph.open(tmp_path / "graph", client=here, verify=True)
