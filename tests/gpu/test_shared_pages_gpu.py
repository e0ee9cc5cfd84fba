"""Runs on the CPU and the GPU: when the CPU joins, when it is withdrawn, and what is copied for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from .paged_views import in_pages, in_pinned_memory
from .program_cases import CASES, gather_view, question, start

pytestmark = pytest.mark.gpu

QUESTIONS = ("bfs", "components", "sssp", "pagerank")


def ask(engine, cpu, name, asked, policy=None, **changes):
    """Return the answers of a hybrid run, which goes on from a policy, and of the CPU engine."""
    program, values, active, options = question(asked, CASES[name])
    options = replace(options, **changes)
    view = gather_view(CASES[name], cpu, "float32" if options.weighted else None)
    theirs = cpu.run(view, program, start(program, view.n_vertices, values, active, np), options)
    first = start(program, view.n_vertices, values, active, engine.xp)
    first = replace(first, policy=policy or {})
    ours = engine.run_hybrid(in_pages(in_pinned_memory(engine, view), 7), program, first, options)
    return replace(ours, values=ours.values.get()), theirs


def agree(ours, theirs):
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-9)
    assert (ours.iterations, ours.converged) == (theirs.iterations, theirs.converged)


@pytest.fixture
def counts(monkeypatch):
    """Count sides of the CPU that are made, pages that it gathers over, and pages whose results it gets."""
    from rapids_trav.published.garaph.hybrid import HostSide, HybridExecutor

    made = {"__init__": 0, "gather": 0, "_copy_to_host": 0}

    def counted(kind, name):
        function = getattr(kind, name)

        def call(*given):
            made[name] += 1
            return function(*given)

        monkeypatch.setattr(kind, name, call)

    counted(HostSide, "__init__")
    counted(HostSide, "gather")
    counted(HybridExecutor, "_copy_to_host")
    return made


def test_a_short_run_is_that_of_the_gpu_alone(engine, cpu, counts, monkeypatch):
    """Arrays for the CPU would take longer to prepare than they could save."""
    from rapids_trav.published.garaph import hybrid as shared

    monkeypatch.setattr(shared, "PATIENCE", 1e12)
    agree(*ask(engine, cpu, "rmat", "pagerank"))
    assert set(counts.values()) == {0}


def test_a_cpu_that_does_not_pay_is_left_out(engine, cpu, counts, monkeypatch):
    """Nothing is copied to it or from it."""
    from rapids_trav.published.garaph import hybrid as shared

    monkeypatch.setattr(shared, "PATIENCE", 0)
    slow = {"cpu seconds": 1e3, "cpu edges": 1.0, "gpu seconds": 1.0, "gpu edges": 1e9}
    agree(*ask(engine, cpu, "rmat", "pagerank", policy=slow))
    assert counts == {"__init__": 1, "gather": 0, "_copy_to_host": 0}


def test_the_gpu_alone_skips_pages_without_notified_vertices(engine, cpu, monkeypatch):
    from rapids_trav.published.garaph import hybrid as shared

    monkeypatch.setattr(shared, "PATIENCE", 0)
    monkeypatch.setattr(shared.Dispatcher, "alone", lambda *given: False)
    ours, theirs = ask(engine, cpu, "long path", "bfs", mode="notify", trace=True)
    agree(ours, theirs)
    assert all(row.mode == "notify" and row.edges <= 4 for row in ours.trace)


@pytest.mark.parametrize("name", ["directed rmat", "square"])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_sides_take_turns(engine, cpu, counts, asked, name, cpu_takes_one_page, monkeypatch):
    """The CPU alone, the GPU alone and both follow one another in each order, and see what the others did."""
    from rapids_trav.published.garaph import hybrid as shared

    turns = cycle(["gpu", "both", "cpu", "gpu", "cpu", "cpu", "both", "gpu", "gpu", "both", "both"])
    turn = ""

    def alone(dispatcher, share):
        nonlocal turn
        turn = next(turns)
        return turn == "cpu"

    monkeypatch.setattr(shared, "PATIENCE", 0)
    monkeypatch.setattr(shared.Dispatcher, "alone", alone)
    monkeypatch.setattr(shared.Dispatcher, "shares", lambda dispatcher: turn == "both")
    for n_iterations in (1, 2, 3, 4, 5, 8, 12):
        turns = cycle(["gpu", "both", "cpu", "gpu", "cpu", "cpu", "both", "gpu", "gpu", "both", "both"])
        agree(*ask(engine, cpu, name, asked, mode="pull", max_iterations=n_iterations))
    assert counts["_copy_to_host"] > 0
