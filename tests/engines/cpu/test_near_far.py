"""Asynchronous pushes in order of value: correct on any graph, each vertex once a round, without the host."""

from __future__ import annotations

import networkx as nx
import numba
import numpy as np
import pandas as pd
import pytest
from common import rows
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common, shapes

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import Program, generators
from rapids_trav.engines.cpu.programs import push
from rapids_trav.programs import shipped

HERE, EVERYWHERE = push.WIDE, -1  # least number of edges that several threads push in a round


def spied(patch, name):
    """Return a list to which calls of a function of `push` add their results, the numbers of pushed edges."""
    real, seen = getattr(push, name), []

    def call(*arguments):
        seen.append(real(*arguments))
        return seen[-1]

    patch.setattr(push, name, call)
    return seen


def weighted(edges, weights):
    src, dst = zip(*edges, strict=True)
    return pd.DataFrame({"src": src, "dst": dst, "w": weights}).trav.graph(directed=True, weight="w")


@pytest.mark.parametrize(
    ("dtype", "wide"),
    [
        ("int32", EVERYWHERE),
        ("float64", HERE),
        pytest.param("float32", HERE, marks=pytest.mark.release),
        pytest.param("float64", EVERYWHERE, marks=pytest.mark.release),
        pytest.param("int64", HERE, marks=pytest.mark.release),
    ],
)
def test_distances_and_widths(dtype, wide):
    """Distances are of int64 or float64, by the weights; the widest ways are of `dtype`."""
    program = Program("widest", dtype, "max", gather=lambda message, weight: min(message, weight))

    @common
    @given(shapes(), st.data())
    def check(shape, data):
        n, edges = shape
        many = st.lists(st.integers(0, 9), min_size=len(edges), max_size=len(edges))
        weights = np.array(data.draw(many), dtype) / np.array(4 if dtype[0] == "f" else 1, dtype)
        frame = pd.DataFrame(edges, columns=["src", "dst"], dtype="int64").assign(w=weights.astype(dtype))
        graph = frame.trav.graph(directed=True, weight="w", vertices=range(n))
        truth = nx.DiGraph()
        truth.add_nodes_from(range(n))
        for u, v, w in frame.itertuples(index=False, name=None):
            least = min(w, truth.edges.get((u, v), {}).get("weight", w))
            truth.add_edge(u, v, weight=least)
        found = rows(graph.sssp(0, reached_only=True, mode="push", asynchronous=True))
        assert {v: d for v, d, _ in found} == nx.single_source_dijkstra_path_length(truth, 0)
        options = {"initial": {0: 100}, "weighted": True}
        got = graph.run(program, mode="push", asynchronous=True, **options)["value"]
        assert got.tolist() == graph.run(program, mode="pull", **options)["value"].tolist()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(push, "WIDE", wide)
        patch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)
        in_parts = spied(patch, "_wide")
        check()
    assert bool(in_parts) == (wide == EVERYWHERE)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_vertex_improved_before_its_turn_is_pushed_once(monkeypatch, threads):
    """Among the near vertices, 1 comes before 2 and improves it."""
    monkeypatch.setattr(push, "WIDE", EVERYWHERE)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
    in_parts = spied(monkeypatch, "_wide")
    graph = weighted([(0, 1), (0, 2), (1, 2), (2, 3)], [1, 5, 1, 1])
    found = graph.sssp(0, mode="push", asynchronous=True, trace=True)
    assert found.result["distance"].tolist() == [0, 1, 2, 3]
    assert found.trace["edges"].sum() == 4
    assert bool(in_parts) == (threads == 2)


def test_a_long_search_is_one_call_of_the_kernel(monkeypatch):
    """On a grid the threshold moves many times, without any return to the host."""
    calls = spied(monkeypatch, "_narrow")
    edges = generators.grid(120, 120)
    edges["w"] = np.random.default_rng(3).integers(1, 100, len(edges))
    graph = edges.trav.graph(weight="w")
    found = graph.sssp(0, trace=True)
    assert len(calls) <= len(found.trace) and sum(calls) == found.trace["edges"].sum()
    # Rounds that each pushed all active vertices would push many times the edges.
    assert sum(calls) < 2 * 2 * graph.n_edges


def test_far_has_room_when_vertices_come_back(monkeypatch):
    """Each vertex enters the far list once, however often it improves: here as often as there are others."""
    n = 60
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    weights = [(v - u) * (v - u) + 1 for u, v in pairs]  # longer paths, of more edges, are shorter in weight
    for wide in (HERE, EVERYWHERE):
        monkeypatch.setattr(push, "WIDE", wide)
        found = weighted(pairs, weights).sssp(0, mode="push", asynchronous=True)
        assert found["distance"].tolist() == [2 * v for v in range(n)]


@pytest.mark.parametrize(("dtype", "last"), [("int64", 2**63 - 2), ("float64", 1e308)])
def test_values_at_the_end_of_their_type(dtype, last):
    """The threshold stops at the largest value and does not wrap around."""
    program = Program("farthest", dtype, "min", gather=lambda message, weight: max(message, weight))
    weights = np.array([1, last // 2, last, last - last / 4], dtype)
    graph = weighted([(0, 1), (1, 2), (2, 3), (1, 3)], weights)
    got = graph.run(program, initial={0: 0}, weighted=True, mode="push", asynchronous=True)["value"]
    assert got.tolist() == [0, 1, weights[1], weights[3]]


# ---- the CPU engine chooses to push up to a share of active edges, which falls with the thread count (G14)


N_EDGES = 2400


def first_mode(n_active, **options):
    """Return the mode of the first iteration when the active vertex has `n_active` of the edges."""
    rest = np.arange(N_EDGES - n_active)
    src = np.concatenate([np.zeros(n_active, np.int64), 10_000 + rest])
    dst = np.concatenate([1 + np.arange(n_active), 20_000 + rest])
    graph = pd.DataFrame({"src": src, "dst": dst}).trav.graph(directed=True)
    found = graph.run(shipped.breadth_first(), initial={0: 0}, max_iterations=1, trace=True, **options)
    assert (found.result["value"] == 1).sum() == n_active
    return found.trace["mode"].iloc[0]


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_a_synchronous_iteration_pushes_up_to_its_bound(monkeypatch, n_threads):
    """A push runs on one thread, whereas all threads would share a pull or a notification."""
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
    bound = N_EDGES // (push.NARROW * n_threads)
    assert first_mode(bound) == "push"
    assert first_mode(bound + 1) == "notify"


@pytest.mark.parametrize("n_threads", [1, 8])
def test_asynchronous_iterations_push_on_any_number_of_threads(monkeypatch, n_threads):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
    bound = N_EDGES // push.NARROW
    assert first_mode(bound, asynchronous=True) == "push"
    assert first_mode(bound + 1, asynchronous=True) == "notify"
