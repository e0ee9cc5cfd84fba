"""The locality order: neighbours get nearby numbers, and answers are the same as in every other order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_cases import peak_of
from pandas.testing import assert_frame_equal
from random_graphs import common, graphs, shapes
from scipy.sparse import csr_matrix

from rapids_trav import Graph, TravError, TravMemoryError
from rapids_trav.generators import grid, rmat
from rapids_trav.ids.locality_order import PAGE_EDGES, grown
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.build import grown_bytes
from rapids_trav.storage.paged import Paged

ORDERS = ("ids", "degree", "locality")


def both_ways(n, edges):
    u, v = np.array(edges, np.int64).reshape(-1, 2).T
    found = csr_matrix((np.ones(2 * len(u)), (np.r_[u, v], np.r_[v, u])), (n, n))
    found.sum_duplicates()
    return found.indptr.astype(np.int64), found.indices.astype(np.int32)


def plainly(offsets, columns, page_edges):
    """Return the order found in plain Python, with a queue and a list of seeds that may repeat a vertex."""
    n, order, taken, seeds = len(offsets) - 1, [], set(), []
    linked = [v for v in range(n) if offsets[v] < offsets[v + 1]]
    while len(order) < len(linked):
        first = next(v for v in [*seeds, *linked] if v not in taken)
        queue, edges = [first], 0
        for u in queue:
            if edges >= page_edges:
                break
            order.append(u)
            taken.add(u)
            row = columns[offsets[u] : offsets[u + 1]]
            edges += len(row)
            queue += [v for v in dict.fromkeys(row.tolist()) if v not in taken and v not in queue]
        seeds += [v for v in queue if v not in taken]
    return [*order, *(v for v in range(n) if v not in taken)]


@common
@given(shapes(), st.integers(1, 40), st.sampled_from([np.int32, np.int64]))
def test_it_is_the_order_of_bounded_searches(shape, page_edges, dtype):
    n, edges = shape
    offsets, columns = both_ways(n + 2, edges)
    order = grown(offsets, columns.astype(dtype), page_edges)
    assert order.dtype == dtype
    assert sorted(order) == list(range(n + 2))
    assert order.tolist() == plainly(offsets, columns, page_edges)


def test_a_hub_is_one_piece_and_its_leaves_are_read_once():
    n = 2000
    star = [(0, leaf) for leaf in range(1, n)]
    order = grown(*both_ways(n, star), 10)
    assert order.tolist() == list(range(n))


def shuffled(edges, n, seed=0):
    number = np.random.default_rng(seed).permutation(n)
    return pd.DataFrame({end: number[edges[end]] for end in ("src", "dst")})


def lattice(side):
    """Return the edges of a road-like lattice: a grid without about a third of its streets."""
    edges = grid(side, side)
    return edges[np.random.default_rng(1).random(len(edges)) > 0.35]


def share_within_pages(graph):
    rows = graph.storage.forward(weighted=False)
    page = rows.row_offsets[:-1] // PAGE_EDGES
    sources = np.repeat(np.arange(graph.n_vertices), np.diff(rows.row_offsets))
    return np.mean(page[sources] == page[rows.column_indices])


@pytest.mark.parametrize("limit", [None, "8MB", "2MB"])
@pytest.mark.parametrize("edges", [grid(250, 250), lattice(250)], ids=["grid", "lattice"])
def test_most_edges_stay_within_a_page(edges, limit):
    edges = shuffled(edges, 250**2)
    share = {}
    for order in ORDERS:
        with edges.trav.graph(order=order, memory_limit=limit, vertices=range(250**2)) as graph:
            assert limit is None or isinstance(graph.storage, Paged)
            share[order] = share_within_pages(graph)
    assert share["ids"] < 0.05 and share["degree"] < 0.05
    assert share["locality"] > 0.9


def test_directed_edges_are_followed_both_ways():
    edges = shuffled(grid(40, 30), 1200)
    expected = grown(*both_ways(1200, edges.to_numpy()))
    for directed in (False, True):
        graph = edges.trav.graph(directed=directed, order="locality")
        assert graph.ids.order.tolist() == expected.tolist()


def questions(source, other, deterministic=True):
    exact = {"deterministic": deterministic}
    return {
        "bfs": lambda graph: graph.bfs(source, **exact),
        "each": lambda graph: graph.bfs([source, other], mode="each", **exact),
        "where": lambda graph: graph.bfs(source, where="open", **exact),
        "paths": lambda graph: graph.paths(source, [other, source], **exact),
        "khop": lambda graph: graph.khop(source, 2).vertices,
        "edges": lambda graph: graph.khop(source, 2).edges,
        "components": lambda graph: graph.components(),
        "weak": lambda graph: graph.components(where="open"),
        "degrees": lambda graph: graph.degrees(),
        "sssp": lambda graph: graph.sssp(source, predecessors=False),
    }


@common
@given(graphs(), st.data())
def test_answers_do_not_depend_on_it(tmp_path_factory, drawn, data):
    frame, (src, dst), _, edges, directed = drawn
    frame["w"] = np.arange(len(frame)) % 7 + 1
    if not edges:
        return
    source, other = (data.draw(st.sampled_from([end for edge in edges for end in edge])) for _ in range(2))
    options = {"directed": directed, "weight": "w", "memory_limit": data.draw(st.sampled_from([None, "1MB"]))}
    saved = data.draw(st.booleans())
    asked = questions(source, other)
    answers = {}
    for order in ORDERS:
        graph = Graph.from_edges(frame, src, dst, order=order, **options)
        if saved:
            folder = tmp_path_factory.mktemp("saved") / "graph"
            graph.save(folder)
            inside = graph.ids.order
            graph = Graph.open(folder, verify=True)
            assert np.array_equal(graph.ids.order, inside)
            for name in ("where", "weak", "edges"):  # their columns are not saved
                asked.pop(name, None)
        answers[order] = {name: ask(graph) for name, ask in asked.items()}
    for order in ORDERS[1:]:
        for name, answer in answers[order].items():
            assert_frame_equal(answer, answers["ids"][name])


@pytest.mark.parametrize("limit", [None, "60kB"])
@pytest.mark.parametrize("weights", ["int32", "float64"])
def test_answers_on_a_larger_graph(weights, limit):
    edges = rmat(9, 4, seed=3).astype(str)
    edges["w"] = (np.arange(len(edges)) % 9 + 1).astype(weights)
    edges["open"] = edges["w"] < 7
    graphs_of = {
        order: edges.trav.graph(weight="w", order=order, memory_limit=limit) for order in ("ids", "locality")
    }
    assert {isinstance(graph.storage, Paged) for graph in graphs_of.values()} == {limit is not None}
    for ask in questions(edges["src"].iloc[0], edges["dst"].iloc[-1]).values():
        assert_frame_equal(ask(graphs_of["locality"]), ask(graphs_of["ids"]))


def test_its_time_is_told_apart():
    edges = grid(5, 5)
    assert set(edges.trav.graph(order="locality").build_times) == {"renumber", "locality order", "adjacency"}
    assert set(edges.trav.graph(order="degree").build_times) == {"renumber", "degree sort", "adjacency"}
    assert set(edges.trav.graph(order="ids").build_times) == {"renumber", "adjacency"}


def test_vertices_without_edges_come_last():
    edges = pd.DataFrame({"src": [7, 3], "dst": [3, 5]})
    graph = edges.trav.graph(vertices=[0, 4, 9], order="locality")
    places = graph.ids.order.tolist()  # indices into the sorted ids 0, 3, 4, 5, 7 and 9
    assert places[:3] == [1, 3, 4]
    assert sorted(places[3:]) == [0, 2, 5]
    assert graph.storage.view().out.n_linked == 3


def test_no_vertices():
    empty = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
    assert empty.trav.graph(order="locality").n_vertices == 0


def test_it_takes_what_is_declared():
    offsets, columns = both_ways(100_000, grid(300, 300).to_numpy())
    grown(offsets, columns)
    peak = peak_of(lambda: grown(offsets, columns))
    assert 0.9 * grown_bytes(100_000) < peak < grown_bytes(100_000) + 10_000


@pytest.mark.parametrize("limit", ["60kB", "1GB"])
def test_a_limit_counts_what_finding_it_takes(limit, monkeypatch):
    edges = shuffled(grid(40, 40), 1600)
    held = []
    hold = Budget.hold

    def counted(self, n_bytes, what, later):
        held.append((n_bytes, what))
        return hold(self, n_bytes, what, later)

    monkeypatch.setattr(Budget, "hold", counted)
    edges.trav.graph(order="locality", memory_limit=limit)
    assert [n for n, what in held if what == "the order of the vertices"] == [grown_bytes(1600)]


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("100B", r"^2\.4 kB are needed for vertex ids, .* at least 6\.3 kB\.$"),
        ("3kB", r"^2\.7 kB are needed for the order of the vertices, .* at least 6\.3 kB\.$"),
    ],
)
def test_too_small_a_limit_names_one_for_the_order_and_a_search(limit, message):
    with pytest.raises(TravMemoryError, match=message):
        grid(20, 15).trav.graph(order="locality", memory_limit=limit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "random"}, r"^order='random' is not known: choose one of 'degree', 'locality', 'ids'\.$"),
        (
            {"order": "locality", "degree_sort": True},
            r"^order='locality' and degree_sort=True both choose the numbering of the vertices: leave "
            r"out degree_sort\.$",
        ),
        ({"order": "ids", "degree_sort": False}, r"^order='ids' and degree_sort=False both choose"),
        (
            {"order": "locality", "tuning": {"sort": "merge"}},
            r"^sort='merge' applies only to the order by degree: leave it out, or give order='degree'\.$",
        ),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(TravError, match=message):
        grid(3, 3).trav.graph(**options)


def test_the_order_of_degree_takes_its_sort():
    edges = rmat(6, 4)
    graphs_of = (
        edges.trav.graph(order="degree", tuning={"sort": "merge"}), edges.trav.graph(degree_sort=True)
    )  # fmt: skip
    assert graphs_of[0].ids.order.tolist() == graphs_of[1].ids.order.tolist()
