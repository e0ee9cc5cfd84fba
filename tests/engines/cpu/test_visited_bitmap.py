"""The bitmap of visited vertices that narrow levels look up, and the rows that chains prefetch."""

import numpy as np
import pytest
from test_cpu_engine import assert_tree, expected_distance, view_of

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.bfs import direction_optimizing
from rapids_trav.engines.cpu.bfs.steps import WIDE_VERTICES, every_64th, likely_row, push_levels
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.jit.kernels import Threads

ENGINE = CpuEngine()


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
