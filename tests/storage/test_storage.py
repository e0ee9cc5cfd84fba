"""Graphs outside memory, saved and opened: their answers equal those of the same graph in memory."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import rows, to_pandas
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import common, graphs

from rapids_trav import Graph, TravError, UnknownVertexError
from rapids_trav.algorithms.validation import check_tree
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.runs import RunOptions
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import graph_bytes
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import shortest_paths
from rapids_trav.storage import build, paged

VARIANTS = CpuEngine.variants


def random_edges(n=300, m=2000, seed=0):
    random = np.random.default_rng(seed)
    src, dst = (random.zipf(1.3, m) * 7919 % n for _ in range(2))
    cost = random.integers(1, 9, m).astype(np.float32)
    return pd.DataFrame({"src": src, "dst": dst, "open": random.random(m) < 0.6, "cost": cost})


def assert_same(one, other):
    pd.testing.assert_frame_equal(to_pandas(one), to_pandas(other))


def assert_same_answers(graph, other, sources, targets, where=None):
    """Check that both graphs give the same answer to every question that has only one answer."""
    for direction in ("out", "in", "both"):
        options = {"direction": direction, "where": where}
        for variant in VARIANTS:
            found = graph.bfs(sources, variant=variant, predecessors=False, **options)
            assert_same(found, other.bfs(sources, variant=variant, predecessors=False, **options))
        assert_same(
            graph.bfs(sources, deterministic=True, **options),
            other.bfs(sources, deterministic=True, **options),
        )
        assert_same(
            graph.paths(sources, targets, deterministic=True, mode="each", **options),
            other.paths(sources, targets, deterministic=True, mode="each", **options),
        )
        assert_same(graph.levels(sources, **options), other.levels(sources, **options))
        assert_same(graph.degrees(direction), other.degrees(direction))
        assert_same(graph.khop(sources, 1, **options).vertices, other.khop(sources, 1, **options).vertices)
    assert (graph.n_vertices, graph.n_edges) == (other.n_vertices, other.n_edges)
    assert graph.n_self_loops == other.n_self_loops
    assert graph.n_duplicate_edges == other.n_duplicate_edges


@contextmanager
def outside_memory():
    """Keep a graph with a limit outside memory, even if it is small enough to fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "in_memory_bytes", lambda *arguments, **options: 1 << 60)
        yield


def enough_for_searches(graph):
    """Return the bytes for ids and their table, one of many searches at a time, and a few edges in hand."""
    return 3 * graph.ids.nbytes + 80 * graph.n_vertices + 128 * graph.n_edges + 4000


@settings(common, max_examples=30)
@given(graphs(), st.data())
def test_paged_graphs_answer_alike(drawn, data):
    frame, ends, ids, _, directed = drawn
    options = {"directed": directed, "vertices": list(ids)}
    options["order"] = data.draw(st.sampled_from(["ids", "degree", "locality"]))
    graph = frame.trav.graph(*ends, **options)
    smallest = enough_for_searches(graph)
    limit = data.draw(st.integers(smallest, smallest + 2000))
    with outside_memory():
        other = frame.trav.graph(*ends, **options, memory_limit=limit)
    assert isinstance(other.storage, paged.Paged)
    ends_of_questions = st.lists(st.sampled_from(ids), min_size=1, max_size=3)
    sources, targets = data.draw(ends_of_questions), data.draw(ends_of_questions)
    where = data.draw(st.sampled_from([None, "open"]))
    assert_same_answers(graph, other, sources, targets, where)
    assert_same(graph.khop(sources, 2, where=where).edges, other.khop(sources, 2, where=where).edges)
    check_tree(graph, other.bfs(sources), sources)
    if other.budget is not None:
        assert other.budget.peak <= other.budget.limit == limit


@settings(common, max_examples=20)
@given(graphs(), st.data())
def test_saved_graphs_answer_alike(tmp_path_factory, drawn, data):
    frame, ends, ids, _, directed = drawn
    options = {"directed": directed, "vertices": list(ids)}
    options["order"] = data.draw(st.sampled_from(["ids", "degree", "locality"]))
    graph = frame.trav.graph(*ends, **options)
    folder = tmp_path_factory.mktemp("saved") / "graph"
    graph.save(folder)
    smallest = enough_for_searches(graph)
    limit = data.draw(st.sampled_from([None, smallest, smallest + 500]))
    with outside_memory():
        other = Graph.open(folder, engine="cpu", memory_limit=limit, verify=True)
    assert [str(dtype) for dtype in other.ids.dtypes] == [str(dtype) for dtype in graph.ids.dtypes]
    assert (other.directed, other.weight, other.engine.name) == (directed, None, "cpu")
    ends_of_questions = st.lists(st.sampled_from(ids), min_size=1, max_size=3)
    sources, targets = data.draw(ends_of_questions), data.draw(ends_of_questions)
    assert_same_answers(graph, other, sources, targets)

    def pairs(edges):
        columns = [edges[name] for side in ends for name in ([side] if isinstance(side, str) else side)]
        half = len(columns) // 2
        found = zip(zip(*columns[:half], strict=True), zip(*columns[half:], strict=True), strict=True)
        return sorted(found if directed else map(sorted, found))

    assert pairs(other.khop(sources, 1).edges) == pairs(graph.khop(sources, 1).edges)
    again = folder.parent / "again"
    other.save(again)  # an opened graph can be saved, with identical files
    assert [(again / name.name).read_bytes() for name in sorted(folder.iterdir())] == [
        name.read_bytes() for name in sorted(folder.iterdir())
    ]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("outside", ["paged", "saved", "saved and paged"])
def test_vertex_programs(tmp_path, directed, outside):
    edges = random_edges()
    options = {"directed": directed, "weight": "cost"}
    graph = edges.trav.graph(**options)
    other = graph
    limit = 90 * graph.n_vertices + 16_000
    if "saved" in outside:
        graph.save(tmp_path / "graph")
        other = Graph.open(
            tmp_path / "graph", engine="cpu", memory_limit=limit if "paged" in outside else None
        )
    else:
        other = edges.trav.graph(**options, memory_limit=limit)
    assert isinstance(other.storage, paged.Paged) == ("paged" in outside)
    source = edges["src"][0]
    assert_same(graph.components(), other.components())
    found = graph.sssp(source, predecessors=False)
    assert_same(found, other.sssp(source, predecessors=False))
    assert_same(found[["vertex", "distance"]], other.sssp(source)[["vertex", "distance"]])
    for weighted in (False, True):
        one, two = graph.pagerank(weighted=weighted), other.pagerank(weighted=weighted)
        np.testing.assert_allclose(one["pagerank"], two["pagerank"], rtol=1e-9)
    if other.budget is not None:
        assert other.budget.used <= other.budget.peak <= limit
        trace = other.pagerank(trace=True).trace
        assert (trace["pages"] > 1).all() and (trace["bytes"] > 0).all()


def test_a_graph_outside_memory_says_where_it_lies():
    edges = random_edges()
    graph = edges.trav.graph(directed=True, memory_limit="25kB")
    graph.bfs(edges["src"][0], direction="in")
    graph.bfs(edges["src"][0], variant="edge")
    held = {(name, place): size for name, size, place in rows(graph.memory())}
    assert held["CSR", "disk"] == held["CSC", "disk"] == 4 * (graph.n_edges + graph.n_vertices + 1)
    assert held["COO of CSR", "disk"] == 4 * graph.n_edges
    assert graph.budget.used == sum(size for (_, place), size in held.items() if place == "host")
    assert graph.budget.used == graph.ids.nbytes < graph.budget.peak <= graph.budget.limit == 25_000
    assert repr(graph).endswith("directed), pandas frames, cpu engine, within 25 kB>")
    in_memory = edges.trav.graph(directed=True, memory_limit="5MB")
    assert not isinstance(in_memory.storage, paged.Paged)
    assert in_memory.budget.used == sum(size for _, size, _ in rows(in_memory.memory()))
    assert set(in_memory.memory()["place"]) == {"host"}
    with pytest.raises(TypeError, match="kept in files cannot be pickled: save it"):
        pickle.dumps(graph)


def test_memory_is_given_back():
    edges = random_edges()
    graph = edges.trav.graph(directed=True, memory_limit="40kB")
    assert graph.budget.used == graph.ids.nbytes
    for where in ("open", "open", None):
        graph.bfs(edges["src"][0], where=where, direction="in")
        graph.pagerank(where=where)
        assert graph.budget.used == graph.ids.nbytes


def test_limits_that_are_too_small():
    edges = pd.DataFrame({"src": [10, 20, 30], "dst": [20, 30, 10**6]})
    with pytest.raises(TravError, match=r"memory_limit='much' is not an amount of memory"):
        edges.trav.graph(memory_limit="much")
    with pytest.raises(
        MemoryError, match=r"32 B are needed for vertex ids, and memory_limit=20 B leaves 20 B: give .* 84 B"
    ):
        edges.trav.graph(memory_limit=20)
    with pytest.raises(TravError, match=r"spill='/nowhere' does not exist: name an existing folder"):
        edges.trav.graph(memory_limit=84, spill="/nowhere")
    graph = edges.trav.graph(memory_limit=84)  # the limit that the first error named
    assert graph.bfs(10)["distance"].tolist() == [0, 1, 2, 3]
    with pytest.raises(MemoryError, match="give memory_limit at"):
        graph.components()
    assert edges.trav.bfs(10, memory_limit=84)["distance"].tolist() == [0, 1, 2, 3]


def test_edges_are_read_a_little_at_a_time(tmp_path, monkeypatch):
    edges = random_edges(m=20_000)
    edges.to_parquet(tmp_path / "edges.parquet", row_group_size=1500)
    seen = []
    read = paged.SpilledBuild.build_adjacency

    def spy(self, chunks, n_vertices, **how):
        def watched():
            for ends in chunks():
                seen.append(len(ends[0]))
                yield ends

        return read(self, watched, n_vertices, **how)

    monkeypatch.setattr(paged.SpilledBuild, "build_adjacency", spy)
    graph = edges.trav.graph()
    for source in (edges, [edges[:13_000], edges[13_000:]], tmp_path / "edges.parquet"):
        other = Graph.from_edges(source, memory_limit="24kB")
        assert max(seen) <= 4096 and sum(seen) == 2 * len(edges)
        assert_same(other.bfs(edges["src"][0]), graph.bfs(edges["src"][0]))
        assert_same(other.khop(edges["src"][5], 1).edges, graph.khop(edges["src"][5], 1).edges)
        seen.clear()


@pytest.mark.parametrize("n_edges", [0, 100])
@pytest.mark.parametrize("directed", [True, False])
def test_a_graph_that_does_not_fit_what_is_free_is_kept_outside(monkeypatch, n_edges, directed):
    edges = random_edges(m=max(n_edges, 1)).head(n_edges)
    n_vertices = edges.trav.graph(vertices=[1]).n_vertices
    needed = graph_bytes(True, n_vertices, n_edges, directed=directed)
    monkeypatch.setattr(CpuEngine, "free_bytes", lambda self: needed)
    assert edges.trav.graph(directed=directed, vertices=[1]).budget is None
    if n_edges:
        monkeypatch.setattr(CpuEngine, "free_bytes", lambda self: needed - 1)
        assert edges.trav.graph(directed=directed, vertices=[1]).budget.limit == int(0.9 * (needed - 1))


@pytest.mark.parametrize("directed", [True, False])
def test_weighted_questions_where_no_edge_is_left(tmp_path, directed):
    edges = random_edges().assign(none=False)
    graph = edges.trav.graph(weight="cost", directed=directed)
    other = edges.trav.graph(weight="cost", directed=directed, memory_limit="40kB")
    assert other.budget is not None
    for direction in ("out", "in", "both"):
        options = {"direction": direction, "where": "none"}
        assert_same(other.sssp(edges["src"][0], **options), graph.sssp(edges["src"][0], **options))
    assert_same(other.pagerank(where="none"), graph.pagerank(where="none"))
    empty = edges.head(0).trav.graph(weight="cost", directed=directed, vertices=[1, 70_000])
    empty.save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph", engine="cpu")
    outside = Graph.open(tmp_path / "graph", engine="cpu", memory_limit="340B")
    assert isinstance(outside.storage, paged.Paged)
    for graph in (empty, opened, outside):
        for direction in ("out", "in", "both"):
            assert rows(graph.sssp(1, predecessors=False, direction=direction))[0] == (1, 0.0)
        assert rows(graph.pagerank()) == [(1, 0.5), (70_000, 0.5)]


@pytest.mark.parametrize("limit", [None, "30kB"])
def test_weighted_graphs_are_pickled(limit):
    edges = random_edges()
    graph = edges.trav.graph(weight="cost", directed=True, memory_limit=limit)
    if limit is not None:
        with pytest.raises(TypeError, match="kept in files cannot be pickled"):
            pickle.dumps(graph)
        return
    source = edges["src"][0]
    wanted = graph.sssp(source), graph.sssp(source, where="open")  # arrays made for the filter are kept
    other = pickle.loads(pickle.dumps(graph))
    assert_same(other.sssp(source), wanted[0])
    assert_same(other.sssp(source, where="open"), wanted[1])
    assert_same(other.bfs(source, where="open"), graph.bfs(source, where="open"))


@pytest.mark.parametrize("directed", [True, False])
def test_long_thin_graphs_are_pushed_along_outside_memory(directed):
    """Reading all edges at each level of a path, or of a ladder made of it, would take n^2."""
    vertex = np.arange(20_000)
    path = pd.DataFrame({"src": vertex, "dst": vertex + 1, "cost": vertex % 7})
    ladder = pd.concat([path, path.assign(dst=(vertex * 7 + 13) % 50)], ignore_index=True)
    for edges in (path, ladder):
        graph = edges.trav.graph(weight="cost", directed=directed)
        other = edges.trav.graph(weight="cost", directed=directed, memory_limit="2.6MB")
        assert isinstance(other.storage, paged.Paged)
        found = other.sssp(0, trace=True)
        assert_same(found.result, graph.sssp(0))
        assert "push" in set(found.trace["mode"]) and found.trace["edges"].sum() < 10 * len(edges)
        for direction in ("in", "both"):
            assert_same(other.sssp(9, direction=direction), graph.sssp(9, direction=direction))
        assert_same(other.components(), graph.components())
        assert other.budget.peak <= other.budget.limit


def test_two_threads_find_room_under_one_budget():
    ends = np.random.default_rng(0).integers(0, 20_000, (150_000, 2))
    edges = pd.DataFrame(ends, columns=["src", "dst"])
    graph = edges.trav.graph(directed=True, memory_limit="3MB")
    assert graph.budget is not None
    wanted = graph.components()
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda _: graph.components(), range(30)):
            assert_same(found, wanted)
    assert graph.budget.used == 0


def test_a_push_that_does_not_fit_is_left_out():
    """A push's lists take 37 bytes per vertex beside the 61 of values and notified vertices, and a page."""
    vertex = np.arange(3000)
    edges = pd.DataFrame({"src": vertex, "dst": (vertex + 1) % 3000, "cost": 1.0})
    graph = edges.trav.graph(weight="cost", directed=True, memory_limit="400kB")
    held = graph.budget.limit - 70 * 3000
    wanted = graph.sssp(0, predecessors=False, trace=True)
    assert "push" in set(wanted.trace["mode"])
    view = graph.storage.gather_view("out", weighted=True, pushed=True)
    assert graph.budget.free >= held
    tight = replace(view, pages=replace(view.pages, budget=Budget(70 * 3000)))
    program, initial = shortest_paths("float64"), np.where(vertex == 0, 0.0, np.inf)
    state = RunState(initial, vertex == 0)
    options = RunOptions(weighted=True, trace=True)
    done = graph.engine.run(tight, program, state, options)
    assert done.values.tolist() == wanted.result["distance"].tolist()
    assert "push" not in {step.mode for step in done.trace} and tight.pages.budget.used == 0
    forced = replace(options, mode="push")  # this lists no notified vertices, so the push's lists fit here
    assert graph.engine.run(tight, program, state, forced).values.tolist() == done.values.tolist()
    tighter = replace(view, pages=replace(view.pages, budget=Budget(50 * 3000)))
    with pytest.raises(TravMemoryError, match="needed for the lists of a push"):
        graph.engine.run(tighter, program, state, forced)


def test_a_limit_of_nothing():
    for amount in (0, "0", "0 GB"):
        with pytest.raises(TravMemoryError, match=r"memory_limit=.*0.* leaves no memory to search in"):
            random_edges().trav.graph(memory_limit=amount)


def test_a_build_that_runs_out_of_memory_is_tried_outside(monkeypatch):
    edges = random_edges()
    graph = edges.trav.graph()
    build = CpuEngine.build_adjacency

    def short(self, *arguments, **options):
        raise MemoryError

    monkeypatch.setattr(CpuEngine, "build_adjacency", short)
    monkeypatch.setattr(CpuEngine, "free_bytes", lambda self: 10_000)
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(CpuEngine, "build_outside", short)
        edges.trav.graph(memory_limit="1GB")  # the caller says that it fits
    free = iter([10**9, 10_000])  # until it turns out that less is free
    monkeypatch.setattr(CpuEngine, "free_bytes", lambda self: next(free))
    other = edges.trav.graph()
    assert other.budget.limit == 9000
    monkeypatch.setattr(CpuEngine, "build_adjacency", build)
    assert_same(graph.bfs(edges["src"][0]), other.bfs(edges["src"][0]))


def test_what_a_saved_graph_does_not_have(tmp_path):
    edges = random_edges()
    edges.trav.graph(weight="cost").save(tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph", engine="cpu")
    with pytest.raises(TravError, match="where='open' needs the columns of the edges, which a saved graph"):
        graph.bfs(edges["src"][0], where="open")
    with pytest.raises(UnknownVertexError):
        graph.bfs(-1)
    with pytest.raises(TypeError, match="kept in files cannot be pickled"):
        pickle.dumps(graph)
    assert graph.edge_columns == ["src", "dst", "cost"]
    assert "undirected), pandas frames, cpu engine" in repr(graph)
    assert set(graph.memory()["place"]) == {"disk", "host"} or graph.ids.nbytes == 0


def test_khop_of_a_saved_graph_has_the_weights(tmp_path):
    edges = pd.DataFrame({"a": [3, 1, 2, 2], "b": [1, 2, 3, 2], "w": [0.5, 1.5, 2.5, 3.5]})
    for directed, wanted in (
        (True, [(1, 2, 1.5), (2, 2, 3.5), (2, 3, 2.5), (3, 1, 0.5)]),
        (False, [(1, 2, 1.5), (1, 3, 0.5), (2, 2, 3.5), (2, 3, 2.5)]),
    ):
        for order in (False, True):
            folder = tmp_path / f"{directed}-{order}"
            edges.trav.graph("a", "b", weight="w", directed=directed, degree_sort=order).save(folder)
            found = Graph.open(folder, engine="cpu").khop(1, 9).edges
            assert found.columns.tolist() == ["a", "b", "w"]
            assert rows(found) == wanted


@pytest.mark.filterwarnings("ignore::rapids_trav.TravWarning")
def test_dask_frames(tmp_path, without_client):
    dask = pytest.importorskip("dask.dataframe")
    edges = random_edges()
    graph = edges.trav.graph(directed=True)
    other = dask.from_pandas(edges, npartitions=3).trav.graph(directed=True, memory_limit="25kB")
    assert other.budget is not None
    assert_same(
        other.bfs(edges["src"][0], deterministic=True).compute(),
        graph.bfs(edges["src"][0], deterministic=True),
    )
    other.save(tmp_path / "graph")
    opened = Graph.open(tmp_path / "graph", engine="cpu")
    assert_same(opened.degrees(), graph.degrees())
