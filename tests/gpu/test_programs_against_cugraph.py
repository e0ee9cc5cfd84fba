"""Components, shortest paths and PageRank against cuGraph's."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import rapids_trav  # noqa: F401  (registers .trav)

from .cugraph_oracle import REAL, SHAPES, Case, Ids, column, found_by_us

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cugraph_libraries")]

NAMES = (*SHAPES, *REAL)
NUMBERS = Ids("int32")
BOTH = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


@functools.cache
def case(name: str, directed: bool) -> Case:
    return Case(name, directed)


@pytest.mark.parametrize("name", NAMES)
def test_components(name):
    import cugraph

    here = case(name, False)
    theirs = cugraph.weakly_connected_components(here.graph()).to_pandas()
    smallest = theirs.groupby("labels")["vertex"].transform("min")
    expected = dict(zip(theirs["vertex"], smallest, strict=True))
    ours = here.frame().trav.graph(directed=True).components()
    found = dict(zip(column(ours, "vertex"), column(ours, "component"), strict=True))
    assert found == expected


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_shortest_paths(name, directed):
    """Weights depend on the ends of an edge, so that repeated edges have equal weights; sums are exact."""
    import cugraph

    here = case(name, directed)
    u, v = here.edges
    low, high = (u, v) if directed else (np.minimum(u, v), np.maximum(u, v))

    def weight(one, other):
        return (1 + (7 * one + 13 * other) % 10).astype(np.float32)

    frame = here.frame(weight=weight(low, high))
    theirs, ours = here.graph(frame, weight="weight"), frame.trav.graph(directed=directed, weight="weight")
    for source in here.sources(2):
        found = cugraph.sssp(theirs, source)
        expected = here.by_vertex(found["vertex"].to_numpy(), found["distance"].to_numpy())
        distance, predecessor = found_by_us(here, NUMBERS, ours.sssp(source))
        assert np.array_equal(distance, expected)
        child = np.flatnonzero(distance > 0)
        parent = predecessor[child]
        assert np.all(here.joined(parent, child))
        ends = (parent, child) if directed else (np.minimum(parent, child), np.maximum(parent, child))
        assert np.array_equal(distance[parent] + weight(*ends), distance[child])
        assert np.all(predecessor[distance <= 0] == -1)


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_pagerank(name, directed):
    """The edges have no repetitions or self-loops, which cuGraph drops or counts differently."""
    import cudf
    import cugraph

    u, v = case(name, directed).edges
    u, v = u[u != v], v[u != v]
    if not directed:
        u, v = np.minimum(u, v), np.maximum(u, v)
    pairs = np.unique(np.stack([u, v], axis=1).astype(np.int32), axis=0)
    frame = cudf.DataFrame({"src": pairs[:, 0].copy(), "dst": pairs[:, 1].copy()})
    theirs = case(name, directed).graph(frame.assign(one=np.float64(1)), weight="one", store_transposed=True)
    expected = cugraph.pagerank(theirs, max_iter=1000, tol=1e-10).to_pandas().sort_values("vertex")
    found = frame.trav.graph(directed=directed).pagerank(max_iter=1000, tol=1e-10).to_pandas()
    assert np.array_equal(found["vertex"], expected["vertex"])
    assert np.allclose(found["pagerank"], expected["pagerank"], rtol=1e-5, atol=1e-10)
