"""Shares of shortest paths, of 32 searches at once and of one after another, are those of the CPU."""

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.jit.launches import count_launches
from rapids_trav.memory.model.search import SHARED, SHARED_HEAVY_DEGREE

from .small_graphs import GRAPHS, GraphView

pytestmark = pytest.mark.gpu


def shares_on(engine, graph, sources, edges, together):
    view = GraphView(graph, engine)
    return engine.shortest_path_shares(view, engine.xp.asarray(sources), edges, together)


def assert_same(cupy, found, wanted):
    np.testing.assert_array_equal(cupy.asnumpy(found.reached), wanted.reached)
    np.testing.assert_allclose(cupy.asnumpy(found.vertices), wanted.vertices, rtol=1e-12, atol=1e-12)
    if wanted.edges is not None:
        np.testing.assert_allclose(cupy.asnumpy(found.edges), wanted.edges, rtol=1e-12, atol=1e-12)


@pairs(name=GRAPHS, edges=[False, True], together=[1, SHARED])
def test_as_on_the_cpu(cupy, engine, name, edges, together):
    graph = GRAPHS[name]
    sources = np.random.default_rng(1).permutation(graph.n)[: 2 * SHARED + 3]
    wanted = shares_on(CpuEngine(), graph, sources, edges, 1)
    with count_launches() as launches:
        found = shares_on(engine, graph, sources, edges, together)
    assert_same(cupy, found, wanted)
    assert launches["begin_paths"] == (-(-len(sources) // SHARED) if together == SHARED else 0)


@pytest.mark.parametrize("edges", [False, True])
def test_heavy_rows_on_every_level(cupy, engine, edges):
    graph = GRAPHS["star"]  # its hub is reached, and passed on the way back, on levels 0 and 1
    assert graph.n > SHARED_HEAVY_DEGREE
    sources = range(SHARED + 3)
    with count_launches() as launches:
        found = shares_on(engine, graph, sources, edges, SHARED)
    assert launches["push_paths_heavy"] and launches["gather_heavy"] == launches["share_heavy"] == 6
    assert_same(cupy, found, shares_on(CpuEngine(), graph, sources, edges, 1))


def test_without_memory_sources_are_searched_one_by_one(cupy, engine, monkeypatch):
    from rapids_trav.engines.cuda.bfs import path_shares

    def full(*_):
        raise MemoryError

    monkeypatch.setattr(path_shares, "Batch", full)
    graph, sources = GRAPHS["directed"], [3, 1, 2]
    with count_launches() as launches:
        found = shares_on(engine, graph, sources, True, SHARED)
    assert launches["count_paths"] and not launches["begin_paths"]
    assert_same(cupy, found, shares_on(CpuEngine(), graph, sources, True, 1))


def test_the_memory_model_and_the_kernel_agree_on_sizes():
    from rapids_trav.engines.cuda.bfs.path_shares import HEAVY_DEGREE, WARP

    assert (WARP, HEAVY_DEGREE) == (SHARED, SHARED_HEAVY_DEGREE)
