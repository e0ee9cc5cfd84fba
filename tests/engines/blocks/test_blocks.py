"""Runs over blocks: correct on any graph with any places, and the bytes moved (SYSTEMS L4 to L11)."""

from __future__ import annotations

import numpy as np
import pytest
from block_cases import from_sources, lattice, over_blocks, path, swept, view_of, widest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common, shapes
from scipy.sparse import lil_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from rapids_trav.engines.blocks.cut import cut, cut_for, least_place_bytes
from rapids_trav.engines.blocks.schedule import PRICE
from rapids_trav.memory.model.program import LEAST_PAGE
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState


# Each program is compiled; the other dtypes differ from these in the width of a word alone.
@pytest.mark.parametrize(
    "program",
    [
        shipped.shortest_paths("int64"),
        widest("float32"),
        pytest.param(widest("int32"), marks=pytest.mark.release),
        *(
            pytest.param(program, marks=pytest.mark.release)
            for program in (shipped.shortest_paths("float64"), widest("int64"), widest("float64"))
        ),
    ],
    ids=lambda program: f"{program.name}-{program.dtype}",
)
def test_values_are_those_of_sweeps(program):
    """Cases: rows in several blocks, blocks of one edge, one place, zero weights, vertices without edges."""

    @common
    @given(shapes(), st.data())
    def check(shape, data):
        n, edges = shape
        many = st.lists(st.integers(0, 9), min_size=len(edges), max_size=len(edges))
        weights = np.array(data.draw(many), program.dtype)
        src, dst = np.array(edges, np.int64).reshape(-1, 2).T
        view = view_of(n, src, dst, weights, directed=data.draw(st.booleans()))
        how = {"shift": data.draw(st.integers(0, 4)), "n_places": data.draw(st.integers(1, 5))}
        state = from_sources(program, n, *data.draw(st.sets(st.integers(0, n - 1), max_size=3)))
        if program.reducer == "max":
            state = RunState(np.arange(n, dtype=program.dtype), np.ones(n, bool))
        found = over_blocks(view, program, state, **how)
        assert found.converged
        np.testing.assert_array_equal(found.values, swept(view, program, state).values)

    check()


@pytest.mark.parametrize("directed", [False, True])
def test_distances_and_components_are_scipys(directed):
    rng = np.random.default_rng(5)
    n = 400
    src, dst = rng.integers(0, n - 40, (2, 700))
    weights = rng.integers(0, 9, 700)
    view = view_of(n, src, dst, weights, directed)
    lengths = lil_matrix((n, n))
    for u, v, w in zip(src, dst, weights + 1e-9, strict=True):  # SciPy takes 0 for a missing edge
        for a, b in ((u, v),) if directed else ((u, v), (v, u)):
            lengths[a, b] = min(w, lengths[a, b] or w)
    program = shipped.shortest_paths("float64")
    found = over_blocks(view, program, from_sources(program, n, 3), shift=5, n_places=3)
    np.testing.assert_allclose(found.values, dijkstra(lengths.tocsr(), indices=3), atol=1e-5)

    both = view_of(n, src, dst, directed=False)
    start = RunState(np.arange(n), np.ones(n, bool))
    labels = over_blocks(both, shipped.connected_components("int64"), start, shift=5).values
    _, parts = connected_components(lengths.tocsr(), directed=False)
    smallest = np.full(n, n)
    np.minimum.at(smallest, parts, np.arange(n))
    assert labels.tolist() == smallest[parts].tolist()


@pytest.mark.parametrize("n_places", [1, 2, 8])
def test_a_row_longer_than_a_place_has_parts(n_places):
    """The hub's row has 16 blocks and the source's row has one; each is loaded once."""
    n, program = 1025, shipped.breadth_first()
    view = view_of(n + 1, [n, *[0] * (n - 1)], np.arange(n))
    found = over_blocks(view, program, from_sources(program, n + 1, n), 6, n_places)
    assert found.values.tolist() == [1] + [2] * (n - 1) + [0]
    assert found.counters["loads"] == 17 and found.counters["reloads"] == 0
    assert found.counters["loaded"] == 4 * n and found.counters["in_place"] == 0


def test_loaded_blocks_are_iterated_until_they_are_quiet():
    """A lattice needs far fewer loads than rounds, and moves few times the bytes of its edges (L8)."""
    view, program = lattice(80), shipped.shortest_paths("int64")
    state = from_sources(program, view.n_vertices, 0)
    found = over_blocks(view, program, state, shift=8, n_places=25)
    np.testing.assert_array_equal(found.values, swept(view, program, state).values)
    n_bytes = view.out.n_edges * (4 + 8)
    assert found.counters["rounds"] > 4 * found.counters["loads"]
    assert found.counters["loaded"] + found.counters["in_place"] < 3 * n_bytes
    assert found.counters["launches"] < 4 * found.counters["loads"]


def test_blocks_that_are_quiet_move_nothing():
    """Only one of ten paths is walked: no byte of the others is copied or read."""
    one = 256
    order = np.arange(10 * one).reshape(10, one)
    view = view_of(10 * one, order[:, :-1].ravel(), order[:, 1:].ravel())
    program = shipped.breadth_first()
    found = over_blocks(view, program, from_sources(program, 10 * one, 5 * one), shift=6, n_places=2)
    assert found.values[5 * one : 6 * one].tolist() == list(range(one))
    n_blocks = 1 + -(-(one - 1) // 64)  # the blocks that hold edges of the path
    assert found.counters["loads"] <= n_blocks
    moved = found.counters["loaded"] + found.counters["in_place"]
    assert 4 * (one - 1) <= moved <= 4 * 64 * n_blocks * (1 + 1 / PRICE)


def test_a_block_is_rented_until_that_has_cost_its_price():
    """A path walks 64 edges one by one: each costs PRICE in place, until together they cost the block."""
    view, _ = path(65)
    program = shipped.breadth_first()
    found = over_blocks(view, program, from_sources(program, 65, 0), shift=6, n_places=1)
    rented = (64 - 1) // PRICE
    assert found.counters["in_place"] == 4 * rented and found.counters["loads"] == 1
    near = over_blocks(view, program, from_sources(program, 65, 64 - rented), shift=6, n_places=1)
    assert near.counters["in_place"] == 4 * rented and near.counters["loads"] == near.counters["loaded"] == 0
    assert near.values[-1] == rented and near.counters["launches"] == 1


def test_what_is_read_in_place_is_bounded_by_what_is_loaded():
    """A shuffled path goes from block to block: a block is read in place for 1 / PRICE of it, then loaded."""
    view, order = path(4000, seed=2)
    program = shipped.breadth_first()
    found = over_blocks(view, program, from_sources(program, 4000, order[0]), shift=6, n_places=16)
    assert found.values[order].tolist() == list(range(4000))
    n_bytes = 4 * view.out.n_edges
    assert 0 < found.counters["in_place"] <= (found.counters["loaded"] + n_bytes) / PRICE
    assert found.counters["loaded"] <= 8 * n_bytes


def test_an_iteration_is_the_work_of_a_sweep_and_can_be_the_last():
    view, program = lattice(40), shipped.shortest_paths("int64")
    state, states = from_sources(program, 1600, 0), []

    def keep(now, last):
        states.append((RunState(now.values.copy(), now.active.copy(), now.iteration), last))

    found = over_blocks(view, program, state, 6, 2, checkpoint=keep, trace=True)
    assert [last for _, last in states] == [False] * (len(states) - 1) + [True]
    assert len(found.trace) == found.iterations > 2
    assert {row.mode for row in found.trace} == {"blocks"}
    active = [1, *(int(now.active.sum()) for now, _ in states)]
    assert [row.active for row in found.trace] == active[:-1] and active[-1] == 0
    for name in ("loads", "loaded", "in_place", "launches", "rounds", "reloads", "evictions"):
        assert sum(getattr(row.blocks, name) for row in found.trace) == found.counters[name]
    for resumed, _ in states[:-1]:
        again = over_blocks(view, program, resumed, 6, 2)
        np.testing.assert_array_equal(again.values, found.values)
    ended = over_blocks(view, program, state, 6, 2, max_iterations=1)
    assert ended.iterations == 1 and not ended.converged


@pytest.mark.parametrize("n_edges", [1, 5000, 70_000, 3_000_000])
def test_blocks_have_equal_bytes_and_fit_their_memory(n_edges):
    view = view_of(10, np.zeros(n_edges), np.arange(n_edges) % 10)
    whole = 4 * n_edges
    for free in (0, whole // 20, whole // 4, whole, 10 * whole):
        blocks = cut_for(view, free)
        assert (blocks.n_edges[:-1] == 1 << blocks.shift).all() and blocks.n_edges.sum() == n_edges
        assert blocks.n_blocks <= 256 and 1 <= blocks.n_places <= blocks.n_blocks
        assert blocks.n_blocks == 1 or 4 << blocks.shift >= LEAST_PAGE
        assert 4 * blocks.room <= max(free, least_place_bytes(view))
    assert least_place_bytes(view) >= min(whole, LEAST_PAGE)


def test_rows_of_blocks_with_empty_rows_and_rows_over_cuts():
    offsets = np.array([0, 0, 3, 3, 9, 10, 10])
    blocks = cut(offsets, 2, 9)
    assert blocks.firsts.tolist() == [1, 3, 3] and blocks.ends.tolist() == [4, 4, 5]
    assert blocks.n_edges.tolist() == [4, 4, 2] and blocks.n_places == 3
