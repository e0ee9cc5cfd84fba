"""Closeness, harmonic, eccentricity, betweenness and distances of pairs, compared with NetworkX."""

from __future__ import annotations

import random

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from random_graphs import common, graphs

from rapids_trav import Graph, TravError, generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import parse_bytes

nx = pytest.importorskip("networkx")


def spread(frame, ends, ids, directed, **options):
    """Return our graph and the NetworkX graph with the same vertices and edges."""
    src, dst = ends
    graph = Graph.from_edges(frame, src, dst, vertices=list(ids), directed=directed, **options)
    other = nx.DiGraph() if directed else nx.Graph()
    other.add_nodes_from(ids)
    u, v = (
        frame[side] if isinstance(side, str) else frame[side].itertuples(index=False, name=None)
        for side in ends
    )
    other.add_edges_from(zip(u, v, strict=True))
    return graph, other


def values_of(frame, ids, column):
    """Return the column as a dict by id; ids of several columns are tuples."""
    keys = [name for name in frame.columns if str(name).startswith("vertex")]
    named = frame[keys[0]] if len(keys) == 1 else frame[keys].itertuples(index=False, name=None)
    found = dict(zip(named, frame[column], strict=True))
    assert set(found) == set(ids)
    return found


@common
@given(graphs(), st.data())
def test_closeness_and_harmonic(drawn, data):
    frame, ends, ids, _, directed = drawn
    graph, other = spread(frame, ends, ids, directed)
    improved = data.draw(st.booleans())
    wanted = nx.closeness_centrality(other, wf_improved=improved)
    assert values_of(graph.closeness(improved=improved), ids, "closeness") == pytest.approx(wanted)
    assert values_of(graph.harmonic(), ids, "harmonic") == pytest.approx(nx.harmonic_centrality(other))
    some = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4))
    found = graph.closeness(some, improved=improved)["closeness"]
    assert found.tolist() == pytest.approx([wanted[vertex] for vertex in some])
    backwards = nx.closeness_centrality(other.reverse() if directed else other)
    assert values_of(graph.closeness(direction="out"), ids, "closeness") == pytest.approx(backwards)


@common
@given(graphs(), st.data())
def test_eccentricity_and_diameter(drawn, data):
    frame, ends, ids, _, directed = drawn
    graph, other = spread(frame, ends, ids, directed)
    direction = data.draw(st.sampled_from(["out", "in", "both"]))
    if direction == "both":
        other = other.to_undirected()
    elif direction == "in" and directed:
        other = other.reverse()
    lengths = {u: list(of.values()) for u, of in nx.all_pairs_shortest_path_length(other)}
    found = graph.eccentricity(direction=direction)
    assert found["eccentricity"].dtype == np.int32 and found["reached"].dtype == np.int64
    assert values_of(found, ids, "eccentricity") == {u: max(of) for u, of in lengths.items()}
    assert values_of(found, ids, "reached") == {u: len(of) - 1 for u, of in lengths.items()}
    assert graph.diameter(direction=direction) == max(map(max, lengths.values()))
    some = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4))
    assert graph.eccentricity(some, direction=direction)["eccentricity"].tolist() == [
        max(lengths[u]) for u in some
    ]


@common
@given(graphs(), st.data())
def test_betweenness_of_vertices(drawn, data):
    frame, ends, ids, _, directed = drawn
    graph, other = spread(frame, ends, ids, directed)
    options = {name: data.draw(st.booleans(), name) for name in ("normalized", "endpoints")}
    wanted = nx.betweenness_centrality(other, **options)
    assert values_of(graph.betweenness(**options), ids, "betweenness") == pytest.approx(wanted)


@common
@given(graphs(), st.booleans())
def test_betweenness_of_edges(drawn, normalized):
    frame, ends, ids, _, directed = drawn
    graph, other = spread(frame, ends, ids, directed)
    found = graph.betweenness(of="edges", normalized=normalized)
    width = (len(found.columns) - 1) // 2
    rows = found.iloc[:, : 2 * width].itertuples(index=False, name=None)
    ends = [(row[:width], row[width:]) if width > 1 else row for row in rows]
    place = {vertex: i for i, vertex in enumerate(values_of(graph.degrees(), ids, "degree"))}
    assert all(place[u] <= place[v] or directed for u, v in ends)
    assert ends == sorted(ends, key=lambda edge: (place[edge[0]], place[edge[1]]))
    key = (lambda u, v: (u, v)) if directed else (lambda u, v: tuple(sorted((u, v), key=place.get)))
    wanted = {
        key(*edge): value
        for edge, value in nx.edge_betweenness_centrality(other, normalized=normalized).items()
    }
    assert dict(zip(ends, found["betweenness"], strict=True)) == pytest.approx(wanted)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("endpoints", [False, True])
def test_sampled_betweenness_is_scaled_as_in_networkx(directed, endpoints, monkeypatch):
    frame = generators.rmat(6, 4)
    graph, other = spread(frame, ("src", "dst"), sorted({*frame["src"], *frame["dst"]}), directed)
    sources = [int(v) for v in frame["src"].unique()[:7]]

    class Sample(random.Random):
        def sample(self, nodes, k):
            return sources

    for normalized in (True, False):
        wanted = nx.betweenness_centrality(
            other, k=7, seed=Sample(), normalized=normalized, endpoints=endpoints
        )
        found = graph.betweenness(sources=sources, normalized=normalized, endpoints=endpoints)
        assert values_of(found, set(other), "betweenness") == pytest.approx(wanted)


def test_a_sample_is_drawn_by_its_seed():
    graph = generators.rmat(7, 4).trav.graph()
    one, again, another = (graph.betweenness(10, seed=seed)["betweenness"] for seed in (1, 1, 2))
    assert one.tolist() == pytest.approx(again.tolist())
    assert not np.allclose(one, another)
    assert graph.betweenness(graph.n_vertices)["betweenness"].tolist() == pytest.approx(
        graph.betweenness()["betweenness"].tolist()
    )


@common
@given(graphs(), st.data())
def test_distances_of_pairs(drawn, data):
    frame, ends, ids, _, directed = drawn
    graph, other = spread(frame, ends, ids, directed)
    pairs = data.draw(
        st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), min_size=1, max_size=80)
    )
    starts, targets = (list(side) for side in zip(*pairs, strict=True))
    found = graph.distances((starts, targets))
    lengths = dict(nx.all_pairs_shortest_path_length(other))
    wanted = [lengths[u].get(v, pd.NA) for u, v in pairs]
    assert str(found["distance"].dtype) == "Int32"
    assert found["distance"].tolist() == wanted


@pytest.mark.parametrize(("n_pairs", "searches"), [(3, 0), (300, 1)])
def test_many_pairs_of_one_source_take_one_search(n_pairs, searches, monkeypatch):
    graph = pd.DataFrame({"src": range(500), "dst": range(1, 501)}).trav.graph()
    asked = []
    each = type(graph.engine).search_each
    monkeypatch.setattr(type(graph.engine), "search_each", lambda *of: asked.append(1) or each(*of))
    targets = list(range(500, 500 - n_pairs, -1))
    found = graph.distances(([7] * n_pairs, targets))
    assert found["distance"].tolist() == [abs(v - 7) for v in targets]
    assert len(asked) == searches


@pytest.mark.parametrize("limit", [None, "150kB"])
def test_an_engine_without_two_ended_searches_runs_full_ones(limit, monkeypatch):
    """As many at a time as the limit allows, and all of them counted."""
    edges, n = generators.rmat(10, 4, seed=1), 300
    ids = np.unique(edges[["src", "dst"]])
    starts, ends = np.random.default_rng(5).choice(ids, (2, n))
    wanted = edges.trav.graph().distances((starts, ends))
    graph = edges.trav.graph(memory_limit=limit)
    each, asked = type(graph.engine).search_each, []

    def counted(engine, view, sources, options):
        asked.append(len(sources))
        return each(engine, view, sources, options)

    monkeypatch.setattr(type(graph.engine), "search_each", counted)
    monkeypatch.setattr(type(graph.engine), "pair_distances", None)
    pd.testing.assert_frame_equal(graph.distances((starts, ends)), wanted)
    assert sum(asked) == len(np.unique(starts))
    assert max(asked) == 64 if limit is None else max(asked) < 64
    assert len(graph.distances(([], []))) == 0


def test_pairs_come_as_a_frame_and_answers_in_its_order():
    edges = pd.DataFrame({"u": ["a", "b", "c"], "v": ["b", "c", "d"], "open": [True, False, True]})
    graph = edges.trav.graph("u", "v", directed=True)
    pairs = pd.DataFrame({"from": ["a", "d", "b", "a"], "to": ["d", "a", "b", "b"]})
    found = graph.distances(pairs)
    assert (
        found["source"].tolist() == pairs["from"].tolist()
        and found["target"].tolist() == pairs["to"].tolist()
    )
    assert found["distance"].tolist() == [3, pd.NA, 0, 1]
    assert graph.distances(pairs, direction="in")["distance"].tolist() == [pd.NA, 3, 0, pd.NA]
    assert graph.distances(pairs, direction="both")["distance"].tolist() == [3, 3, 0, 1]
    assert graph.distances(pairs, where="open")["distance"].tolist() == [pd.NA, pd.NA, 0, 1]


@pytest.mark.parametrize("n_sources", [1, 63, 64, 65, 200])
def test_sums_of_sources_and_vertices_agree_with_whole_searches(n_sources):
    graph = generators.rmat(9, 3, seed=4).trav.graph(directed=True)
    vertices = graph.degrees()["vertex"].to_numpy()[:n_sources]
    searches = graph.bfs(vertices, mode="each", predecessors=False, reached_only=True)
    far = searches[searches["distance"] > 0].groupby("source")["distance"].agg(["size", "sum", "max"])
    far = far.reindex(vertices, fill_value=0).astype(int)
    found = graph.eccentricity(vertices)
    assert found["eccentricity"].tolist() == far["max"].tolist()
    assert found["reached"].tolist() == far["size"].tolist()
    closeness = graph.closeness(vertices, direction="out", improved=False)["closeness"]
    assert closeness.tolist() == pytest.approx((far["size"] / far["sum"].clip(lower=1)).tolist())


@pytest.mark.parametrize("n", [3, 100, 1001])
def test_bounds_end_where_they_do_not_help(n):
    """On a cycle all eccentricities are equal, and no bound gives one before the search from that vertex."""
    ring = np.arange(n)
    graph = pd.DataFrame({"src": ring, "dst": (ring + 1) % n}).trav.graph()
    assert graph.eccentricity()["eccentricity"].tolist() == [n // 2] * n
    assert graph.diameter() == n // 2


def test_bounds_save_searches(monkeypatch):
    graph = pd.DataFrame({"src": range(2000), "dst": range(1, 2001)}).trav.graph()
    made = []
    search = type(graph.engine).search
    monkeypatch.setattr(type(graph.engine), "search", lambda *asked: made.append(1) or search(*asked))
    assert graph.diameter() == 2000
    assert len(made) <= 3
    assert graph.eccentricity()["eccentricity"].tolist() == [max(i, 2000 - i) for i in range(2001)]
    assert len(made) <= 8


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda graph: graph.closeness([9]), "9"),
        (lambda graph: graph.closeness(direction="up"), "direction='up'"),
        (lambda graph: graph.betweenness(0), "k=0 samples no vertex"),
        *(
            (
                lambda graph, seed=seed: graph.betweenness(2, seed=seed),
                rf"^seed={seed!r} is not a seed: give an",
            )
            for seed in ("x", -1, 1.5, True)
        ),
        (lambda graph: graph.betweenness(5), "k=5 is more than the 3 vertices"),
        (lambda graph: graph.betweenness(2, sources=[0]), "give one of them"),
        (lambda graph: graph.betweenness(sources=[]), "sources is empty"),
        (lambda graph: graph.betweenness(of="edges", endpoints=True), "endpoints=True applies to vertices"),
        (lambda graph: graph.distances([0, 1]), "give a frame with a column for each vertex"),
        (
            lambda graph: graph.distances(([0, 1], [2])),
            "^pairs is a tuple of two sequences, with 2 and 1 vertices: give",
        ),
        (lambda graph: graph.distances(pd.DataFrame({"u": [0]})), "pairs has 1 columns: give 2"),
        (lambda graph: graph.distances(([0], [7])), "7"),
        (lambda graph: graph.eccentricity(where="no"), "'no' is not in the edges"),
    ],
)
def test_questions_that_are_put_wrongly(ask, message):
    graph = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph()
    with pytest.raises(TravError, match=message.replace("(", "\\(")):
        ask(graph)


def test_more_paths_than_float64_holds_are_refused():
    """A chain of 1,100 diamonds has 2 ** 1,100 shortest paths between its ends."""
    first = np.arange(1100) * 3
    src = np.concatenate([first, first, first + 1, first + 2])
    dst = np.concatenate([first + 1, first + 2, first + 3, first + 3])
    graph = pd.DataFrame({"src": src, "dst": dst}).trav.graph()
    with pytest.raises(TravError, match="more than 1e308 shortest paths"):
        graph.betweenness()


def test_a_graph_without_vertices():
    graph = pd.DataFrame({"src": [], "dst": []}, dtype="int64").trav.graph()
    for answer in (graph.closeness(), graph.harmonic(), graph.eccentricity(), graph.betweenness()):
        assert len(answer) == 0
    assert graph.diameter() == 0 and len(graph.betweenness(of="edges")) == 0
    assert len(graph.distances(([], []))) == 0


@pytest.mark.parametrize("some", [None, 150])
def test_fewer_searches_run_at_once_under_a_small_limit(monkeypatch, some):
    """Sums over distances use the threads that there is memory for, and the answer is the same."""
    monkeypatch.setattr("rapids_trav.storage.block_sizes.threads_of", lambda place: 3)
    edges, together = generators.rmat(9, 4, seed=2), []
    asked = None if some is None else edges["src"].drop_duplicates()[:some]
    wanted, limit, sums = edges.trav.closeness(asked), 1000, CpuEngine.distance_sums
    monkeypatch.setattr(CpuEngine, "distance_sums", lambda *given: together.append(given[-1]) or sums(*given))
    while not together:
        try:
            graph = edges.trav.graph(memory_limit=limit)
            found = graph.closeness(asked)
        except TravMemoryError as error:
            limit = parse_bytes(str(error).partition("give memory_limit at least ")[2].removesuffix("."))
    pd.testing.assert_frame_equal(found, wanted)
    assert together[0] <= 64 < graph.n_vertices, "the smallest limit has room for one thread"
    assert graph.budget.peak <= limit


@pytest.mark.parametrize("options", [{"normalized": True}, {"normalized": False}])
def test_a_lone_source_of_betweenness_has_nan_unless_ends_count(options):
    graph = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}).trav.graph()
    score = graph.betweenness(sources=[1], **options)["betweenness"]
    assert score.isna().tolist() == [False, True, False, False]
    assert not graph.betweenness(sources=[1], endpoints=True, **options)["betweenness"].isna().any()
    assert not graph.betweenness(sources=[0, 1], **options)["betweenness"].isna().any()


@pytest.mark.parametrize("order", ["ids", "degree"])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_edges_are_named_as_they_are_stored_in_every_direction(direction, order):
    edges = pd.DataFrame({"src": [0, 1, 2, 5, 5, 3], "dst": [1, 2, 3, 2, 0, 0]})
    stored = nx.from_pandas_edgelist(edges, "src", "dst", create_using=nx.DiGraph)
    searched = {"out": stored, "in": stored.reverse(), "both": stored.to_undirected()}[direction]
    named = {"out": lambda *pair: pair, "in": lambda u, v: (v, u), "both": lambda *pair: tuple(sorted(pair))}
    scores = nx.edge_betweenness_centrality(searched)
    right = {named[direction](*pair): score for pair, score in scores.items()}
    answer = edges.trav.graph(directed=True, order=order).betweenness(of="edges", direction=direction)
    found = {(u, v): score for u, v, score in answer.itertuples(index=False)}
    assert list(found) == sorted(right) and found == pytest.approx(right)
