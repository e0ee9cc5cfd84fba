"""Searches whose kernel is launched by the driver's own call, and by CuPy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.loader import Kernels
from rapids_trav.engines.interface import BfsOptions

from .small_graphs import GRAPHS, GraphView, check_tree

pytestmark = pytest.mark.gpu


def search(engine, view, root=0):
    """Return the arrays of a search on the host."""
    found = engine.search(view, engine.xp.asarray([root]), BfsOptions(variant="fused"))
    return found.distance.get(), found.predecessor.get()


@pytest.fixture
def by_cupy(monkeypatch):
    """Return the names of the kernels that CuPy launches."""
    names, run = [], Kernels.run

    def counted(kernels, name, *given, **how):
        names.append(name)
        run(kernels, name, *given, **how)

    monkeypatch.setattr(Kernels, "run", counted)
    return names


@pytest.mark.parametrize("name", ["undirected", "grid"])
@pytest.mark.parametrize("with_driver", [True, False])
def test_a_search_is_launched_by_the_driver_where_it_can_be(engine, monkeypatch, by_cupy, name, with_driver):
    pytest.importorskip("cuda.bindings")
    if not with_driver:
        monkeypatch.setattr(loader, "_modules", lambda: None)
    graph = GRAPHS[name]
    distance, predecessor = search(engine, GraphView(graph, engine))
    assert np.array_equal(distance, graph.distance([0]))
    check_tree(graph, [0], distance, predecessor)
    assert by_cupy.count("bfs_fused") == (0 if with_driver else 1)


def test_threads_that_have_not_used_the_gpu_search(engine):
    """The driver refuses a launch in a thread without a current context."""
    graph = GRAPHS["undirected"]
    view = GraphView(graph, engine)
    wanted, _ = search(engine, view)
    with ThreadPoolExecutor(4) as threads:
        for distance, predecessor in threads.map(lambda _: search(engine, view), range(8)):
            assert np.array_equal(distance, wanted)
            check_tree(graph, [0], distance, predecessor)


def test_a_search_on_another_stream_waits_for_its_source(engine):
    graph, xp = GRAPHS["undirected"], engine.xp
    view = GraphView(graph, engine)
    search(engine, view)
    with xp.cuda.Stream(non_blocking=True) as stream:
        source = xp.zeros(1, np.int32)
        source += 5
        found = engine.search(view, source, BfsOptions(variant="fused"))
        stream.synchronize()
        assert np.array_equal(found.distance.get(), graph.distance([5]))
