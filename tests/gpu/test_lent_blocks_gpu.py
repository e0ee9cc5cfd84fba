"""Blocks of edges on a GPU with the CPU beside it: values, what the CPU follows, delays and memory."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.engines.blocks.cut import cut
from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState
from rapids_trav.published.largegraph.lending import Lending

from .paged_views import in_budget
from .program_cases import CASES, gather_view
from .test_blocks_gpu import PROGRAMS, on_host, outside, start_of

pytestmark = pytest.mark.gpu


def on_both(engine, view, program, start, shift, n_places, pinned=True, sweep=None, **options):
    """Run a program over blocks of 1 << shift edges on the GPU and the CPU; return the run.

    `sweep` is the number of edges of an iteration.
    """
    from rapids_trav.engines.cuda.blocks.parts import plain_parts
    from rapids_trav.engines.iterations import iterate
    from rapids_trav.published.largegraph.shared_blocks import SharedBlocks

    options = RunOptions(weighted=view.weights is not None, asynchronous=True, trace=True, **options)
    cuts, away = cut(view.out.row_offsets.get(), shift, n_places), outside(engine, view, pinned)
    of_cpu = replace(away, out=replace(away.out, row_offsets=away.out.row_offsets.get()))
    with SharedBlocks(of_cpu, away, program, start, options, cuts, plain_parts(away, cuts)) as work:
        work._n_edges = sweep or work._n_edges
        return iterate(work, program, start, options)


@pytest.fixture
def delays(monkeypatch):
    """Let the CPU return its offers after a random time."""
    rng, offers = np.random.default_rng(3), Lending._offers

    def late(*given):
        time.sleep(rng.choice([0, 0.002, 0.02]))
        return offers(*given)

    monkeypatch.setattr(Lending, "_offers", late)


@pairs(
    which=PROGRAMS,
    name=["no edges", "square", "rmat", "directed rmat"],
    place=["pinned", "in files"],
)
def test_values_are_those_in_memory(engine, which, name, place, delays):
    program, weight, value, sources = PROGRAMS[which]
    graph = CASES[name]
    view = gather_view(graph, engine, weight)
    hub = int(np.argmax(np.diff(view.out.row_offsets.get())))
    start = start_of(program, graph.n, value, sources and [hub], engine.xp)
    shift = max(len(graph.u) // 24, 1).bit_length()
    run = on_both(engine, view, program, start, shift, 2, place == "pinned")
    wanted = engine.run(view, program, start, RunOptions(weighted=weight is not None))
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert run.converged
    assert run.counters["lent"] > 0 or name not in ("rmat", "directed rmat")


def test_long_lists_go_and_come_in_parts(engine, monkeypatch):
    from rapids_trav.published.largegraph import shared_blocks as lent

    monkeypatch.setattr(lent, "MOST_LENT", 50)
    graph, program = CASES["rmat"], shipped.connected_components()
    view = gather_view(graph, engine)
    start = start_of(program, graph.n, None, None, engine.xp)
    run = on_both(engine, view, program, start, 11, 2)
    wanted = engine.run(view, program, start, RunOptions())
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert run.counters["lent"] > 0


def test_a_checkpoint_has_what_the_cpu_was_given(engine, monkeypatch):
    """An iteration does not end before the CPU: what it has would be neither active nor in the values."""
    offers = Lending.offers
    monkeypatch.setattr(Lending, "offers", lambda cpu, wait=False: offers(cpu, wait) if wait else None)
    graph, program = CASES["rmat"], shipped.breadth_first()
    view = gather_view(graph, engine)
    hub = int(np.argmax(np.diff(view.out.row_offsets.get())))
    start = start_of(program, graph.n, 0, [hub], engine.xp)
    states = []

    def checkpoint(state, done):
        states.append(RunState(state.values.copy(), state.active.copy()))

    run = on_both(engine, view, program, start, 11, 2, sweep=10_000, checkpoint=checkpoint)
    wanted = engine.run(view, program, start, RunOptions()).values.get()
    assert np.array_equal(run.values.get(), wanted)
    assert run.counters["lent"] > 0 and len(states) > 2
    for state in states:
        resumed = engine.run(view, program, state, RunOptions())
        assert np.array_equal(resumed.values.get(), wanted)


@pytest.mark.parametrize("weight", [None, "float64"])
def test_memory_is_within_the_budget(engine, weight, monkeypatch):
    from rapids_trav.engines.cuda.blocks import executor

    monkeypatch.setattr(executor, "LEAST_BLOCK", 1 << 13)
    program = shipped.breadth_first() if weight is None else shipped.shortest_paths()
    graph = CASES["rmat"]
    view = gather_view(graph, engine, weight)
    start = start_of(program, graph.n, 0, [1], engine.xp)
    wanted = engine.run(view, program, start, RunOptions(weighted=weight is not None))
    options = RunOptions(weighted=weight is not None, asynchronous=True, trace=True, schedule="paths")
    limited = in_budget(on_host(engine, graph, weight), 600_000)
    run = engine.run_hybrid(limited, program, start, options)
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert {one.mode for one in run.trace} == {"blocks"} and "lent" in run.counters
    assert limited.pages.budget.used == 0 < limited.pages.budget.peak <= 600_000
