"""Ranks on a GPU answer like the local graph there; as threads of one process they share the GPU."""

from __future__ import annotations

import pytest
from rank_cases import Spread, joined, same, spread

from rapids_trav import generators
from rapids_trav.distributed.ranks import service
from rapids_trav.distributed.ranks.rank import RankState

pytestmark = pytest.mark.gpu
SHAPES = [(1, 1), (2, 2), (3, 2)]


def edges_of(kind):
    cudf = pytest.importorskip("cudf")
    edges = generators.rmat(8, 6)[["src", "dst"]] * 5
    edges["open"] = (edges["src"] + edges["dst"]) % 3 > 0
    if kind == "strings":
        edges = edges.astype({"src": str, "dst": str})
    return cudf.from_pandas(edges)


@pytest.fixture(
    params=[(k, s, d) for k in ("integers", "strings") for s, d in zip(SHAPES, (0, 1, 1), strict=True)]
)
def case(request):
    kind, shape, directed = request.param
    edges = edges_of(kind)
    graph = spread(edges, shape, device="cuda", directed=bool(directed))
    return graph, edges["src"].iloc[:2].to_pandas().tolist()


def test_searches(case):
    graph, sources = case
    for direction in ("out", "in", "both"):
        for asked in ({}, {"reached_only": True, "depth_limit": 1}, {"mode": "each"}, {"where": "open"}):
            asked = {"direction": direction, "deterministic": True, **asked}
            same(graph.frame("bfs", sources, **asked), graph.local.bfs(sources, **asked))


def test_any_predecessors_and_the_settings(case):
    graph, sources = case
    wanted = graph.local.bfs(sources, predecessors=False)
    for tuning in ({}, {"exchange": "list"}, {"exchange": "bitmap"}, {"claim": "sort"}, {"bottom_up": True}):
        found = graph.frame("bfs", sources, tuning=tuning)
        same(found[["vertex", "distance"]], wanted)
    if not graph.local.directed:
        assert {str(verdict) for verdict in graph.ask("validate", sources[0])} == {"valid"}


def test_summaries(case):
    graph, sources = case
    for direction in ("out", "in", "both"):
        same(graph.frame("degrees", direction), graph.local.degrees(direction))
    for mode in ("joint", "each"):
        same(graph.frame("levels", sources, mode=mode), graph.local.levels(sources, mode=mode))
        asked = {"mode": mode, "deterministic": True}
        same(
            graph.frame("paths", sources[:1], sources, **asked),
            graph.local.paths(sources[:1], sources, **asked),
        )
    assert set(graph.ask("n_self_loops")) == {graph.local.n_self_loops}
    assert set(graph.ask("n_duplicate_edges")) == {graph.local.n_duplicate_edges}
    assert set(graph.frame("memory")["place"].to_pandas()) == {"device"}


def test_neighborhoods(case):
    graph, sources = case
    kept = graph.ask("khop", sources[:1], 1, where="open")
    wanted = graph.local.khop(sources[:1], 1, where="open")
    same(joined([of.frames["vertices"] for of in kept]), wanted.vertices)
    parts = [part for of in kept for part in zip(of.about["partitions"], of.frames["edges"], strict=True)]
    same(joined([[frame] for _, frame in sorted(parts, key=lambda part: part[0])]), wanted.edges)


def test_saved(case, tmp_path):
    graph, sources = case
    graph.ask("save", str(tmp_path / "graph"))
    found = Spread(3, [RankState(None, "cuda") for _ in range(3)], graph.local)
    found.on_all(service.open_saved, str(tmp_path / "graph"))
    same(found.frame("bfs", sources, deterministic=True), graph.local.bfs(sources, deterministic=True))
