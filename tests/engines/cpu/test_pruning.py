"""What pulled levels leave out: isolated vertices (SYSTEMS V5), the rest of a row, and visited vertices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_cpu_engine import assert_tree, expected_distance, frame_view, view_of

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.bfs import direction_optimizing
from rapids_trav.engines.cpu.bfs.steps import WIDE_VERTICES, every_64th, likely_row, pull, push_levels
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit import kernels
from rapids_trav.jit.kernels import Threads

EDGES = generators.rmat(11, 8, seed=6) * 3  # gaps between the ids, which isolated vertices fill
N = int(EDGES.to_numpy().max()) + 1
WHERE = {"behind": np.arange(N, 5 * N), "between": np.arange(5 * N), "before": np.arange(-2 * N, 0)}


@pytest.fixture(scope="module")
def bare():
    return EDGES.trav.graph()


@pytest.fixture(scope="module", params=WHERE)
def padded(request):
    return EDGES.trav.graph(vertices=WHERE[request.param])


def traced(graph, root, variant):
    source = graph.ids.encoder()([pd.Series([root])])
    return graph.engine.search(graph.storage.view(), source, BfsOptions(variant, trace=True))


@pytest.mark.parametrize("variant", ["auto", "direction"])
def test_isolated_vertices_are_not_looked_at(padded, variant):
    """A bottom-up level looks only at unreached vertices that have an edge."""
    linked = np.diff(padded.storage.view().into.row_offsets) > 0
    assert linked.sum() < padded.n_vertices / 2
    for root in EDGES["src"].iloc[:5]:
        found = traced(padded, root, variant)
        levels = [row.level for row in found.trace if row.direction == "pull"]
        unreached = [linked & ((found.distance < 0) | (found.distance >= level)) for level in levels]
        assert found.counters["looked"] == sum(int(vertices.sum()) for vertices in unreached) > 0


@pytest.mark.parametrize("variant", ["auto", "direction"])
def test_vertices_with_self_loops_alone_are_not_looked_at(variant):
    """Neither are they if the loop is given several times; a vertex with another edge is looked at."""
    first = N * 3
    alone = np.repeat(np.arange(first, first + 3000), 2)
    mixed = EDGES["src"].unique()
    loops = pd.DataFrame({"src": np.r_[alone, mixed], "dst": np.r_[alone, mixed]})
    graph = pd.concat([EDGES, loops]).trav.graph()
    has_other = graph.degrees()["vertex"].to_numpy() < first
    assert (~has_other).sum() == 3000
    has_other = has_other if graph.ids.order is None else has_other[graph.ids.order]
    for root in EDGES["src"].iloc[:5]:
        found = traced(graph, root, variant)
        levels = [row.level for row in found.trace if row.direction == "pull"]
        unreached = [has_other & ((found.distance < 0) | (found.distance >= level)) for level in levels]
        assert found.counters["looked"] == sum(int(vertices.sum()) for vertices in unreached) > 0
    answer = graph.bfs(first, variant=variant)
    assert answer["vertex"][answer["distance"].notna()].tolist() == [first]


def test_the_plain_search_ends_at_the_last_row_with_an_edge(bare):
    padded = EDGES.trav.graph(vertices=WHERE["behind"])
    root = EDGES["src"].iloc[0]
    few, many = traced(bare, root, "pull"), traced(padded, root, "pull")
    assert many.counters == few.counters and few.counters["looked"] > 0


@pytest.mark.parametrize("variant", CpuEngine.variants)
def test_answers_have_every_vertex(bare, padded, variant):
    root = int(EDGES["dst"].iloc[0])
    answer = padded.bfs(root, variant=variant)
    assert len(answer) == padded.n_vertices > bare.n_vertices
    few = bare.bfs(root, variant=variant).set_index("vertex")
    isolated = ~answer["vertex"].isin(few.index)
    assert isolated.sum() == padded.n_vertices - bare.n_vertices
    assert answer["distance"][isolated].isna().all() and answer["predecessor"][isolated].isna().all()
    reached = answer[~isolated].set_index("vertex")["distance"]
    pd.testing.assert_series_equal(reached, few["distance"], check_index_type=False)


@pytest.mark.parametrize("mode", ["joint", "each"])
@pytest.mark.parametrize("directed", [False, True])
def test_a_source_may_be_isolated_or_lead_out_alone(directed, mode):
    """One source is isolated. In a directed graph, a source without in-edges still leads to others."""
    star = pd.DataFrame({"src": np.full(300, 900), "dst": np.arange(300)})
    tail = pd.DataFrame({"src": np.arange(299), "dst": np.arange(1, 300)})
    graph = pd.concat([star, tail]).trav.graph(directed=directed, vertices=np.arange(1000))
    for variant in CpuEngine.variants:
        answer = graph.bfs([900, 950], mode=mode, variant=variant)
        near = answer[answer["distance"].notna()]
        expected = {900: 0, 950: 0} | dict.fromkeys(range(300), 1)
        assert dict(zip(near["vertex"], near["distance"], strict=True)) == expected, variant
        targeted = graph.bfs([900], targets=[950], variant=variant)["distance"]
        assert targeted.notna().sum() == 301


def test_which_rows_have_an_edge_to_another_vertex():
    rng = np.random.default_rng(1)
    for n in (0, 1, 63, 64, 65, 1000, 200_000):
        u = rng.integers(0, max(n, 1), n // 3)
        v = (u + 1) % max(n, 1)
        adjacency = CpuEngine().build_adjacency(lambda u=u, v=v: iter([(u, v)]), n)
        wanted = np.bincount(u, minlength=n)[:n] > 0
        bits = np.unpackbits(adjacency.linked.view(np.uint8), bitorder="little").astype(bool)
        if wanted.all():
            assert len(bits) == 0
        else:
            assert np.array_equal(bits[:n], wanted) and not bits[n:].any()
        assert adjacency.n_linked == (int(u.max()) + 1 if len(u) else 0)


def test_a_graph_outside_memory_keeps_no_marks_of_its_rows():
    """The marks belong to the memory that a search declares, and are freed with it."""
    vertices = np.arange(N)
    outside = EDGES.trav.graph(vertices=vertices, memory_limit="100kB")
    root = int(EDGES["src"].iloc[0])
    found, traced = outside.bfs(root, trace=True)
    assert "pull" in set(traced["direction"])
    held = outside.memory()
    assert set(held["place"]) == {"host", "disk"}
    assert outside.budget.used == held["bytes"][held["place"] == "host"].sum()
    inside = EDGES.trav.graph(vertices=vertices)
    pd.testing.assert_frame_equal(found[["vertex", "distance"]], inside.bfs(root)[["vertex", "distance"]])


# ---- pulled levels: many unvisited vertices are shared among threads, few are looked through by one


SCALE, ENGINE = 15, CpuEngine()


@pytest.fixture(scope="module")
def view():
    return frame_view(generators.rmat(SCALE, seed=3), 1 << SCALE)


def searched(monkeypatch, view, policy, shared):
    """Search with four threads; return the search, and the numbers of ranges of its pulled levels."""
    ranges = []

    class Spied(kernels.Threads):
        def run(self, kernel, n, *arguments, **options):
            counts = super().run(kernel, n, *arguments, **options)
            if kernel is pull:
                ranges.append(len(counts))
            return counts

    monkeypatch.setattr(direction_optimizing, "Threads", lambda: Spied(4))
    monkeypatch.setattr(direction_optimizing, "SHARED", shared)
    root = np.flatnonzero(np.diff(view.out.row_offsets))[[5]]
    return root, ENGINE.search(view, root, BfsOptions(policy=policy, trace=True)), ranges


@pytest.mark.parametrize("policy", ["gap", "beamer"])
def test_shared_levels_find_what_single_ones_find(monkeypatch, view, policy):
    root, shared, ranges = searched(monkeypatch, view, policy, -1)
    assert ranges and min(ranges) > 1
    _, single, ranges = searched(monkeypatch, view, policy, 1 << SCALE)
    assert ranges and max(ranges) == 1
    np.testing.assert_array_equal(shared.distance, single.distance)
    assert_tree(view, root, shared)
    assert shared.counters == single.counters
    without_times = [[replace(row, milliseconds=0) for row in found.trace] for found in (shared, single)]
    assert without_times[0] == without_times[1]


def test_levels_are_shared_while_many_vertices_are_unvisited(monkeypatch, view):
    """The vertices that can still be found are counted before the first pulled level, and after each."""
    root, found, _ = searched(monkeypatch, view, "gap", -1)
    distance = ENGINE.search(view, root, BfsOptions("frontier")).distance
    linked = np.diff(view.into.row_offsets) > 0
    left = {level: int((linked & ((distance < 0) | (distance >= level))).sum()) for level in range(1, 20)}
    first = next(row.level for row in found.trace if row.direction == "pull")
    _, _, ranges = searched(monkeypatch, view, "gap", left[first] - 1)
    assert ranges[0] > 1 and set(ranges[1:]) == {1}
    _, _, ranges = searched(monkeypatch, view, "gap", left[first])
    assert set(ranges) == {1}


# ---- bottom-up steps stop at the first neighbour in the frontier (SYSTEMS P2, V4), as their edge counts show


@pytest.fixture(scope="module")
def graphs():
    edges = generators.rmat(12, 16, seed=4)
    return {sort: edges.trav.graph(degree_sort=sort == "radix") for sort in ("none", "radix")}


def serial_checks(view, distance, level):
    """Count the edges of unreached vertices: up to the first one from the level before, and all."""
    offsets, columns = view.into.row_offsets, view.into.column_indices
    checks = degrees = 0
    for v in np.flatnonzero((distance < 0) | (distance >= level)):
        row = distance[columns[offsets[v] : offsets[v + 1]]]
        hits = np.flatnonzero(row == level - 1)
        checks += hits[0] + 1 if len(hits) else len(row)
        degrees += len(row)
    return checks, degrees


def some_roots(graph, n=6):
    found = graph.degrees()
    return found["vertex"][found["degree"] > 0].sample(n, random_state=2).tolist()


@pytest.mark.parametrize("sort", ["none", "radix"])
@pytest.mark.parametrize("variant", ["pull", "auto"])
def test_edges_are_those_up_to_the_first_parent(graphs, variant, sort):
    graph = graphs[sort]
    stopped_early = 0
    for root in some_roots(graph, 3):
        view, found = graph.storage.view(), traced(graph, root, variant)
        pulled = [row for row in found.trace if row.direction == "pull"]
        assert pulled
        for row in pulled:
            checks, degrees = serial_checks(view, found.distance, row.level)
            assert row.edges == checks
            stopped_early += checks < degrees
    assert stopped_early


@pytest.mark.parametrize("variant", ["pull", "auto"])
def test_rows_in_order_of_degree_are_left_sooner(graphs, variant):
    """Rows in order of degree shorten the bottom-up levels of several searches together on a Kronecker graph.

    From a root of few edges, the first such level reads further into the rows, because the root stands late
    in them. The search that chooses its direction itself has no bottom-up level so early.
    """
    edges = {}
    for sort, graph in graphs.items():
        edges[sort] = [
            sum(row.edges for row in traced(graph, root, variant).trace if row.direction == "pull")
            for root in some_roots(graphs["none"])
        ]
    assert sum(edges["radix"]) < sum(edges["none"])
    if variant == "auto":
        assert all(few <= many for few, many in zip(edges["radix"], edges["none"], strict=True))


# ---- the bitmap of visited vertices that narrow levels look up, and the rows that chains prefetch


def shuffled_path(n, ends=(0,)):
    place = np.random.default_rng(2).permutation(n)
    return view_of(np.stack([place[:-1], place[1:]], 1), n), place[list(ends)]


def clique_with_tails(n_clique, n_tails, length):
    """Return a clique with tails: a search pushes in one tail, pulls in the clique, pushes in the others."""
    u, v = np.triu_indices(n_clique, 1)
    edges = [np.stack([u, v], 1)]
    for tail in range(n_tails):
        first = n_clique + tail * length
        way = np.r_[tail, np.arange(first, first + length)]
        edges.append(np.stack([way[:-1], way[1:]], 1))
    return view_of(np.concatenate(edges), n_clique + n_tails * length)


def launches(monkeypatch):
    names = []
    monkeypatch.setattr(direction_optimizing, "launched", names.append)
    return names


@pytest.mark.parametrize("policy", ["gap", "beamer"])
@pytest.mark.parametrize("tails", [3, 7])
def test_pushed_levels_know_what_pulled_ones_visited(policy, tails):
    view = clique_with_tails(90, tails, 9)
    for root in (view.n_vertices - 1, 0, 89):
        found = ENGINE.search(view, np.array([root]), BfsOptions(policy=policy, trace=True))
        assert {row.direction for row in found.trace} == {"push", "pull"}
        np.testing.assert_array_equal(found.distance, expected_distance(view, [root]))
        assert_tree(view, [root], found)
        sizes = np.bincount(found.distance)
        assert [row.frontier for row in found.trace] == sizes.tolist()[: len(found.trace)]


def test_narrow_levels_know_what_wide_ones_visited(monkeypatch):
    """Search a root, more neighbours than one thread pushes, one vertex behind all of these, and a tail.

    A path that the search does not reach has so many edges that no level is pulled.
    """
    names = launches(monkeypatch)
    monkeypatch.setattr(direction_optimizing, "Threads", lambda: Threads(2))
    hubs = np.arange(1, WIDE_VERTICES + 101)
    tail = np.arange(hubs[-1] + 1, hubs[-1] + 20)
    far = np.arange(tail[-1] + 1, tail[-1] + 200_000)
    edges = [
        np.stack([np.zeros_like(hubs), hubs], 1),
        np.stack([hubs, np.full_like(hubs, tail[0])], 1),
        *(np.stack([way[:-1], way[1:]], 1) for way in (tail, far)),
    ]
    view = view_of(np.concatenate(edges), int(far[-1]) + 1)
    found = ENGINE.search(view, np.array([0]), BfsOptions())
    assert names == [push_levels.__name__] * 2  # before and after a level that all threads pushed
    distance = np.full(view.n_vertices, -1)
    distance[0], distance[hubs], distance[tail] = 0, 1, 2 + np.arange(len(tail))
    np.testing.assert_array_equal(found.distance, distance)
    assert_tree(view, [0], found)


@pytest.mark.parametrize("n", [2, 63, 64, 65, 128, 130])
def test_bits_behind_the_last_vertex_are_no_vertices(n):
    """A bottom-up level looks at the unvisited vertices, all of which have an edge here."""
    view = view_of([(0, v) for v in range(1, n)], n)
    found = ENGINE.search(view, np.array([0]), BfsOptions("direction", trace=True))
    assert [row.direction for row in found.trace][:1] == ["pull"]
    assert found.counters["looked"] == n - 1
    assert (found.distance == [0] + [1] * (n - 1)).all()


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_a_chain_asks_for_likely_rows(monkeypatch, trace, keep):
    names = launches(monkeypatch)
    view, sources = shuffled_path(3000, ends=(0, 700))
    options = BfsOptions(predecessors=keep, trace=trace)
    found = ENGINE.search(view, sources, options)
    assert names.count(every_64th.__name__) == 1
    assert trace or names.count(push_levels.__name__) == 2
    np.testing.assert_array_equal(found.distance, expected_distance(view, sources))
    if trace:
        assert [row.level for row in found.trace] == list(range(1, found.distance.max() + 2))
        assert sum(row.edges for row in found.trace) == view.out.n_edges
    limited = ENGINE.search(view, sources, BfsOptions(predecessors=keep, depth_limit=100))
    np.testing.assert_array_equal(limited.distance, np.where(found.distance <= 100, found.distance, -1))


def test_few_chained_levels_do_not_pay_for_it(monkeypatch):
    names = launches(monkeypatch)
    view = view_of([(v, v + 1) for v in range(40)] + [(0, v) for v in range(41, 5000)], 5000)
    ENGINE.search(view, np.array([40]), BfsOptions())
    assert every_64th.__name__ not in names


@pytest.mark.parametrize("n", [1, 64, 65, 1000])
def test_likely_rows_of_equally_long_rows_are_right(n):
    offsets = 4 * np.arange(n + 1)
    marks = every_64th(offsets)
    assert marks.tolist() == [4 * min(64 * i, n) for i in range(n // 64 + 2)]
    whole = n // 64 * 64  # the last rows have fewer than 64 rows around them
    likely = [likely_row(marks, np.uintp(v)) for v in range(n)]
    assert likely[:whole] == offsets[:whole].tolist()
    assert all(0 <= e <= offsets[-1] for e in likely)
