"""Graphs on dask-cuda workers against `cugraph.dask.bfs` and `cugraph.bfs`: distances equal, trees valid."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from .cugraph_oracle import REAL, Case, Ids, check_tree, found_by_us

pytestmark = [pytest.mark.multigpu, pytest.mark.usefixtures("cugraph_libraries")]

GRAPHS = ("rmat1", "grid", "disconnected", *REAL)


@pytest.fixture(scope="module")
def client(client):
    """Yield the client as the current one, with workers between which cuGraph can communicate."""
    from cugraph.dask.comms import comms

    with client.as_current():
        comms.initialize(p2p=True)
        try:
            yield client
        finally:
            comms.destroy()


@functools.cache
def case(name: str, directed: bool) -> Case:
    return Case(name, directed)


def on_workers(client, frame, **columns):
    """Return the rows of a frame as a Dask frame, two partitions to a worker."""
    import dask_cudf

    return dask_cudf.from_cudf(frame.assign(**columns), npartitions=2 * len(client.nthreads()))


def by_cugraph_on_workers(client, here: Case, sources: list[int]) -> list[np.ndarray]:
    """Return the distances by vertex of a search from each source."""
    import cugraph
    import cugraph.dask

    graph = cugraph.Graph(directed=here.directed)
    graph.from_dask_cudf_edgelist(on_workers(client, here.frame()), source="src", destination="dst")
    answers = [cugraph.dask.bfs(graph, source).compute() for source in sources]
    return [here.by_vertex(found["vertex"].to_numpy(), found["distance"].to_numpy()) for found in answers]


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", GRAPHS)
def test_searches(client, name, directed):
    here = case(name, directed)
    sources = here.sources(3)
    wanted = [here.bfs([source]) for source in sources]
    for distance, other in zip(wanted, by_cugraph_on_workers(client, here, sources), strict=True):
        assert np.array_equal(distance, other)
    for kind in ("int32", "string"):
        ids = Ids(kind)
        ends = dict(zip(("src", "dst"), map(ids.of, here.edges), strict=True))
        with on_workers(client, here.frame(), **ends).trav.graph(directed=directed) as graph:
            for source, distance in zip(sources, wanted, strict=True):
                (root,) = ids.of(np.array([source]))
                found, predecessor = found_by_us(here, ids, graph.bfs(root).compute())
                assert np.array_equal(found, distance)
                check_tree(here, [source], found, predecessor)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_depth_limits(client, directed):
    here = case("rmat1", directed)
    (source,) = here.sources(1)
    with on_workers(client, here.frame()).trav.graph(directed=directed) as graph:
        for limit in (1, 2, 3):
            found, _ = found_by_us(here, Ids("int32"), graph.bfs(source, depth_limit=limit).compute())
            assert np.array_equal(found, here.bfs([source], depth_limit=limit))
