"""Components by linking trees on a GPU: SciPy's labels, and few rows are read beside the first neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy_components import adjacency, smallest

from rapids_trav import generators
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.runs import LinkView, RunOptions
from rapids_trav.errors import TravMemoryError
from rapids_trav.jit.launches import count_launches
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.shipped import connected_components
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes

pytestmark = pytest.mark.gpu

PROPAGATED = ({"mode": "pull"}, {"mode": "push"}, {"asynchronous": True}, {"asynchronous": None})


def pinned(engine, rows):
    columns = engine.empty_pinned(rows.n_edges, rows.column_indices.dtype)
    columns[:] = rows.column_indices
    return Adjacency(rows.row_offsets, columns)


def views(engine, src, dst, n, dtype):
    """Yield views with rows on the device, in host memory that it can read, and in memory that it cannot."""
    both = adjacency(src, dst, n, dtype, both=True)
    out, into = adjacency(src, dst, n, dtype), adjacency(dst, src, n, dtype)
    held = [engine.take_over(rows) for rows in (both, out, into)]
    yield "both ways", LinkView(held[0], held[0])
    yield "one way", LinkView(held[1], None)
    yield "one way and the other", LinkView(held[1], held[2])
    budget = Budget("1GB")
    for name, moved in (("pinned", lambda rows: pinned(engine, rows)), ("plain", lambda rows: rows)):
        rows = moved(both)
        yield f"{name}, both ways", LinkView(rows, rows, paged=True, budget=budget)
        yield f"{name}, one way", LinkView(moved(out), None, paged=True, budget=budget)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("seed", range(4))
def test_every_view_gives_scipys_components(engine, seed, dtype):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 1500))
    src, dst = random.integers(0, n, (2, int(n * (0.4, 0.9, 1.5, 4)[seed])))
    if seed % 2:
        dst = np.minimum(dst, src + 3)  # a lattice of many narrow components
    places = random.permutation(n)
    for name, view in views(engine, src, dst, n, dtype):
        for given in (None, places):
            own = None if given is None else engine.xp.asarray(given.astype(dtype))
            found = engine.links(view, own, RunOptions()).values
            assert found.dtype == dtype
            np.testing.assert_array_equal(found.get(), smallest(src, dst, n, given), name)


def test_many_threads_on_one_tree_lose_no_link(engine):
    """A path in shuffled order makes every link one between roots that other threads are linking."""
    n = 3000
    order = np.random.default_rng(1).permutation(n)
    for name, view in views(engine, order[:-1], order[1:], n, "int32"):
        assert not engine.links(view, None, RunOptions()).values.get().any(), name


def test_rows_longer_than_a_block_can_take(engine):
    """The star's rows are listed as long ones: in one direction nothing may be left out."""
    n = 3000
    for src, dst in ((np.full(n - 1, n - 1), np.arange(n - 1)), (np.zeros(n - 1, np.int64), np.arange(1, n))):
        view = LinkView(engine.take_over(adjacency(src, dst, n, "int32")), None)
        with count_launches() as launches:
            assert not engine.links(view, None, RunOptions()).values.get().any()
        assert launches["link_heavy"] == 1


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_the_answer_is_that_of_propagated_labels(engine, directed, degree_sort):
    edges = generators.rmat(9, 2)
    edges["open"] = np.random.default_rng(2).random(len(edges)) < 0.5
    graph = edges.trav.graph(directed=directed, degree_sort=degree_sort, engine=engine)
    for where in (None, "open"):
        with count_launches() as launches:
            answer = graph.components(where=where)
        assert launches["begin_below"] == 1
        place = answer["vertex"].searchsorted(answer["component"])
        for how in PROPAGATED:
            labels = graph.run(
                connected_components(), initial=np.arange(len(answer)), direction="both", where=where, **how
            )
            assert labels["value"].tolist() == place.tolist()


def test_rows_of_the_largest_component_are_left_out(engine):
    graph = generators.rmat(11, 16).trav.graph(engine=engine)
    trace = graph.components(trace=True).trace.set_index("mode")
    assert trace.index.tolist() == ["hook", "rest"]
    assert trace.loc["hook", "edges"] <= 2 * graph.n_vertices
    assert trace.loc["rest", "edges"] < graph.n_edges // 100
    assert trace["bytes"].sum() == 0


def test_an_edge_from_a_row_that_could_be_left_out_is_not_lost(engine):
    """Only third edges out of the largest component reach the other vertices, whose rows lack these edges."""
    hub = np.arange(100)
    edges = pd.DataFrame({"src": [*hub, *hub, *hub], "dst": [*np.roll(hub, 1), *np.roll(hub, 2), *hub + 100]})
    graph = edges.trav.graph(directed=True, engine=engine)
    assert set(graph.components()["component"]) == {0}
    graph.bfs(0, direction="in")
    assert set(graph.components()["component"]) == {0}


def within_the_least(edges, **options):
    """Return a graph in the least memory that suffices to build and ask."""
    limit = 1000
    while True:
        try:
            graph = edges.trav.graph(memory_limit=limit, **options)
            graph.components()
            return graph
        except TravMemoryError as error:
            needed = parse_bytes(str(error).partition("give memory_limit at least ")[2].removesuffix("."))
            assert needed > limit
            limit = needed


@pytest.mark.parametrize("directed", [False, True])
def test_outside_the_memory_few_edges_cross_the_link(engine, directed):
    edges = generators.rmat(12, 16)
    graph = within_the_least(edges, directed=directed, engine=engine)
    assert isinstance(graph.storage, Paged)
    answer, trace = graph.components(trace=True, progress=True)
    pd.testing.assert_frame_equal(answer, edges.trav.graph(directed=directed).components())
    assert graph.budget.peak <= graph.budget.limit
    stored = graph.storage.view().out.n_edges
    if directed:  # each edge is seen from one end alone
        assert stored <= trace["edges"].sum() <= stored + 2 * graph.n_vertices
    else:
        assert trace["edges"].sum() < stored // 4
    assert trace["bytes"].sum() == 4 * trace["edges"].sum()


def test_graphs_without_edges(engine):
    empty = pd.DataFrame({"src": np.empty(0, np.int64), "dst": np.empty(0, np.int64)})
    lonely = empty.trav.graph(vertices=[5, 3, 9], engine=engine).components(trace=True)
    assert lonely.result["component"].tolist() == lonely.result["vertex"].tolist() == [3, 5, 9]
    assert lonely.trace["edges"].sum() == 0
