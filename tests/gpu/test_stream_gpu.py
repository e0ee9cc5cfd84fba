"""Vertex programs over pages that the tests cut, streamed to the GPU or shared with the CPU.

The answers are compared with the CPU engine in memory, whose tests compare it with SciPy and NetworkX.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.errors import TravMemoryError
from rapids_trav.programs.definition import Program

from .paged_views import in_budget, in_pages, in_pinned_memory
from .program_cases import CASES, LARGE_CASES, SUMMING, gather_view, question, start

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

QUESTIONS = ("bfs", "components", "sssp", "pagerank")
SHARED = ("rmat", "directed rmat", "wheel", "long path", "multi", "no edges")  # with the CPU


@pytest.fixture(scope="session")
def answers(engine, cpu):
    """Return a function of case and question: the view on the host, pinned or not, and the CPU's run."""

    @functools.cache
    def made(name, asked, pinned=True):
        program, values, active, options = question(asked, CASES[name])
        view = gather_view(CASES[name], cpu, "float32" if options.weighted else None)
        run = cpu.run(view, program, start(program, view.n_vertices, values, active, np), options)
        return in_pinned_memory(engine, view) if pinned else view, run

    return made


def streamed(engine, view, name, asked, hybrid=False, **changes):
    program, values, active, options = question(asked, CASES[name])
    state = start(program, view.n_vertices, values, active, engine.xp)
    run = engine.run_hybrid if hybrid else engine.run
    done = run(view, program, state, replace(options, **changes))
    assert view.pages.budget.used == 0
    assert view.pages.budget.peak <= view.pages.budget.limit
    return replace(done, values=done.values.get())


def agree(asked, ours, theirs, asynchronous=False):
    if asked == "pagerank":
        np.testing.assert_allclose(
            ours.values, theirs.values, rtol=1e-9 if not asynchronous else 1e-3, atol=1e-5
        )
    else:
        np.testing.assert_array_equal(ours.values, theirs.values)
    assert ours.converged == theirs.converged
    if not asynchronous:
        assert ours.iterations == theirs.iterations


@pairs(
    ("components", "wheel", "gpu", "sync"),
    ("pagerank", "wheel", "hybrid", "sync"),
    ("sssp", "wheel", "hybrid", "async"),
    allowed=lambda asked, name, processor, order: processor == "gpu" or name in SHARED,
    asked=QUESTIONS,
    name=[name for name in CASES if name != "wheel" or LARGE_CASES],
    processor=["gpu", "hybrid"],
    order=["sync", "async"],
)
def test_pages_agree_with_the_cpu(engine, answers, asked, name, processor, order):
    hybrid, asynchronous = processor == "hybrid", order == "async"
    view, theirs = answers(name, asked)
    if asked == "pagerank" and asynchronous and not theirs.converged:
        pytest.skip("values on the way to the end differ")
    # The results of one processor may reach the other an iteration later: this may take more iterations.
    longer = {"max_iterations": 500} if asked == "pagerank" and asynchronous else {}
    ours = streamed(engine, in_pages(view, 7), name, asked, hybrid, asynchronous=asynchronous, **longer)
    agree(asked, ours, theirs, asynchronous)


@pairs(
    ("components", "rmat", "pinned", "notify"),
    ("sssp", "wheel", "pinned", "notify"),
    ("pagerank", "wheel", "staged", "pull"),
    asked=QUESTIONS,
    name=["rmat", "directed rmat", *LARGE_CASES],
    place=["staged", "pinned"],
    mode=["pull", "notify"],
)
def test_modes_and_places(engine, answers, asked, name, place, mode):
    """Pageable memory is staged, like files; the CPU marks its notified vertices."""
    view, theirs = answers(name, asked, place == "pinned")
    agree(asked, streamed(engine, in_pages(view, 5), name, asked, mode=mode), theirs)


@pairs(
    asked=QUESTIONS,
    name=["rmat", "directed rmat", "multi"],
    way=["auto", "notify", "hybrid"],
)
def test_step_by_step(engine, cpu, answers, asked, name, way):
    """A synchronous run is Jacobi's method, regardless of how its pages are processed."""
    view, _ = answers(name, asked)
    program, values, active, options = question(asked, CASES[name])
    for limit in range(4):
        first = start(program, view.n_vertices, values, active, np)
        theirs = cpu.run(view, program, first, replace(options, max_iterations=limit))
        mode, hybrid = ("auto", True) if way == "hybrid" else (way, False)
        ours = streamed(engine, in_pages(view, 4), name, asked, hybrid, mode=mode, max_iterations=limit)
        agree(asked, ours, theirs)


@pytest.mark.parametrize("name", ["rmat", "wheel"])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_neither_streams_nor_pages_matter(engine, answers, asked, name):
    view, _ = answers(name, asked)
    runs = [
        streamed(engine, in_pages(view, n_pages, n_streams), name, asked, n_streams=n_streams)
        for n_pages, n_streams in ((1, 1), (2, 3), (50, 1), (50, 2), (333, 5))
    ]
    for run in runs[1:]:
        assert run.iterations == runs[0].iterations
        np.testing.assert_allclose(run.values, runs[0].values, rtol=1e-12)


@pytest.mark.parametrize("hybrid", [False, True])
def test_pages_that_find_no_room_are_streamed(engine, answers, hybrid, monkeypatch):
    """Free memory may be fragmented into pieces smaller than the budget leaves for pages."""
    from rapids_trav.engines.cuda.stream import transfers

    view, theirs = answers("rmat", "components")
    monkeypatch.setattr(transfers, "KEPT_TOGETHER", 1)
    empty, asked = transfers.cupy.empty, []

    def scarce(shape, dtype=float):
        if dtype is np.uint8 and isinstance(shape, int):
            asked.append(shape)
            if len(asked) > 3:
                raise MemoryError
        return empty(shape, dtype)

    monkeypatch.setattr(transfers.cupy, "empty", scarce)
    ours = streamed(engine, in_pages(view, 9), "rmat", "components", hybrid, mode="pull", trace=True)
    agree("components", ours, theirs)
    assert len(asked) == 4
    if not hybrid:  # a hybrid run gives some of the pages to the CPU
        assert ours.trace[1].bytes == view.into.column_indices.nbytes - kept_bytes(view, 9, 3)


def kept_bytes(view, n_pages, n_kept):
    """Return the bytes of the edges of the first `n_kept` pages."""
    firsts = in_pages(view, n_pages).pages.firsts
    return int(view.into.row_offsets[firsts[n_kept]]) * view.into.column_indices.dtype.itemsize


@pytest.mark.parametrize("n_streams", [1, 3])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_smallest_budget(engine, answers, asked, n_streams):
    """The smallest accepted budget and larger ones, which keep more pages, give the same answers."""
    view, theirs = answers("rmat", asked)
    refused, limit = 0, 20_000
    ran = 0
    while ran < 4:
        paged = in_budget(view, limit)
        try:
            ours = streamed(engine, paged, "rmat", asked, n_streams=n_streams, trace=True)
        except TravMemoryError as error:
            assert ran == 0 and "memory_limit" in str(error)
            assert paged.pages.budget.used == 0
            refused += 1
        else:
            agree(asked, ours, theirs)
            ran += 1
        limit = int(limit * (1.05 if ran == 0 else 1.5))
    assert refused > 0
    assert all(row.pages > 0 for row in ours.trace if row.mode == "pull")


@pytest.mark.parametrize("asked", ["components", "pagerank"])  # the others end after one pull here
def test_what_the_budget_leaves_keeps_pages(engine, answers, asked, monkeypatch):
    from rapids_trav.engines.cuda.stream import plan

    monkeypatch.setattr(plan, "MOST_PAGE_BYTES", 20_000)
    view, theirs = answers("rmat", asked)
    moved = []
    for limit in (250_000, 350_000, 450_000):
        ours = streamed(engine, in_budget(view, limit), "rmat", asked, trace=True, mode="pull")
        agree(asked, ours, theirs)
        moved.append([row.bytes for row in ours.trace])
    whole = view.into.column_indices.nbytes + (0 if view.weights is None else view.weights.nbytes)
    assert {run[0] for run in moved} == {whole}
    assert moved[0][1] > moved[1][1] > moved[2][1]
    assert all(set(run[1:]) == {run[1]} for run in moved)


def test_trace_and_progress(engine, answers):
    view, _ = answers("rmat", "pagerank")
    told = []
    ours = streamed(
        engine,
        in_pages(view, 40, 2),
        "rmat",
        "pagerank",
        trace=True,
        on_page=lambda k, n: told.append((k, n)),
    )
    assert sum(row.pages for row in ours.trace) == sum(k for k, _ in told)
    assert sum(row.bytes for row in ours.trace) == sum(n for _, n in told)
    assert ours.trace and all(row.milliseconds > 0 for row in ours.trace)
    for row in ours.trace:
        assert [span.page for span in row.spans] == list(range(40))
        assert sum(span.copy is not None for span in row.spans) == row.pages
        assert all(begin <= end for span in row.spans for begin, end in (span.computing, span.copy or (0, 0)))
    assert {row.edges for row in ours.trace} == {view.into.n_edges}


def test_pages_without_notified_vertices_are_left_out(engine, answers):
    view, _ = answers("long path", "bfs")
    ours = streamed(engine, in_pages(view, 50), "long path", "bfs", trace=True, mode="notify")
    assert len(ours.trace) > 50
    assert all(row.pages <= 2 and row.edges <= 4 for row in ours.trace)


def test_a_program_with_every_function(engine, cpu, answers):
    view, _ = answers("rmat", "components")
    n = view.n_vertices
    program = Program(
        "every",
        "int64",
        "sum",
        **SUMMING,
        active=lambda value, new: new % 3 > 0,
        total=lambda value, degree: value % 5,
        tolerance=0.5,
    )
    _, _, _, options = question("components", CASES["rmat"])
    options = replace(options, max_iterations=6, parameters=(1009.0,))
    first, active = np.arange(n) % 11, np.ones(n, bool)

    def done(run, view, xp):
        """Return the finished run, and the active vertices after the last iteration."""
        flags = []
        keep = lambda state, last: flags.append(state.active.copy())  # noqa: E731
        state = start(program, n, first, active, xp)
        return run(view, program, state, replace(options, checkpoint=keep)), flags[-1]

    theirs, their_active = done(cpu.run, view, np)
    for run in (engine.run, engine.run_hybrid):
        ours, our_active = done(run, in_pages(view, 6), engine.xp)
        np.testing.assert_array_equal(ours.values.get(), theirs.values)
        assert (ours.residual, ours.iterations) == (theirs.residual, theirs.iterations)
        np.testing.assert_array_equal(our_active.get(), their_active)


@pytest.mark.parametrize("hybrid", [False, True], ids=["gpu", "hybrid"])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_goes_on_from_a_checkpoint(engine, answers, asked, hybrid):
    view, _ = answers("square", asked)
    states = []

    def keep(state, last):
        states.append(replace(state, values=state.values.copy(), active=state.active.copy()))

    whole = streamed(engine, in_pages(view, 4), "square", asked, hybrid, max_iterations=9, checkpoint=keep)
    assert [state.iteration for state in states] == list(range(1, whole.iterations + 1))
    program, _, _, options = question(asked, CASES["square"])
    run = engine.run_hybrid if hybrid else engine.run
    for state in states[::3]:
        rest = run(in_pages(view, 4), program, state, replace(options, max_iterations=9))
        np.testing.assert_allclose(rest.values.get(), whole.values, rtol=1e-12)


def test_the_cpu_alone_and_back(engine, answers, monkeypatch):
    """Iterations of the CPU alone alternate with shared ones; each processor sees the other's results."""
    from rapids_trav.published.garaph.dispatcher import Dispatcher

    for asked in QUESTIONS:
        view, theirs = answers("directed rmat", asked)
        calls = []

        def alone(self, share, calls=calls):
            calls.append(share)
            return len(calls) % 3 != 1

        monkeypatch.setattr(Dispatcher, "alone", alone)
        agree(asked, streamed(engine, in_pages(view, 5), "directed rmat", asked, hybrid=True), theirs)
