"""Independent searches run together or separately, whichever is faster, with the same results."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cpu_engine import assert_tree, frame_view, graphs

from rapids_trav import generators
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.bfs import multi_source
from rapids_trav.engines.interface import BfsOptions, Search
from rapids_trav.jit.kernels import Threads
from rapids_trav.jit.launches import count_launches

ENGINE = CpuEngine()
ONE_BY_ONE, TOGETHER = "search_alone", "search_groups"


@pytest.fixture(params=[1, 2, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", request.param)
    return request.param


@pytest.mark.parametrize("way", [multi_source.separately, multi_source.search])
@settings(max_examples=25)
@given(graph=graphs(), data=st.data())
def test_both_ways_are_searches_one_by_one(way, graph, data):
    view, sources = graph
    vertex = st.integers(0, view.n_vertices - 1)
    options = BfsOptions(
        depth_limit=data.draw(st.none() | st.integers(0, 4)),
        targets=data.draw(st.none() | st.lists(vertex, min_size=1, max_size=3).map(np.array)),
    )
    found = way(view, sources, options)
    assert found.distance.shape == found.predecessor.shape == (len(sources), view.n_vertices)
    for i, source in enumerate(sources):
        alone = ENGINE.search(view, np.array([source]), replace(options, variant="frontier"))
        np.testing.assert_array_equal(found.distance[i], alone.distance)
        assert_tree(view, [source], Search(found.distance[i], found.predecessor[i]))


@pytest.mark.parametrize("n_sources", [0, 1, 2, 3, 7])
def test_by_themselves_on_any_number_of_threads(n_sources, threads):
    view = frame_view(generators.grid(30, 40), 1200)
    sources = np.arange(n_sources) * 100
    found = multi_source.separately(view, sources, BfsOptions(trace=True))
    plain = multi_source.search(view, sources, BfsOptions(predecessors=False))
    np.testing.assert_array_equal(found.distance, plain.distance)
    assert multi_source.separately(view, sources, BfsOptions(predecessors=False)).predecessor is None
    levels = [
        [row.level for row in ENGINE.search(view, s[None], BfsOptions(trace=True)).trace] for s in sources
    ]
    assert [row.level for row in found.trace] == [level for rows in levels for level in rows]


def test_threads_search_alone_and_share_the_last_searches(monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 4)
    sizes = []
    search = multi_source.direction_optimizing.search

    def noted(view, sources, options):
        sizes.append((int(sources[0]), Threads().size))
        return search(view, sources, options)

    monkeypatch.setattr(multi_source.direction_optimizing, "search", noted)
    view = frame_view(generators.path(50), 50)
    multi_source.separately(view, np.arange(10), BfsOptions())
    assert sorted(sizes) == [(source, 1 if source < 8 else 2) for source in range(10)]
    assert Threads().size == 4


def rows_of(n_vertices, n_edges):
    return Adjacency(np.zeros(n_vertices + 1, np.int64), np.zeros(n_edges, np.int32))


@pytest.mark.parametrize(
    ("n_vertices", "n_edges", "n_sources", "wanted"),
    [
        (4_000, 176_000, 64, True),  # a small dense graph
        (4_000, 8_000, 2, True),  # a small path
        (81_000, 2_700_000, 2, True),
        (81_000, 162_000, 64, False),  # a long path: searches do not meet
        (260_000, 8_400_000, 63, False),  # the words of the vertices do not stay in a cache
        (260_000, 8_400_000, 64, True),  # as large, but all bits of the words are used
        (1_000_000, 32_000_000, 64, False),
        (4_000, 176_000, 1, False),
    ],
)
def test_the_choice_follows_the_graph_and_the_number_of_sources(n_vertices, n_edges, n_sources, wanted):
    assert multi_source.together(rows_of(n_vertices, n_edges), n_sources) is wanted


def test_the_choice_is_what_runs(monkeypatch):
    view = frame_view(generators.path(60), 60)
    for few, wanted in ((60, TOGETHER), (59, ONE_BY_ONE)):
        monkeypatch.setattr(multi_source, "FEWEST_VERTICES", few)
        with count_launches() as counts:
            ENGINE.search_each(view, np.array([0, 9]), BfsOptions())
        assert {ONE_BY_ONE, TOGETHER} & set(counts) == {wanted}


def test_a_little_work_is_one_word():
    small, large = frame_view(generators.path(60), 60), frame_view(generators.star(200_000), 200_000)
    for view, n_groups in ((small, 1), (large, min(Threads().size, 2))):
        trace = multi_source.search(view, np.array([0, 1]), BfsOptions(trace=True)).trace
        assert sum(row.level == 1 for row in trace) == n_groups
