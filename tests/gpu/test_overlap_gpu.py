"""Copies of pages overlap with the computing of other pages, as CUDA events show (SYSTEMS G16, G20)."""

from dataclasses import replace

import numpy as np
import pytest

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.runs import GatherView, Pages, RunOptions
from rapids_trav.memory.budget import Budget
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

N, DEGREE, PAGES = 1 << 19, 256, 8
TRIES = 100
SAME_TIME = 2e-3  # milliseconds: the error of two event times due to the resolution of the clock


@pytest.fixture(scope="module")
def host_view(engine):
    """Return 512 MB of edges in pinned memory: copying a page takes longer than launching its kernels."""
    offsets = np.arange(N + 1, dtype=np.int64) * DEGREE
    columns = engine.empty_pinned(N * DEGREE, np.int32)
    columns[:] = np.random.default_rng(1).integers(0, N, N * DEGREE, dtype=np.int32)
    rows = Adjacency(offsets, columns)
    return GatherView(rows, rows, None, np.diff(offsets))


def asked_of(engine, view, n_streams, gather="rows"):
    """Return the arguments of an engine's `run` for one iteration in which no page stays on the GPU."""
    from rapids_trav.engines.cuda.stream.plan import plan_stream

    program = shipped.connected_components()
    options = RunOptions(mode="pull", max_iterations=1, trace=True, n_streams=n_streams, gather=gather)
    firsts = np.linspace(0, N, PAGES + 1).astype(np.int64)
    roomy = replace(view, pages=Pages(firsts, Budget(1 << 30), n_streams))
    plan = plan_stream(roomy, program, options, 4)
    limit = plan.resident_bytes + plan.n_slots * plan.slot_bytes
    tight = replace(view, pages=Pages(firsts, Budget(limit), n_streams))
    assert plan_stream(tight, program, options, 4).n_kept == 0
    state = RunState(engine.xp.arange(N, dtype=program.dtype), engine.xp.ones(N, bool))
    return tight, program, state, options


def iteration(engine, view, n_streams):
    """Return the trace of that iteration, and the resulting values."""
    done = engine.run(*asked_of(engine, view, n_streams))
    (row,) = done.trace
    assert [span.page for span in row.spans] == list(range(PAGES))
    assert all(span.copy is not None for span in row.spans)
    return row, done.values.get()


def shared(one, other):
    """Return the milliseconds that two spans have in common."""
    return min(one[1], other[1]) - max(one[0], other[0])


def most_shared(row):
    """Return the longest overlap of the copy of one page with the computing of another, in milliseconds."""
    return max(
        shared(copied.copy, computed.computing)
        for copied in row.spans
        for computed in row.spans
        if copied.page != computed.page
    )


def test_with_one_stream_copies_wait_for_computing(engine, host_view):
    iteration(engine, host_view, 1)  # compiles
    row, _ = iteration(engine, host_view, 1)
    assert most_shared(row) <= SAME_TIME
    assert row.overlap < 0.01


@pytest.mark.parametrize("n_streams", [2, 3])
def test_with_several_streams_copies_run_beside_computing(engine, host_view, n_streams):
    """One of several tries must show overlap: other processes may use the GPU in between."""
    _, alone = iteration(engine, host_view, 1)
    for _ in range(TRIES):
        row, values = iteration(engine, host_view, n_streams)
        assert np.array_equal(values, alone)
        if most_shared(row) > SAME_TIME and row.overlap > 0:
            return
    pytest.fail(f"no copy ran beside computing in {TRIES} tries")


def test_a_page_is_computed_after_its_copy(engine, host_view):
    for n_streams in (1, 3):
        row, _ = iteration(engine, host_view, n_streams)
        assert all(shared(span.copy, span.computing) <= SAME_TIME for span in row.spans)


@pytest.mark.parametrize("gather", ["rows", "replicas"])
def test_values_go_back_beside_the_copies_of_other_pages(engine, host_view, gather, cpu_takes_one_page):
    """The results of one page are copied to the CPU while another page is copied to the GPU."""
    from rapids_trav.engines.cuda.runtime.memory import rapids_allocator
    from rapids_trav.engines.iterations import iterate
    from rapids_trav.published.garaph.hybrid import HybridExecutor

    _, alone = iteration(engine, host_view, 1)
    most = []
    for _ in range(TRIES):
        sent = {}
        view, *asked = asked_of(engine, host_view, 3, gather)
        with rapids_allocator(), HybridExecutor(view, *asked, on_sent=sent.__setitem__) as executor:
            done = iterate(executor, *asked)
            back = {page: executor.log.times(span) for page, span in sent.items()}
        (row,) = done.trace
        assert np.array_equal(done.values.get(), alone)
        assert sorted(back) == sorted(span.page for span in row.spans)  # the CPU processes the other pages
        assert all(span.copy is not None for span in row.spans)
        most += [
            shared(own, span.copy) for page, own in back.items() for span in row.spans if span.page != page
        ]
        if max(most) > SAME_TIME:
            return
    pytest.fail(f"no results were copied beside another page in {TRIES} tries")
