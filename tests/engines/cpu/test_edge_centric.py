"""The edge-centric search reads every edge at every level, whatever the order of the edges (P3)."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.small_graphs import Graph, GraphView

from rapids_trav.csr.adjacency import EdgeList
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions

N = 60_000  # enough edges for the parts of several threads, and for many blocks


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
    """Each vertex has one in-edge, so an edge that is skipped leaves its vertex unreached."""
    rng = np.random.default_rng(1)
    child = np.arange(1, N)
    parent = (child * rng.random(N - 1)).astype(np.int64)  # any vertex before the child
    view = GraphView(Graph(N, parent, child), engine)
    by_child = np.argsort(on_host(view.coo.dst))
    places = {"from the root": by_child, "to the root": by_child[::-1], "shuffled": rng.permutation(N - 1)}
    place = engine.xp.asarray(places[order])
    view.__dict__["coo"] = EdgeList(view.coo.src[place], view.coo.dst[place])
    depth = np.zeros(N, np.int32)
    for one, before in zip(child, parent, strict=True):
        depth[one] = depth[before] + 1
    found = engine.search(view, engine.xp.asarray([0]), BfsOptions("edge", trace=True))
    assert np.array_equal(on_host(found.distance), depth)
    assert np.array_equal(on_host(found.predecessor), np.append(-1, parent))
    assert len(found.trace) >= depth.max() > 10
