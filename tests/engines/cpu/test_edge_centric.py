"""The edge-centric search reads every edge on every level, in whatever order they are (P3)."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.small_graphs import Graph, GraphView

from rapids_trav.csr.adjacency import EdgeList
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions

N = 60_000  # edges of several threads' parts, and of many blocks


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def engine(request):
    if request.param == "cpu":
        return CpuEngine()
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda import CudaEngine

    return CudaEngine()


def on_host(array):
    return array.get() if hasattr(array, "get") else array


@pytest.mark.parametrize("order", ["from the root", "to the root", "shuffled"])
def test_each_edge_of_a_tree_is_read_when_it_is_needed(engine, order):
    """One edge alone leads to each vertex, so that one that is passed over leaves its vertex behind."""
    rng = np.random.default_rng(1)
    child = np.arange(1, N)
    parent = (child * rng.random(N - 1)).astype(np.int64)  # any vertex before
    view = GraphView(Graph(N, parent, child), engine)
    by_child = np.argsort(on_host(view.coo.dst))
    places = {"from the root": by_child, "to the root": by_child[::-1], "shuffled": rng.permutation(N - 1)}
    place = engine.xp.asarray(places[order])
    view.__dict__["coo"] = EdgeList(view.coo.src[place], view.coo.dst[place])
    depth = np.zeros(N, np.int32)
    for one, before in zip(child, parent, strict=True):
        depth[one] = depth[before] + 1
    found = engine.bfs(view, engine.xp.asarray([0]), BfsOptions("edge", trace=True))
    assert np.array_equal(on_host(found.distance), depth)
    assert np.array_equal(on_host(found.predecessor), np.append(-1, parent))
    assert len(found.trace) >= depth.max() > 10
