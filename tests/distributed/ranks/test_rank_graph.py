"""A graph on many ranks answers exactly as the local graph of the same edges does."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from pairs import FULL
from rank_cases import check_predecessors, joined, same, spread

from rapids_trav import generators

GRIDS = [(1, 4), (4, 1), (2, 2), (3, 2)]


def edges_of(kind):
    rng = np.random.default_rng(5)
    if kind == "star":
        pairs = [(7, leaf) for leaf in range(300) if leaf != 7]
    elif kind == "path":
        order = rng.permutation(200) * 3
        pairs = list(itertools.pairwise(order))
    elif kind == "one vertex":
        pairs = [(3, 3), (3, 3)]
    elif kind == "loops":
        pairs = [(i, i) for i in range(0, 50, 5)] + [(0, 5), (5, 0), (0, 5)]
    elif kind == "disconnected":
        pairs = [(i, i + 1000) for i in range(100)] + [(0, 1), (1000, 1001)]
    elif kind == "R-MAT":
        frame = generators.rmat(8, 6)
        pairs = list(zip(frame["src"].to_numpy(), frame["dst"].to_numpy(), strict=True))
    else:
        pairs = rng.integers(-40, 40, (120, 2)).tolist()
    frame = pd.DataFrame(pairs, columns=["src", "dst"]).astype("int64")
    frame["open"] = rng.random(len(frame)) < 0.6
    frame["note"] = [f"row {i}" for i in range(len(frame))]
    frame.index = pd.RangeIndex(100, 100 + len(frame))
    return frame


KINDS = ["star", "path", "one vertex", "loops", "disconnected", "R-MAT", "random"]
CASES = [
    (kind, GRIDS[i % 4], directed) for i, kind in enumerate(KINDS) for directed in (i % 2 < 1, i % 2 > 0)
]
CASES = CASES if FULL else CASES[::2]  # else a kind is either directed or not
CASES += [("R-MAT", shape, True) for shape in GRIDS]


@pytest.fixture(params=CASES, ids=str, scope="module")
def case(request):
    kind, shape, directed = request.param
    edges = edges_of(kind)
    graph = spread(edges, shape, directed=directed)
    return edges, graph, [edges["src"].iloc[0], edges["dst"].iloc[len(edges) // 2]]


DIRECTIONS = ["out", "in", "both"]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_joint_searches(case, direction):
    edges, graph, sources = case
    for given in (sources[:1], sources):
        asked = {"direction": direction, "deterministic": True}
        wanted = graph.local.bfs(given, **asked)
        same(graph.frame("bfs", given, **asked), wanted)
        same(
            graph.frame("bfs", given, **asked, reached_only=True),
            graph.local.bfs(given, **asked, reached_only=True),
        )
        some = graph.frame("bfs", given, direction=direction)
        same(
            check_predecessors(edges, some, direction, graph.local.directed),
            wanted.drop(columns="predecessor"),
        )


@pytest.mark.parametrize("limits", [{"depth_limit": 0}, {"depth_limit": 2}, {"targets": True}], ids=str)
def test_joint_searches_that_end_early(case, limits):
    edges, graph, sources = case
    if "targets" in limits:
        limits = {"targets": edges["dst"].iloc[:2].tolist()}
    for options in ({"deterministic": True}, {"predecessors": False, "variant": "2d"}):
        asked = limits | options
        local = {name: value for name, value in asked.items() if name != "variant"}
        same(graph.frame("bfs", sources, **asked), graph.local.bfs(sources, **local))


@pytest.mark.parametrize("reached_only", [False, True])
def test_independent_searches(case, reached_only):
    edges, graph, sources = case
    sources = [*sources, edges["src"].iloc[-1], sources[0]]
    asked = {"mode": "each", "deterministic": True, "reached_only": reached_only}
    same(graph.frame("bfs", sources, **asked), graph.local.bfs(sources, **asked))


@pytest.mark.parametrize("mode", ["joint", "each"])
def test_levels(case, mode):
    _, graph, sources = case
    for options in ({}, {"depth_limit": 1}, {"direction": "in"}):
        found = graph.frame("levels", sources, mode=mode, **options)
        same(found, graph.local.levels(sources, mode=mode, **options))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_degrees(case, direction):
    _, graph, _ = case
    same(graph.frame("degrees", direction), graph.local.degrees(direction))


@pytest.mark.parametrize("mode", ["joint", "each"])
def test_paths(case, mode):
    edges, graph, sources = case
    targets = [*edges["dst"].iloc[::7].tolist(), edges["src"].iloc[-1]]
    for options in ({}, {"direction": "in"}, {"depth_limit": 1}):
        asked = {"mode": mode, "deterministic": True, **options}
        same(graph.frame("paths", sources, targets, **asked), graph.local.paths(sources, targets, **asked))


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("where", [None, "open"])
def test_neighborhoods(case, k, where):
    _, graph, sources = case
    kept = graph.ask("khop", sources[:1], k, where=where)
    wanted = graph.local.khop(sources[:1], k, where=where)
    same(joined([of.frames["vertices"] for of in kept]), wanted.vertices)
    parts = [part for of in kept for part in zip(of.about["partitions"], of.frames["edges"], strict=True)]
    frames = [frame for _, frame in sorted(parts, key=lambda part: part[0])]
    same(pd.concat(frames), wanted.edges)


def test_filters(case):
    _, graph, sources = case
    asked = {"where": "open", "deterministic": True}
    for direction in DIRECTIONS:
        same(
            graph.frame("bfs", sources, direction=direction, **asked),
            graph.local.bfs(sources, direction=direction, **asked),
        )


def test_counts_of_edges(case):
    _, graph, _ = case
    assert set(graph.ask("n_self_loops")) == {graph.local.n_self_loops}
    assert set(graph.ask("n_duplicate_edges")) == {graph.local.n_duplicate_edges}


def test_the_summary(case):
    edges, graph, _ = case
    built = graph.states[0].items["graph"]
    assert built.n_vertices == graph.local.n_vertices
    assert built.n_edges == len(edges)
    memory = graph.frame("memory")
    assert list(memory.columns) == list(graph.local.memory().columns)
    assert set(memory["place"]) == {"host"}
    ends = memory.set_index("structure")["bytes"]["ends of the edges"]
    assert ends == 8 * len(edges)


@pytest.mark.parametrize("dtype", ["string", "str"])
@pytest.mark.parametrize("partitions", [1, 2, 5])
def test_given_vertices_do_not_choose_the_dtype_of_ids(dtype, partitions):
    """The edges determine the dtype of ids, wherever their partitions lie."""
    edges = pd.DataFrame({"u": ["a", "b"], "v": ["b", "c"]}, dtype=dtype)
    graph = spread(edges, (1, 4), partitions, src="u", dst="v", vertices=pd.Series(["z", "a"], dtype=object))
    same(graph.frame("bfs", "a"), graph.local.bfs("a"))
