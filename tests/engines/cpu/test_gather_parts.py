"""Gathering in parts of equally many edges (SYSTEMS G12), and the vertices that gather (G13, G14)."""

from __future__ import annotations

import numpy as np
import pytest
from gas_reference import iterate

from rapids_trav import Program
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.programs import run
from rapids_trav.engines.cpu.programs.pages import ResidentEdges
from rapids_trav.engines.cpu.programs.state import ProgramWork
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.jit.kernels import Threads
from rapids_trav.programs.run_state import RunState, gather_mode

# Sums of integers, so that a lost or doubled edge shows; every vertex counts in `total`.
SUMS = Program(
    "sums",
    "int64",
    "sum",
    gather=lambda message, weight: message * weight,
    apply=lambda value, gathered: 2 * value + gathered,
    total=lambda value, degree: value,
    tolerance=0.5,
)


def view_of(n, src, dst, weights):
    engine = CpuEngine()
    into = engine.build_adjacency(lambda: iter([(src, dst, weights)]), n, transpose=True)
    out = engine.build_adjacency(lambda: iter([(src, dst)]), n)
    return GatherView(into, out, into.weights, np.diff(out.row_offsets))


def hub(n=30):
    """Return a graph in which vertex 4 gathers from all vertices; 0, 5, 6 and the last gather from none."""
    rng = np.random.default_rng(0)
    others = rng.choice(np.setdiff1d(np.arange(1, n - 1), [4, 5, 6]), 10)
    return n, np.concatenate([np.arange(n), rng.integers(0, n, 10)]), np.concatenate([[4] * n, others])


GRAPHS = {
    "hub": hub(),
    "hub alone": (3, np.array([0, 2] * 20), np.array([1] * 40)),
    "hub last": (3, np.array([0, 1] * 20), np.array([2] * 40)),
    "random": (50, *np.random.default_rng(1).integers(0, 50, (2, 170))),
    "no edges": (5, np.array([], int), np.array([], int)),
    "one edge": (4, np.array([2]), np.array([1])),
    "no vertices": (0, np.array([], int), np.array([], int)),
}


@pytest.mark.parametrize("n_parts", [1, 2, 3, 4, 7, 16, 300])
@pytest.mark.parametrize("name", GRAPHS)
def test_parts_of_any_number_give_the_same(name, n_parts):
    """Cases: one part; three or more parts within one hub's row; more parts than edges."""
    n, src, dst = GRAPHS[name]
    rng = np.random.default_rng(2)
    weights, values = rng.integers(1, 100, len(src)), rng.integers(-50, 50, n)
    edges = list(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    wanted, active = iterate(SUMS, edges, values)
    with Threads() as team:
        state = RunState(values, np.ones(n, bool))
        work = ProgramWork(view_of(n, src, dst, weights), SUMS, state, RunOptions(), team)
        (piece,) = ResidentEdges(work.view).pieces(None)
        stats = run.gather(work, piece, n_parts)
    np.testing.assert_array_equal(work.new_values, wanted)
    np.testing.assert_array_equal(work.active, active)
    out_degrees = np.bincount(src, minlength=n)
    assert stats[:4].tolist() == [
        active.sum(), out_degrees[active].sum(), abs(wanted - values).sum(), wanted.sum()
    ]  # fmt: skip


@pytest.mark.parametrize("n_parts", [1, 3, 50])
def test_listed_vertices_gather_alone(n_parts):
    n, src, dst = GRAPHS["hub"]
    values, weights = np.arange(n), np.ones(len(src), int)
    wanted, _ = iterate(SUMS, list(zip(src.tolist(), dst.tolist(), weights, strict=True)), values)
    rows = np.array([0, 4, 5, 9, n - 1])
    with Threads() as team:
        state = RunState(values, np.ones(n, bool))
        work = ProgramWork(view_of(n, src, dst, weights), SUMS, state, RunOptions(), team)
        work.new_values[:] = -1
        (piece,) = ResidentEdges(work.view).pieces(rows)
        run.gather(work, piece, n_parts)
    np.testing.assert_array_equal(work.new_values[rows], wanted[rows])
    assert (np.delete(work.new_values, rows) == -1).all()


@pytest.mark.parametrize("apply", [None, lambda value, gathered: min(value, gathered)])
def test_who_is_notified(apply):
    """Out-neighbours of active vertices are notified; active ones too, if `apply` may change them further."""
    program = Program("p", "int64", "min", apply=apply)
    view = view_of(5, np.array([0, 0, 1, 3]), np.array([1, 2, 2, 4]), np.ones(4, int))
    active = np.array([True, False, False, False, True])
    with Threads() as team:
        work = ProgramWork(view, program, RunState(np.arange(5), active), RunOptions(), team)
        assert run.notified(work).tolist() == ([1, 2] if apply is None else [0, 1, 2, 4])


@pytest.mark.parametrize(
    ("active", "edges", "paged", "mode"),
    [
        (0, 0, False, "notify"),
        (0, 100, False, "notify"),
        (50, 100, False, "notify"),
        (51, 100, False, "pull"),
        (50, 101, False, "notify"),
        (50, 99, False, "pull"),
        (100, 100, False, "pull"),
        (5, 100, True, "notify"),
        (6, 100, True, "pull"),
        (2**62, 2**63, False, "notify"),
    ],
)
def test_choice_of_the_mode_at_its_bounds(active, edges, paged, mode):
    """Notify if the active share f of the edges is at most 1/2; from storage, at most 1/(2 k) with k = 10."""
    assert gather_mode(active, edges, paged) == mode
    assert gather_mode(1, 7, paged=True, penalty=3) == "notify"
    assert gather_mode(1, 5, paged=True, penalty=3) == "pull"
