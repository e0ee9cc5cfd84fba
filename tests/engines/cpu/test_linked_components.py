"""Components by linking trees: the labels equal propagated ones, and rows of the largest are skipped."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import pairs
from random_graphs import common, graphs
from scipy_components import adjacency, smallest

from rapids_trav import generators
from rapids_trav.engines.cpu import components as linking
from rapids_trav.engines.runs import LinkView, RunOptions
from rapids_trav.errors import TravMemoryError
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.shipped import connected_components
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes


@pytest.fixture
def finely(monkeypatch):
    """Cut small graphs as large ones are cut: ranges of one vertex, blocks of 4 edges, pages of 2 blocks."""
    monkeypatch.setattr(linking, "VERTICES", 1)
    monkeypatch.setattr(linking, "BLOCKS", 1)
    monkeypatch.setattr(linking, "BLOCK_BYTES", 16)
    monkeypatch.setattr(linking, "PAGE_BLOCKS", 2)


def views(src, dst, n, dtype):
    """Yield views whose rows hold all edges, one end of each edge, or both ends apart, and paged views."""
    both = adjacency(src, dst, n, dtype, both=True)
    out, into = adjacency(src, dst, n, dtype), adjacency(dst, src, n, dtype)
    yield "both ways", LinkView(both, both)
    yield "one way", LinkView(out, None)
    yield "one way and the other", LinkView(out, into)
    yield "paged", LinkView(both, both, paged=True)
    yield "paged, one way", LinkView(out, None, paged=True)


@pairs(seed=range(6), dtype=["int32", "int64"], threads=[1, 2, 8])
def test_every_view_gives_scipys_components(finely, seed, dtype, threads):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 3000))
    src, dst = random.integers(0, n, (2, int(n * (0.4, 0.9, 1.5, 4)[seed % 4])))
    if seed % 2:
        dst = np.minimum(dst, src + 3)  # a lattice of many narrow components
    places = random.permutation(n)
    for name, view in views(src, dst, n, dtype):
        for given_places in (None, places):
            own = None if given_places is None else given_places.astype(dtype)
            with Threads.limited(threads):
                found = linking.components(view, own, RunOptions()).values
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, smallest(src, dst, n, given_places), name)


def test_many_threads_on_one_tree_lose_no_link(finely):
    """A path in shuffled order makes every link one between roots that other threads are linking."""
    n, random = 20_000, np.random.default_rng(1)
    order = random.permutation(n)
    for name, view in views(order[:-1], order[1:], n, "int32"):
        with Threads.limited(8):
            for _ in range(3):
                assert not linking.components(view, None, RunOptions()).values.any(), name


def test_a_root_that_is_linked_meanwhile_is_looked_up_again(monkeypatch):
    """The uncompiled function runs, with the other thread's link between the look at a root and the swap."""
    parent, others = np.arange(6, dtype=np.int32), [(5, 2), (3, 1)]

    def interrupted(array, index, expected, desired):
        if others:
            vertex, below = others.pop(0)
            array[vertex] = below
        held = array[index]
        if held == expected:
            array[index] = desired
        return held

    monkeypatch.setattr(linking, "compare_and_swap", interrupted)
    linking.link.py_func(parent, 5, 3)
    assert not others
    assert parent.tolist() == [0, 1, 1, 1, 4, 2]


@given(graphs(), st.booleans(), st.sampled_from([1, 2, 8]))
@common
def test_the_answer_is_that_of_propagated_labels(drawn, degree_sort, threads):
    frame, (src, dst), _, _, directed = drawn
    with pytest.MonkeyPatch.context() as patched, Threads.limited(threads):
        for name, size in {"VERTICES": 1, "BLOCKS": 1, "BLOCK_BYTES": 16, "PAGE_BLOCKS": 1}.items():
            patched.setattr(linking, name, size)
        graph = frame.trav.graph(src, dst, directed=directed, degree_sort=degree_sort, vertices=None)
        for where in (None, "open"):
            answer = graph.components(where=where)
            parts = [name for name in answer if name.startswith("component")]
            place = answer.reset_index().groupby(parts, dropna=False)["index"].transform("min")
            for how in ({"mode": "pull"}, {"mode": "notify"}, {"mode": "push"}, {"asynchronous": True}):
                labels = graph.run(
                    connected_components(), initial=range(len(answer)), direction="both", where=where, **how
                )
                assert labels["value"].tolist() == place.tolist()


def modes(traced):
    return traced.trace.set_index("mode")


def test_rows_of_the_largest_component_are_left_out():
    graph = generators.rmat(12, 16).trav.graph()
    trace = modes(graph.components(trace=True))
    assert trace.index.tolist() == ["hook", "rest"]
    assert trace.loc["hook", "edges"] <= 2 * graph.n_vertices
    assert trace.loc["rest", "edges"] < graph.n_edges // 100


def test_a_row_is_left_if_its_vertex_is_in_the_largest_component():
    """A few vertices are each other's first neighbours, and one of them has a thousand more behind those."""
    low, few, high = np.arange(1000), np.arange(1000, 1010), np.arange(1010, 2010)
    src = [*low, *low, *np.repeat(few, 10), *[1009] * 1000]
    dst = [*high, *np.roll(high, 1), *np.tile(few, 10), *high]
    traced = pd.DataFrame({"src": src, "dst": dst}).trav.components(trace=True)
    assert set(traced.result["component"]) == {0}
    assert modes(traced).loc["rest", "edges"] < 300


def test_directed_rows_are_left_out_if_the_other_end_is_there():
    edges = generators.rmat(12, 16)
    graph = edges.trav.graph(directed=True)
    alone = modes(graph.components(trace=True))
    assert alone["edges"].sum() == graph.n_edges
    graph.bfs(0, direction="in")
    turned = modes(graph.components(trace=True))
    assert turned.loc["rest", "edges"] < graph.n_edges // 100
    graph.bfs(0, direction="both")
    both = modes(graph.components(trace=True))
    assert both.loc["rest", "edges"] < graph.n_edges // 100


def test_nothing_is_built_for_directed_components():
    graph = generators.rmat(8, 4).trav.graph(directed=True)
    before = [name for name, _, _ in graph.storage.memory()]
    graph.components()
    assert [name for name, _, _ in graph.storage.memory()] == before


def test_an_edge_from_a_row_that_could_be_left_out_is_not_lost():
    """Only third edges out of the largest component reach the other vertices, whose rows lack these edges."""
    hub = np.arange(100)
    edges = pd.DataFrame({"src": [*hub, *hub, *hub], "dst": [*np.roll(hub, 1), *np.roll(hub, 2), *hub + 100]})
    graph = edges.trav.graph(directed=True)
    assert set(graph.components()["component"]) == {0}
    graph.bfs(0, direction="in")
    assert set(graph.components()["component"]) == {0}


def full_stream(graph):
    rows = graph.storage.view("both" if not graph.directed else "out").out
    return rows.row_offsets.nbytes - rows.row_offsets.itemsize + rows.column_indices.nbytes


def named_in(error):
    return parse_bytes(str(error).partition("give memory_limit at least ")[2].removesuffix("."))


def within_the_least(edges, **options):
    """Return a graph in the least memory that suffices to build and ask; refusals leave nothing held."""
    limit = 1000
    while True:
        try:
            graph = edges.trav.graph(memory_limit=limit, **options)
            at_rest = graph.budget.used
            try:
                graph.components()
            finally:
                assert graph.budget.used == at_rest
            return graph
        except TravMemoryError as error:
            assert named_in(error) > limit
            limit = named_in(error)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_out_of_memory_the_edges_are_read_once_at_most(directed, degree_sort, monkeypatch):
    monkeypatch.setattr(linking, "PAGE_BLOCKS", 4)
    edges = generators.rmat(12, 16)
    graph = within_the_least(edges, directed=directed, degree_sort=degree_sort)
    assert isinstance(graph.storage, Paged)
    whole = edges.trav.graph(directed=directed)
    answer, trace = graph.components(trace=True)
    pd.testing.assert_frame_equal(answer, whole.components())
    assert graph.budget.peak <= graph.budget.limit
    if directed:
        assert trace["mode"].tolist() == ["hook"]
        assert trace["bytes"].sum() <= full_stream(graph)  # except for rows without edges after the last one
        assert trace["edges"].tolist() == [graph.n_edges]
    else:
        assert trace["mode"].tolist() == ["hook", "rest"]
        assert trace["edges"].sum() < full_stream(graph) // 4 // 2
        assert trace["bytes"].sum() < full_stream(graph) * (0.7 if degree_sort else 1)
    assert trace["pages"].sum() == len(range(0, -(-graph.storage.view().out.n_edges // 1024), 4))


def test_pages_are_told_as_they_are_read(monkeypatch):
    monkeypatch.setattr(linking, "PAGE_BLOCKS", 3)
    graph = within_the_least(generators.rmat(11, 16))
    told = []
    view = graph.storage.link_view()
    run = linking.components(view, None, RunOptions(trace=True, on_page=lambda *page: told.append(page)))
    assert len(told) == sum(one.pages for one in run.trace) > 5
    assert sum(n_bytes for _, n_bytes in told) == sum(one.bytes for one in run.trace)
    assert [pages for pages, _ in told] == [1] * len(told)


def test_graphs_without_edges_or_vertices():
    empty = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
    assert len(empty.trav.components()) == 0
    lonely = empty.trav.graph(vertices=[5, 3, 9]).components(trace=True)
    assert lonely.result["component"].tolist() == lonely.result["vertex"].tolist() == [3, 5, 9]
    assert lonely.trace["edges"].sum() == 0
