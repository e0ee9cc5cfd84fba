"""Shortest path trees from distances, computed from all edges at once and block by block."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav import TravMemoryError
from rapids_trav.algorithms import sssp
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.runs import GatherView, Pages

ENGINE = CpuEngine()


def tree(src, dst, weight, n, source, paged):
    """Return the distances from the source, from n relaxations of all edges, and their shortest path tree."""
    into = ENGINE.build_adjacency(lambda: iter([(src, dst, weight)]), n, transpose=True)
    out = ENGINE.build_adjacency(lambda: iter([(src, dst)]), n)
    pages = Pages(np.array([0, n // 2, n]), None) if paged else None
    view = GatherView(into, out, into.weights, np.diff(out.row_offsets), pages)
    distance = np.where(np.arange(n) == source, 0.0, np.inf)
    for _ in range(n):
        np.minimum.at(distance, dst, distance[src] + weight)
    return distance, sssp.shortest_tree(ENGINE, view, distance, np.inf, np.array([source], np.int32))


@pytest.mark.parametrize("paged", [False, True])
def test_the_smallest_of_many_predecessors_is_taken(monkeypatch, paged):
    """Thirty paths of equal length lead to one vertex; their last edges are in three blocks."""
    monkeypatch.setattr(sssp, "BLOCK", 10)
    between = np.arange(1, 31)
    src, dst = np.append(np.zeros(30, int), between), np.append(between, np.full(30, 31))
    _, predecessor = tree(src, dst, np.ones(60), 32, 0, paged)
    assert predecessor.tolist() == [-1, *[0] * 30, 1]


@pytest.mark.parametrize("block", [1, 10, 1 << 20])
@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_tree_of_tight_edges(monkeypatch, paged, block, seed):
    """Edges from predecessors are tight, also those of weight 0, and predecessors lead to the source."""
    monkeypatch.setattr(sssp, "BLOCK", block)
    random = np.random.default_rng(seed)
    n, m = 60, 150
    src, dst = random.integers(0, n, (2, m))
    weight = random.integers(0, 4, m) * random.integers(0, 2, m) / 2
    source = int(np.bincount(src).argmax())
    distance, predecessor = tree(src, dst, weight, n, source, paged)
    reached = np.isfinite(distance) & (np.arange(n) != source)
    assert reached.sum() > 20 and (predecessor[~reached] == -1).all()
    tight = set(zip(src, dst, distance[src] + weight, strict=True))
    assert all((predecessor[v], v, distance[v]) in tight for v in np.flatnonzero(reached))
    last = np.flatnonzero(reached)
    for _ in range(n):
        last = np.where(last == source, source, predecessor[last])
    assert (last == source).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("error")
def test_an_infinite_weight_takes_no_more_memory(dtype):
    """It leads nowhere, so it does not make the distances too coarse for the other weights."""
    rng = np.random.default_rng(5)
    edges = pd.DataFrame(rng.integers(0, 500, (30_000, 2)), columns=["src", "dst"])
    named = []
    for last in (1.0, np.inf):
        edges["cost"] = np.append(rng.random(len(edges) - 1) + 0.1, last).astype(dtype)
        with pytest.raises(TravMemoryError) as told:
            edges.trav.graph(weight="cost", directed=True, memory_limit="2kB").sssp(0)
        named.append(str(told.value).partition("give memory_limit at least ")[2])
    assert named[0] == named[1]
