"""What the host does for each page of a sweep, beside what the emulated CuPy counts for a question."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.engines.runs import RunOptions
from rapids_trav.jit.launches import count_launches
from rapids_trav.programs import shipped
from rapids_trav.storage.paged import Paged

from .paged_views import in_packed_pages, in_pages, in_pinned_memory
from .program_cases import CASES, gather_view, start

pytestmark = pytest.mark.gpu

PAGES = 7
LAUNCHES = {"plain": {"list_rows": 1, "gather_rows": 1}, "packed": {"unpack_blocks": 1}}
LAUNCHES["packed"] |= LAUNCHES["plain"]


@pytest.fixture(scope="module")
def host_view(engine, cpu):
    return in_pinned_memory(engine, gather_view(CASES["rmat"], cpu))


@pytest.fixture
def made(monkeypatch):
    """Return counts of what is made on the host: arguments of launches, and events."""
    from rapids_trav.engines.cuda.programs import state
    from rapids_trav.engines.cuda.runtime.loader import Kernels
    from rapids_trav.engines.cuda.stream import transfers

    counts = {"structs": 0, "arguments": 0, "events": 0}

    def counted(what, function):
        def call(*given, **named):
            counts[what] += 1
            return function(*given, **named)

        return call

    monkeypatch.setattr(state, "RowArguments", counted("structs", state.RowArguments))
    monkeypatch.setattr(Kernels, "prepared", counted("arguments", Kernels.prepared))
    monkeypatch.setattr(transfers.cupy.cuda, "Event", counted("events", transfers.cupy.cuda.Event))
    return counts


@pairs(pages_stay=[False, True], form=LAUNCHES, asynchronous=[False, True])
def test_a_sweep_repeats_what_the_first_has_prepared(
    engine, host_view, made, form, asynchronous, pages_stay, monkeypatch
):
    """Later sweeps launch the kernels of each page, and make neither arguments nor events."""
    from rapids_trav.engines.cuda.stream import plan

    if not pages_stay:
        monkeypatch.setattr(plan.StreamPlan, "kept_together", lambda *given: iter(()))
    program, n = shipped.pagerank(0.0), host_view.n_vertices

    def counts(n_iterations):
        before = dict(made)
        view = (in_pages if form == "plain" else in_packed_pages)(host_view, PAGES)
        options = RunOptions(
            mode="pull", asynchronous=asynchronous, compress=form == "packed",
            max_iterations=n_iterations, parameters=(0.85,),
        )  # fmt: skip
        first = start(program, n, np.full(n, 1 / n), np.ones(n, bool), engine.xp)
        with count_launches() as launches:
            done = engine.run(view, program, first, options)
        assert done.iterations == n_iterations
        return launches, {what: made[what] - before[what] for what in made}

    few, prepared = counts(3)
    many, prepared_once = counts(13)
    assert {name: many[name] - few[name] for name in many if many[name] > few[name]} == {
        name: 10 * PAGES * number for name, number in LAUNCHES[form].items()
    }
    assert prepared_once == prepared
    assert prepared["structs"] == PAGES  # not one for each slot that a page could be in


def test_short_rows_leave_no_room_in_pages(engine, cpu):
    """Pages are cut by the bytes that they take on the GPU, where a row has an entry in a list, no offset."""
    from rapids_trav import Graph, generators
    from rapids_trav.engines.cuda.stream.plan import plan_stream

    graph = Graph.from_edges(generators.path(40_000), engine=engine, directed=True, memory_limit=2_100_000)
    assert isinstance(graph.storage, Paged)
    view, options = graph.storage.gather_view("out", None, False, False), RunOptions(mode="pull")
    graph.budget.limit = 2_100_000
    plan = plan_stream(view, shipped.pagerank(), options, 4)
    room = graph.budget.free - plan.resident_bytes
    assert plan.n_pages > plan.n_slots and plan.n_slots * plan.slot_bytes > 0.9 * room
