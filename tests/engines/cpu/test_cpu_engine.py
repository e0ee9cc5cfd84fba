"""The CPU engine against SciPy, and its trees against the rules that every breadth-first tree obeys."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from rapids_trav import generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.errors import TravError

ENGINE = CpuEngine()
EACH_VARIANT = pytest.mark.parametrize("variant", ENGINE.variants)
EACH_POLICY = pytest.mark.parametrize("policy", ["gap", "beamer"])


def view_of(edges, n_vertices, directed=False):
    """Return the engine's view of an edge list, with both adjacencies."""
    edges = np.asarray(edges, np.int64).reshape(-1, 2)

    def chunks():
        for part in np.array_split(edges, 3):
            yield part[:, 0], part[:, 1]

    out = ENGINE.build_adjacency(chunks, n_vertices, symmetric=not directed)
    into = ENGINE.build_adjacency(chunks, n_vertices, transpose=True) if directed else out
    return SimpleNamespace(n_vertices=n_vertices, out=out, into=into, coo=ENGINE.expand_rows(out))


def frame_view(frame, n_vertices):
    return view_of(frame.to_numpy(), n_vertices)


def expected_distance(view, sources):
    """Return the distances of SciPy's search from an extra vertex with an edge to every source."""
    n = view.n_vertices
    src = np.concatenate([view.coo.src, np.full(len(sources), n)])
    dst = np.concatenate([view.coo.dst, sources])
    matrix = sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(n + 1, n + 1)).tocsr()
    distance = csgraph.dijkstra(matrix, indices=n, unweighted=True)[:n] - 1
    return np.where(np.isinf(distance), -1, distance).astype(np.int32)


def assert_tree(view, sources, search):
    """Check that predecessors are one level up, over an edge; sources and unreached vertices have none."""
    distance, predecessor = search.distance, search.predecessor
    child = np.flatnonzero(distance > 0)
    assert (predecessor[distance <= 0] == -1).all()
    assert set(np.flatnonzero(distance == 0)) == set(np.asarray(sources).tolist())
    parent = predecessor[child]
    assert (distance[parent] == distance[child] - 1).all()
    edges = view.coo.src.astype(np.int64) * view.n_vertices + view.coo.dst  # in ascending order
    used = parent.astype(np.int64) * view.n_vertices + child
    assert (np.append(edges, -1)[np.searchsorted(edges, used)] == used).all()


def cut(distance, depth_limit=None, targets=None):
    """Return the distances that remain when a search ends early."""
    last = distance.max() if depth_limit is None else depth_limit
    if targets is not None and (distance[targets] >= 0).all():
        last = min(last, distance[targets].max(initial=0))
    return np.where(distance <= last, distance, -1)


@pytest.fixture(scope="module")
def kronecker():
    return frame_view(generators.rmat(12, 8, seed=5), 1 << 12)


@pytest.fixture(scope="module")
def wide():
    """Return a graph large enough for several threads and for every kind of step."""
    return frame_view(generators.rmat(15, seed=3), 1 << 15)


@pytest.fixture(scope="module")
def from_one(wide):
    """Return a vertex of `wide` with edges, and the distances from it."""
    sources = np.flatnonzero(np.diff(wide.out.row_offsets))[[5]]
    return sources, expected_distance(wide, sources)


@pytest.fixture(scope="module")
def lopsided():
    """Return a directed graph whose rows and columns differ, about 7 levels deep."""
    rng = np.random.default_rng(7)
    u = rng.integers(0, 3000, 9000)
    return view_of(np.stack([u, (u + rng.integers(1, 800, len(u))) % 3000], 1), 3000, directed=True)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 70))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=200))
    shape = draw(st.sampled_from(["random", "star", "path", "random"]))
    if shape == "star":
        edges += [(0, v) for v in range(n)]
    elif shape == "path":
        edges += [(v, v + 1) for v in range(n - 1)]
    sources = draw(st.lists(vertex, min_size=1, max_size=5, unique=True))
    return view_of(edges, n, draw(st.booleans())), np.array(sources)


class TestBuild:
    @pytest.mark.parametrize("symmetric", [False, True])
    @pytest.mark.parametrize("transpose", [False, True])
    @pytest.mark.parametrize("n_vertices", [1, 9, 5000, 200_000])
    def test_rows_ascend_and_hold_every_edge(self, n_vertices, symmetric, transpose):
        rng = np.random.default_rng(n_vertices)
        u, v = rng.integers(0, n_vertices, (2, 20_000))
        u[:5000] = u[0]  # a hub
        v[:100] = u[:100]  # self-loops
        chunks = lambda: iter([(u[:7], v[:7]), (u[7:], v[7:])])  # noqa: E731
        adjacency = ENGINE.build_adjacency(chunks, n_vertices, symmetric=symmetric, transpose=transpose)
        rows, columns = (v, u) if transpose else (u, v)
        if symmetric:
            other = rows != columns
            rows, columns = np.r_[rows, columns[other]], np.r_[columns, rows[other]]
        order = np.lexsort((columns, rows))
        np.testing.assert_array_equal(adjacency.column_indices, columns[order])
        np.testing.assert_array_equal(np.diff(adjacency.row_offsets), np.bincount(rows, minlength=n_vertices))
        assert adjacency.row_offsets.dtype == np.int32
        assert adjacency.column_indices.dtype == np.int32
        coo = ENGINE.expand_rows(adjacency)
        np.testing.assert_array_equal(coo.src, rows[order])
        np.testing.assert_array_equal(coo.dst, columns[order])

    @pytest.mark.parametrize("n_vertices", [0, 1, 4])
    def test_no_edges(self, n_vertices):
        adjacency = ENGINE.build_adjacency(lambda: iter([]), n_vertices)
        assert adjacency.row_offsets.tolist() == [0] * (n_vertices + 1)
        assert adjacency.n_edges == 0

    def test_read_only_and_strided_input(self):
        pairs = np.array([[0, 1], [2, 1]], np.uint8)
        pairs.setflags(write=False)
        adjacency = ENGINE.build_adjacency(lambda: iter([(pairs[:, 0], pairs[:, 1])]), 3)
        assert adjacency.row_offsets.tolist() == [0, 1, 1, 2]
        assert adjacency.column_indices.tolist() == [1, 1]


class TestSearch:
    @EACH_VARIANT
    @pytest.mark.parametrize(
        ("root", "distance"), [(0, [0, 1, 1, 2, 2, 2, 2, 2, 3]), (2, [2, 3, 0, 4, 4, 1, 1, 1, 2])]
    )
    def test_nine_vertices_of_the_textbook(self, variant, root, distance):
        offsets = [0, 2, 4, 7, 9, 11, 12, 13, 15, 15]
        heads = [1, 2, 3, 4, 5, 6, 7, 4, 8, 5, 8, 6, 8, 0, 6]
        view = view_of(np.stack([np.repeat(np.arange(9), np.diff(offsets)), heads], 1), 9, directed=True)
        search = ENGINE.search(view, np.array([root]), BfsOptions(variant))
        assert search.distance.tolist() == distance
        assert search.distance.dtype == np.int32
        assert_tree(view, [root], search)

    @EACH_VARIANT
    @EACH_POLICY
    @settings(max_examples=25)
    @given(graph=graphs())
    def test_random_graphs(self, variant, policy, graph):
        view, sources = graph
        search = ENGINE.search(view, sources, BfsOptions(variant, policy))
        np.testing.assert_array_equal(search.distance, expected_distance(view, sources))
        assert_tree(view, sources, search)

    @EACH_VARIANT
    @EACH_POLICY
    def test_kronecker(self, variant, policy, wide, from_one):
        sources, distance = from_one
        search = ENGINE.search(wide, sources, BfsOptions(variant, policy))
        np.testing.assert_array_equal(search.distance, distance)
        assert_tree(wide, sources, search)

    @EACH_VARIANT
    @EACH_POLICY
    def test_rows_unlike_columns(self, variant, policy, lopsided):
        for sources in ([0], [17, 4]):
            search = ENGINE.search(lopsided, np.array(sources), BfsOptions(variant, policy))
            np.testing.assert_array_equal(search.distance, expected_distance(lopsided, sources))
            assert_tree(lopsided, sources, search)

    @EACH_VARIANT
    @pytest.mark.parametrize("depth_limit", [0, 1, 3, 100])
    def test_depth_limit(self, variant, depth_limit, kronecker):
        full = ENGINE.search(kronecker, np.array([3, 8]), BfsOptions("frontier")).distance
        search = ENGINE.search(kronecker, np.array([3, 8]), BfsOptions(variant, depth_limit=depth_limit))
        np.testing.assert_array_equal(search.distance, cut(full, depth_limit))
        assert_tree(kronecker, [3, 8], search)

    @EACH_VARIANT
    def test_targets(self, variant, kronecker):
        source = np.flatnonzero(np.diff(kronecker.out.row_offsets))[:1]
        full = ENGINE.search(kronecker, source, BfsOptions("frontier")).distance
        unreached = np.flatnonzero(full < 0)[:1]
        levels = [np.flatnonzero(full == level)[:2] for level in range(full.max() + 1)]
        for targets in (levels[0], levels[1], np.r_[levels[2], levels[1]], np.r_[levels[1], unreached]):
            search = ENGINE.search(kronecker, source, BfsOptions(variant, targets=targets))
            np.testing.assert_array_equal(search.distance, cut(full, targets=targets))

    @EACH_VARIANT
    def test_without_predecessors(self, variant, kronecker):
        options = BfsOptions(variant, predecessors=False)
        search = ENGINE.search(kronecker, np.array([3]), options)
        assert search.predecessor is None
        full = ENGINE.search(kronecker, np.array([3]), BfsOptions(variant))
        np.testing.assert_array_equal(search.distance, full.distance)

    @EACH_VARIANT
    def test_one_vertex(self, variant):
        for edges in ([], [(0, 0)], [(0, 0), (0, 0)]):
            search = ENGINE.search(view_of(edges, 1), np.array([0]), BfsOptions(variant))
            assert search.distance.tolist() == [0]
            assert search.predecessor.tolist() == [-1]

    def test_long_path_and_star(self):
        n = 300_000
        view = frame_view(generators.path(n), n)
        search = ENGINE.search(view, np.array([0]), BfsOptions())
        np.testing.assert_array_equal(search.distance, np.arange(n))
        np.testing.assert_array_equal(search.predecessor, np.arange(-1, n - 1))
        view = frame_view(generators.star(n), n)
        search = ENGINE.search(view, np.array([9]), BfsOptions())
        assert search.distance[[9, 0, 1]].tolist() == [0, 1, 2]
        assert search.distance.sum() == 1 + 2 * (n - 2)

    def test_unknown_names(self, kronecker):
        for variant in ("fused", "private", "nonsense"):
            with pytest.raises(
                TravError, match=f"^variant='{variant}' is not known to the .* 'auto', 'push', "
            ):
                ENGINE.search(kronecker, np.array([0]), BfsOptions(variant))
            with pytest.raises(TravError, match=variant):
                ENGINE.search_each(kronecker, np.array([0]), BfsOptions(variant))
        with pytest.raises(TravError, match=r"^policy='fast' is not known: choose one of 'gap', 'beamer'\.$"):
            ENGINE.search(kronecker, np.array([0]), BfsOptions(policy="fast"))

    def test_from_several_python_threads(self, wide):
        roots = np.flatnonzero(np.diff(wide.out.row_offsets))[:24]
        options = BfsOptions()
        with ThreadPoolExecutor(6) as pool:
            found = list(
                pool.map(lambda root: ENGINE.search(wide, np.array([root]), options).distance, roots)
            )
        for root, distance in zip(roots, found, strict=True):
            expected = ENGINE.search(wide, np.array([root]), BfsOptions("frontier")).distance
            np.testing.assert_array_equal(distance, expected)

    @pytest.mark.parametrize("threads", [1, 7])
    def test_any_number_of_threads(self, threads, wide, from_one, monkeypatch):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        sources, distance = from_one
        search = ENGINE.search(wide, sources, BfsOptions())
        np.testing.assert_array_equal(search.distance, distance)


def replayed_directions(view, root, policy, least=0):
    """Return the directions that the published rules give for the frontiers of a plain search.

    A frontier of fewer than `least` edges is pushed regardless of the rules.
    """
    distance = ENGINE.search(view, np.array([root]), BfsOptions("frontier")).distance
    degree = np.diff(view.out.row_offsets)
    sizes = [int((distance == level).sum()) for level in range(distance.max() + 1)] + [0]
    edges = [int(degree[distance == level].sum()) for level in range(distance.max() + 1)] + [0]
    n, left, directions, level, pulling = view.n_vertices, view.out.n_edges, [], 0, False
    if policy == "beamer":
        unvisited = left - edges[0]
        while sizes[level]:
            if pulling:
                pulling = not sizes[level] < n / 24
            else:
                pulling = edges[level] >= least and edges[level] > unvisited / 14
            directions.append("pull" if pulling else "push")
            level += 1
            unvisited -= edges[level]
        return directions
    scout = edges[0]
    while sizes[level]:
        if scout >= least and scout > left // 15:
            while True:
                directions.append("pull")
                level += 1
                if not (sizes[level] >= sizes[level - 1] or sizes[level] > n // 18):
                    break
            scout = 1
        else:
            left -= scout
            directions.append("push")
            level += 1
            scout = edges[level]
    return directions


class TestTrace:
    @pytest.mark.parametrize("variant", ["auto", "direction"])
    @EACH_POLICY
    def test_directions_follow_the_published_rules(self, variant, policy, wide, kronecker):
        seen = set()
        path, grid = frame_view(generators.path(60), 60), frame_view(generators.grid(40, 30), 1200)
        for view in (wide, kronecker, path, grid):
            for root in np.flatnonzero(np.diff(view.out.row_offsets))[:6]:
                trace = ENGINE.search(view, np.array([root]), BfsOptions(variant, policy, trace=True)).trace
                directions = [row.direction for row in trace]
                least = view.n_vertices // 64 if variant == "auto" else 0
                assert directions == replayed_directions(view, root, policy, least)
                assert [row.level for row in trace] == list(range(1, len(trace) + 1))
                seen.update(directions)
        assert seen == {"push", "pull"}

    @EACH_VARIANT
    def test_rows(self, variant, kronecker):
        root = np.flatnonzero(np.diff(kronecker.out.row_offsets))[:1]
        search = ENGINE.search(kronecker, root, BfsOptions(variant, trace=True))
        plain = ENGINE.search(kronecker, root, BfsOptions(variant))
        assert plain.trace == []
        np.testing.assert_array_equal(search.distance, plain.distance)
        sizes = np.bincount(search.distance[search.distance >= 0])
        assert [row.frontier for row in search.trace] == sizes.tolist()
        assert all(row.milliseconds >= 0 and row.bytes > 0 for row in search.trace)

    def test_push_examines_the_frontier_and_pull_stops_early(self, kronecker):
        root = np.flatnonzero(np.diff(kronecker.out.row_offsets))[:1]
        degree = np.diff(kronecker.out.row_offsets)
        pull = ENGINE.search(kronecker, root, BfsOptions("pull", trace=True))
        for variant in ("push", "frontier", "auto"):
            push = ENGINE.search(kronecker, root, BfsOptions(variant, trace=True))
            for level, row in enumerate(push.trace):
                if row.direction == "push":
                    assert row.edges == degree[push.distance == level].sum()
        assert sum(row.edges for row in pull.trace) > 0
        third = pull.trace[2]
        unvisited = (pull.distance < 0) | (pull.distance >= third.level)
        assert third.edges < degree[unvisited].sum()


class TestEach:
    @EACH_VARIANT
    @settings(max_examples=20)
    @given(graph=graphs(), data=st.data())
    def test_as_one_by_one(self, variant, graph, data):
        view, sources = graph
        vertex = st.integers(0, view.n_vertices - 1)
        options = BfsOptions(
            variant,
            depth_limit=data.draw(st.none() | st.integers(0, 4)),
            targets=data.draw(st.none() | st.lists(vertex, min_size=1, max_size=3).map(np.array)),
        )
        together = ENGINE.search_each(view, sources, options)
        assert together.distance.shape == (len(sources), view.n_vertices)
        assert together.distance.dtype == np.int32
        for i, source in enumerate(sources):
            alone = ENGINE.search(view, np.array([source]), replace(options, variant="frontier"))
            np.testing.assert_array_equal(together.distance[i], alone.distance)
            one = SimpleNamespace(distance=together.distance[i], predecessor=together.predecessor[i])
            assert_tree(view, [source], one)

    @pytest.mark.parametrize("n_sources", [0, 1, 63, 64, 65, 200])
    def test_any_number_of_sources(self, n_sources, kronecker, lopsided):
        for view in (kronecker, lopsided):
            sources = np.random.default_rng(1).choice(view.n_vertices, n_sources, replace=False)
            search = ENGINE.search_each(view, sources, BfsOptions())
            assert search.distance.shape == search.predecessor.shape == (n_sources, view.n_vertices)
            for i in range(0, n_sources, 9):
                alone = ENGINE.search(view, sources[i : i + 1], BfsOptions("frontier"))
                np.testing.assert_array_equal(search.distance[i], alone.distance)
                one = SimpleNamespace(distance=search.distance[i], predecessor=search.predecessor[i])
                assert_tree(view, sources[i : i + 1], one)

    def test_trace_and_no_predecessors(self, kronecker):
        sources = np.flatnonzero(np.diff(kronecker.out.row_offsets))[:70]
        search = ENGINE.search_each(kronecker, sources, BfsOptions(predecessors=False, trace=True))
        assert search.predecessor is None
        plain = ENGINE.search_each(kronecker, sources, BfsOptions())
        np.testing.assert_array_equal(search.distance, plain.distance)
        assert {row.direction for row in search.trace} == {"push", "pull"}
        assert max(row.level for row in search.trace) >= search.distance.max()


class TestTrees:
    @settings(max_examples=40)
    @given(graph=graphs())
    def test_smallest_predecessors(self, graph):
        view, sources = graph
        distance = ENGINE.search(view, sources, BfsOptions()).distance
        expected = np.full(view.n_vertices, -1)
        for u, v in sorted(zip(view.coo.src.tolist(), view.coo.dst.tolist(), strict=True), reverse=True):
            if distance[v] > 0 and distance[u] == distance[v] - 1:
                expected[v] = u
        found = ENGINE.smallest_predecessors(view, distance)
        np.testing.assert_array_equal(found, expected)
        both = ENGINE.search_each(view, sources, BfsOptions()).distance
        rows = ENGINE.smallest_predecessors(view, both)
        assert rows.shape == both.shape
        np.testing.assert_array_equal(rows[0], ENGINE.smallest_predecessors(view, both[0]))

    def test_walk(self, kronecker):
        root = np.flatnonzero(np.diff(kronecker.out.row_offsets))[:1]
        search = ENGINE.search(kronecker, root, BfsOptions())
        targets = np.r_[np.arange(0, kronecker.n_vertices, 3), root]
        targets = np.where(search.distance[targets] < 0, -1, targets)
        lengths, vertices = ENGINE.walk(search.predecessor, targets)
        np.testing.assert_array_equal(lengths, np.where(targets < 0, 0, search.distance[targets] + 1))
        for target, way in zip(targets, np.split(vertices, np.cumsum(lengths)[:-1]), strict=True):
            if target >= 0:
                assert way[0] == root[0] and way[-1] == target
                np.testing.assert_array_equal(search.predecessor[way[1:]], way[:-1])

    def test_walk_nowhere(self):
        lengths, vertices = ENGINE.walk(np.array([-1, 0], np.int32), np.array([], np.int64))
        assert len(lengths) == len(vertices) == 0


class TestGenerators:
    def test_rmat_is_skewed_and_repeatable(self):
        frame = generators.rmat(10, 16, seed=4)
        assert frame.equals(generators.rmat(10, 16, seed=4))
        assert not frame.equals(generators.rmat(10, 16, seed=5))
        assert len(frame) == 16 << 10
        degree = np.bincount(frame.to_numpy().ravel(), minlength=1 << 10)
        assert degree.max() > 20 * degree.mean() / 2
        assert 0.05 < (degree == 0).mean() < 0.4

    def test_rmat_quadrants(self):
        """The relabelling cannot be undone from outside, but the edge counts show the top-level split."""
        frame = generators.rmat(1, 1 << 14, seed=2)
        table = np.zeros((2, 2))
        np.add.at(table, (frame.src, frame.dst), 1 / len(frame))
        if table[0, 0] < table[1, 1]:
            table = table[::-1, ::-1]
        np.testing.assert_allclose(table, [[0.57, 0.19], [0.19, 0.05]], atol=0.02)

    def test_shapes(self):
        assert generators.path(3).to_numpy().tolist() == [[0, 1], [1, 2]]
        assert generators.star(3).to_numpy().tolist() == [[0, 1], [0, 2]]
        assert sorted(generators.grid(2, 2).to_numpy().tolist()) == [[0, 1], [0, 2], [1, 3], [2, 3]]


def test_importing_the_engine_does_not_import_numba():
    program = "import sys, rapids_trav.engines.cpu; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
