"""Gathering by shards page by page, compared with the CPU, with gathering by rows, and by what is counted."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pairs import FULL, pairs

from rapids_trav.engines.runs import RunOptions, run_shape
from rapids_trav.errors import TravError, TravMemoryError
from rapids_trav.jit.launches import count_launches
from rapids_trav.memory.model.program import page_table_bytes, shard_table_bytes
from rapids_trav.programs.definition import Program

from .paged_views import in_budget, in_packed_pages, in_pages, in_pinned_memory
from .program_cases import CASES, LARGE_CASES, SUMMING, gather_view, question, start
from .replica_counts import expected_counters
from .small_graphs import Graph

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

QUESTIONS = ("bfs", "components", "sssp", "pagerank")
SMALL = ("nine", "multi", "one", "no edges", "directed rmat", "rmat")
GRAPHS = {
    **{name: CASES[name] for name in (*SMALL, "wheel")},
    # One edge among the vertices of several shards, most of which are empty.
    "nearly empty": Graph(150_000, np.array([3]), np.array([149_999]), symmetric=False),
}
PULL = RunOptions(mode="pull", gather="replicas")


@pytest.fixture(scope="session")
def answers(engine, cpu):
    """Return a function of graph and question: the view on the host, pinned or not, and the CPU's run."""

    @functools.cache
    def made(name, asked, pinned=True, weight="float32"):
        dtype = "float64" if weight == "int32" else None
        program, values, active, options = question(asked, GRAPHS[name], dtype)
        view = gather_view(GRAPHS[name], cpu, weight if options.weighted else None)
        run = cpu.run(view, program, start(program, view.n_vertices, values, active, np), options)
        return in_pinned_memory(engine, view) if pinned else view, run, (program, values, active, options)

    return made


def by_shards(engine, view, asking, hybrid=False, **changes):
    """Return the run, and the launches of it by kernel."""
    program, values, active, options = asking
    state = start(program, view.n_vertices, values, active, engine.xp)
    run = engine.run_hybrid if hybrid else engine.run
    options = replace(options, **{"gather": "replicas", "mode": "pull", **changes})
    with count_launches() as launches:
        done = run(view, program, state, options)
    budget = view.pages.budget
    assert budget.used == 0 and budget.peak <= budget.limit
    return replace(done, values=done.values.get()), launches


def agree(program, ours, theirs, asynchronous=False):
    """Compare values, and iterations where they do not depend on the order of additions."""
    if program.reducer == "sum" and program.dtype.startswith("float"):
        rtol = 1e-3 if asynchronous else 1e-9
        np.testing.assert_allclose(ours.values, theirs.values, rtol=rtol, atol=1e-5)
        return
    np.testing.assert_array_equal(ours.values, theirs.values)
    assert ours.iterations == theirs.iterations or (asynchronous and ours.iterations <= theirs.iterations)


@pairs(
    ("components", "rmat", "sync"),
    ("sssp", "wheel", "sync"),
    ("components", "nearly empty", "async"),
    asked=QUESTIONS,
    name=GRAPHS if FULL else SMALL,
    order=["sync", "async"],
)
def test_pages_agree_with_the_cpu(engine, answers, asked, name, order):
    asynchronous = order == "async"
    view, theirs, asking = answers(name, asked)
    if asked == "pagerank" and asynchronous and not theirs.converged:
        pytest.skip("values on the way to the end differ")
    paged = in_pages(view, 7)
    ours, launches = by_shards(engine, paged, asking, asynchronous=asynchronous)
    agree(asking[0], ours, theirs, asynchronous)
    n_pages = len(paged.pages.firsts) - 1
    assert launches["gather_shards"] == launches["name_rows"] == n_pages * ours.iterations
    assert launches["gather_rows"] == 0


@pairs(("pagerank", "wheel"), asked=QUESTIONS, name=["rmat", "directed rmat", "no edges", *LARGE_CASES])
def test_pages_shared_with_the_cpu(engine, answers, asked, name, cpu_takes_one_page):
    view, theirs, asking = answers(name, asked)
    ours, launches = by_shards(engine, in_pages(view, 7), asking, hybrid=True)
    agree(asking[0], ours, theirs)
    assert launches["gather_rows"] == 0
    assert launches["gather_shards"] > 0 or name == "no edges"


@pairs(asked=["sssp", "pagerank"], place=["staged", "pinned"], replication=[1, 4, 32, "formula"])
def test_copies_and_places(engine, answers, asked, place, replication):
    """Pageable memory is staged, like files."""
    view, theirs, asking = answers("rmat", asked, place == "pinned")
    ours, _ = by_shards(engine, in_pages(view, 5, 2), asking, replication=replication, n_streams=2)
    agree(asking[0], ours, theirs)


def test_integer_weights(engine, answers):
    view, theirs, asking = answers("rmat", "sssp", True, "int32")
    agree(asking[0], by_shards(engine, in_pages(view, 5), asking)[0], theirs)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_packed_columns_are_unpacked_and_gathered_by_shards(engine, answers, asked):
    view, theirs, asking = answers("rmat", asked)
    rows, _ = by_shards(engine, in_packed_pages(view, 6), asking, compress=True, gather="rows", trace=True)
    ours, launches = by_shards(engine, in_packed_pages(view, 6), asking, compress=True, trace=True)
    agree(asking[0], ours, theirs)
    assert launches["unpack_blocks"] == launches["gather_shards"] == 6 * ours.iterations
    assert [row.bytes for row in ours.trace[:1]] == [row.bytes for row in rows.trace[:1]]


def test_places_in_shards_do_not_cross_the_link(engine, answers):
    view, _, asking = answers("rmat", "pagerank")
    ours, _ = by_shards(engine, in_pages(view, 6), asking, trace=True, max_iterations=2)
    assert ours.trace[0].bytes == view.into.column_indices.nbytes
    assert {row.edges for row in ours.trace} == {view.into.n_edges}


@pytest.mark.parametrize("mode", ["auto", "notify"])
@pytest.mark.parametrize("asked", ["bfs", "components"])
def test_notified_rows_gather_alone(engine, answers, asked, mode):
    """Shards are for iterations in which all vertices gather."""
    view, theirs, asking = answers("rmat", asked)
    ours, launches = by_shards(engine, in_pages(view, 5), asking, mode=mode, trace=True)
    agree(asking[0], ours, theirs)
    pulls = sum(row.mode == "pull" for row in ours.trace)
    assert launches["gather_shards"] == 5 * pulls
    assert launches["gather_rows"] > 0 and pulls < len(ours.trace)


@pytest.mark.parametrize("n_streams", [1, 3])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_smallest_budget(engine, answers, asked, n_streams, monkeypatch):
    """The smallest accepted budget and larger ones, which keep more pages, give the same answers."""
    from rapids_trav.engines.cuda.stream import plan

    monkeypatch.setattr(plan, "MOST_PAGE_BYTES", 30_000)
    view, theirs, asking = answers("rmat", asked)
    refused = ran = 0
    limit = 100_000
    while ran < 4:
        paged = in_budget(view, limit)
        try:
            ours, launches = by_shards(engine, paged, asking, n_streams=n_streams, trace=True)
        except TravMemoryError as error:
            assert ran == 0 and "memory_limit" in str(error)
            assert paged.pages.budget.used == 0
            refused += 1
        else:
            agree(asking[0], ours, theirs)
            ran += 1
        limit = int(limit * (1.05 if ran == 0 else 1.5))
    assert refused > 0 and launches["gather_shards"] > ours.iterations
    assert len({row.bytes for row in ours.trace}) <= 2  # those of all pages, then of those that do not stay


def test_a_program_with_every_function(engine, cpu, answers):
    view, _, _ = answers("rmat", "components")
    program = Program(
        "every",
        "int64",
        "sum",
        **SUMMING,
        active=lambda value, new: new % 3 > 0,
        total=lambda value, degree: value % 5,
        tolerance=0.5,
    )
    options = RunOptions(max_iterations=6, parameters=(1009.0,))
    asking = program, np.arange(view.n_vertices) % 11, np.ones(view.n_vertices, bool), options
    theirs = cpu.run(view, program, start(program, view.n_vertices, *asking[1:3], np), options)
    for hybrid in (False, True):
        ours, _ = by_shards(engine, in_pages(view, 6), asking, hybrid)
        np.testing.assert_array_equal(ours.values, theirs.values)
        assert (ours.residual, ours.iterations) == (theirs.residual, theirs.iterations)


def opened(engine, view, program, options, held):
    """Return the pages of a run that has not begun."""
    from rapids_trav.engines.cuda.stream.streamed import StreamedExecutor

    state = start(program, view.n_vertices, np.ones(view.n_vertices), True, engine.xp)
    return held.enter_context(StreamedExecutor(view, program, state, options))


@pytest.mark.parametrize("replication", ["formula", 1, 32])
@pytest.mark.parametrize("name", ["rmat", "wheel", "nearly empty"])
def test_copies_are_filled_by_lane_and_merged(engine, answers, name, replication):
    """Shards end with their page, and the copies are those of the published address."""
    from contextlib import ExitStack

    view, _, _ = answers(name, "components")
    program, paged = Program("sum", "int64", "sum"), in_pages(view, 5)
    options = replace(PULL, max_iterations=1, trace=True, replication=replication)
    with ExitStack() as held:
        pages = opened(engine, paged, program, options, held)
        shards, offsets = pages.shards.shards, view.into.row_offsets
        assert set(paged.pages.firsts.tolist()) <= set(shards.firsts.tolist())
        bounds = [pages.shards.pieces(page) for page in range(5)]
        assert [first for first, _ in bounds[1:]] == [after for _, after in bounds[:-1]]
        assert (bounds[0][0], bounds[-1][1]) == (0, shards.n_pieces)
    ones = np.ones(view.n_vertices)
    ours, _ = by_shards(engine, in_pages(view, 5), (program, ones, ones > 0, options))
    assert ours.counters == expected_counters(shards, offsets)
    np.testing.assert_array_equal(ours.values, np.diff(offsets))  # each edge is counted once


def test_shards_take_no_more_than_their_formula(engine, answers):
    from contextlib import ExitStack

    for name in GRAPHS:
        for dtype in ("int32", "int64"):
            for replication in ("formula", 32):
                view, program = answers(name, "components")[0], Program("sum", dtype, "sum")
                options = replace(PULL, replication=replication)
                paged = in_pages(view, 9)
                with ExitStack() as held:
                    pages = opened(engine, paged, program, options, held)
                    run = run_shape(paged, program, options)
                    more = page_table_bytes(run) - page_table_bytes(replace(run, shards=False))
                    most = shard_table_bytes(run) + more * (pages.plan.n_pages + 1)
                    assert pages.shards.nbytes <= most


@st.composite
def graphs(draw):
    """Graphs with runs of vertices without edges, and rows that are longer than all others together."""
    n = draw(st.integers(1, 300))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    m = draw(st.integers(0, 400))
    u, v = generator.integers(0, n, m), generator.integers(0, draw(st.integers(1, n)), m)
    hub = draw(st.sampled_from([0, 5000]))
    target = generator.integers(0, n)
    return Graph(
        n,
        np.concatenate([u, generator.integers(0, n, hub)]),
        np.concatenate([v, np.full(hub, target)]),
        symmetric=False,
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    graph=graphs(),
    n_pages=st.integers(1, 9),
    reducer=st.sampled_from(["min", "sum"]),
    replication=st.sampled_from(["formula", 1, 8]),
)
def test_any_graph(engine, cpu, graph, n_pages, reducer, replication):
    program = Program("any", "int64", reducer)
    view = gather_view(graph, cpu)
    values = np.arange(graph.n)[::-1] % 17
    options = RunOptions(mode="pull", max_iterations=2)
    asking = program, values, np.ones(graph.n, bool), options
    theirs = cpu.run(view, program, start(program, graph.n, values, True, np), options)
    for asynchronous in (False, True) if reducer == "min" else (False,):
        ours, _ = by_shards(
            engine, in_pages(view, n_pages), asking, replication=replication, asynchronous=asynchronous
        )
        if not asynchronous:
            np.testing.assert_array_equal(ours.values, theirs.values)
            assert ours.iterations == theirs.iterations
        else:  # values may have gone further
            assert (ours.values <= theirs.values).all()


def test_unknown_choices(engine, answers):
    view, _, asking = answers("nine", "components")
    for wrong in ({"gather": "shards"}, {"replication": 3}):
        with pytest.raises(TravError, match="is not known: choose"):
            by_shards(engine, in_pages(view, 2), asking, **wrong)


@pytest.mark.parametrize("n_streams", [1, 4])
def test_ranks_of_a_graph_larger_than_the_limit(engine, n_streams):
    from rapids_trav import Graph, generators

    graph = Graph.from_edges(generators.rmat(12), engine=engine, memory_limit=450_000)
    rows = graph.pagerank()["pagerank"].to_numpy()
    with count_launches() as launches:
        tuning = {"gather": "replicas", "n_streams": n_streams}
        ours = graph.pagerank(tuning=tuning)["pagerank"].to_numpy()
    np.testing.assert_allclose(ours, rows, rtol=1e-9)
    assert launches["gather_shards"] > 0 and launches["gather_rows"] == 0
    assert graph.budget.peak <= graph.budget.limit
