"""Vertex programs on the GPU against the CPU engine, whose tests compare it with SciPy and NetworkX."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pairs import pairs

from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs.definition import Program

from .program_cases import CASES, LARGE_CASES, SUMMING, gather_view, question, rmat, root, start, wheel

pytestmark = pytest.mark.gpu

QUESTIONS = ("bfs", "components", "sssp", "pagerank")
MODES = ("auto", "pull", "notify", "push")


@pytest.fixture(scope="session")
def views(engine, cpu):
    made = {}

    def view(name, weight=None):
        key = name, weight
        if key not in made:
            made[key] = tuple(gather_view(CASES[name], each, weight) for each in (engine, cpu))
        return made[key]

    return view


def both(engine, cpu, views, program, values, active, options):
    """Run a program on both engines and return both runs, with the values on the host.

    Every mode of an engine gives the same values, except that a change may go unnoticed with `active`.
    """
    device, host = views
    way = "pull" if program.active is None else options.mode
    n = device.n_vertices
    ours = engine.run(device, program, start(program, n, values, active, engine.xp), options)
    theirs = cpu.run(host, program, start(program, n, values, active, np), replace(options, mode=way))
    return replace(ours, values=ours.values.get()), theirs


def agree(program, ours, theirs):
    assert ours.values.dtype == theirs.values.dtype == np.dtype(program.dtype)
    if program.reducer == "sum":
        precise = program.dtype == "float64"
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-9 if precise else 1e-4, atol=1e-12)
        assert abs(ours.iterations - theirs.iterations) <= (0 if precise else 2)
    else:
        np.testing.assert_array_equal(ours.values, theirs.values)
        assert ours.iterations == theirs.iterations
    assert ours.converged == theirs.converged


@pairs(asked=QUESTIONS, name=CASES, mode=MODES)
def test_agrees_with_the_cpu(engine, cpu, views, asked, name, mode):
    program, values, active, options = question(asked, CASES[name])
    view = views(name, "float32" if options.weighted else None)
    agree(program, *both(engine, cpu, view, program, values, active, replace(options, mode=mode)))


@pairs(
    ("pagerank", "wheel", 1000),
    asked=QUESTIONS,
    name=["rmat", "directed rmat", *LARGE_CASES],
    n_bytes=[0, 8, 1000],
)
def test_copies_of_messages_change_nothing(engine, views, asked, name, n_bytes, monkeypatch):
    """Values do not depend on how many messages a block keeps; only the sum of `total` has no fixed order."""
    program, values, active, options = question(asked, CASES[name])
    view, _ = views(name, "float32" if options.weighted else None)
    options = replace(options, mode="pull", max_iterations=5)

    def run():
        state = start(program, view.n_vertices, values, active, engine.xp)
        return engine.run(view, program, state, options).values.get()

    expected = run()
    monkeypatch.setattr("rapids_trav.engines.cuda.programs.state.MOST_BYTES", n_bytes)
    np.testing.assert_allclose(run(), expected, rtol=1e-12)


@pairs(
    ("pagerank", "wheel", "pull"),
    ("components", "wheel", "notify"),
    ("sssp", "wheel", "notify"),
    asked=QUESTIONS,
    name=["rmat", "directed rmat", "square", "multi", *LARGE_CASES],
    mode=MODES,
)
def test_step_by_step(engine, cpu, views, asked, name, mode):
    """Synchronous runs are Jacobi's method: values are equal after every iteration, in every mode."""
    program, values, active, options = question(asked, CASES[name])
    view = views(name, "float32" if options.weighted else None)
    for limit in range(4):
        limited = replace(options, max_iterations=limit, mode=mode)
        agree(program, *both(engine, cpu, view, program, values, active, limited))


def is_useful(name, weight, dtype):
    """An integer sum of real weights is not a useful question."""
    return not (dtype.startswith("int") and weight.startswith("float"))


@pairs(
    ("wheel", "int32", "int64"),
    ("wheel", "float64", "float32"),
    allowed=is_useful,
    name=["rmat", "directed", *LARGE_CASES],
    weight=["int32", "int64", "float32", "float64"],
    dtype=["int32", "int64", "float32", "float64"],
)
def test_types_of_values_and_weights(engine, cpu, views, name, dtype, weight):
    program, values, active, options = question("sssp", CASES[name], dtype)
    agree(program, *both(engine, cpu, views(name, weight), program, values, active, options))


@pairs(
    ("directed rmat", None, "float64"),
    name=["rmat", "directed rmat", "star", "no edges"],
    weight=[None, "float32", "float64"],
    dtype=["float32", "float64"],
)
def test_pagerank_types(engine, cpu, views, name, dtype, weight):
    program, values, active, options = question("pagerank", CASES[name], dtype)
    options = replace(options, weighted=weight is not None)
    ours, theirs = both(engine, cpu, views(name, weight), program, values, active, options)
    agree(program, ours, theirs)
    assert math.isclose(float(ours.values.astype(np.float64).sum()), 1, rel_tol=1e-4)


@pairs(
    ("push", "float32", "min"),
    mode=["pull", "notify", "push"],
    dtype=["int32", "int64", "float32", "float64"],
    reducer=["min", "max"],
)
def test_both_ends_with_signs(engine, cpu, views, reducer, dtype, mode):
    """The atomics handle values of both signs, including zeros of both signs."""
    program = Program("extreme", dtype, reducer)
    generator = np.random.default_rng(3)
    n = CASES["rmat"].n
    values = generator.integers(-1000, 1000, n).astype(dtype)
    if dtype.startswith("float"):
        values += generator.random(n).astype(dtype)
        values[:10] = -0.0
    options = RunOptions(mode=mode)
    agree(program, *both(engine, cpu, views("rmat"), program, values, np.ones(n, bool), options))


@pairs(
    ("wheel", "int32", "min", "gather", "auto"),
    ("wheel", "int64", "max", "scatter", "pull"),
    name=["rmat", "directed rmat", *LARGE_CASES],
    dtype=["int32", "int64", "float32", "float64"],
    reducer=["min", "max"],
    function=["scatter", "gather"],
    mode=MODES,
)
def test_an_identity_says_nothing(engine, cpu, views, name, dtype, reducer, function, mode):
    """Arithmetic on the identity would overflow to the other end of the integers."""
    step = 1 if reducer == "min" else -1
    program = Program("hops", dtype, reducer, **{function: lambda value: value + step})
    n = CASES[name].n
    active = np.arange(n) == root(CASES[name])
    values = np.where(active, np.zeros(n, dtype), program.identity)
    for asynchronous in (False, True):
        options = RunOptions(mode=mode, asynchronous=asynchronous)
        ours, theirs = both(engine, cpu, views(name), program, values, active, options)
        np.testing.assert_array_equal(ours.values, theirs.values)
        # A hop adds a step, so a value beyond n steps would come from an identity.
        hops = step * ours.values.astype(np.float64)
        assert bool(((ours.values == program.identity) | ((hops >= 0) & (hops < n))).all())


@pytest.mark.parametrize("gather", ["rows", "replicas"])
@pytest.mark.parametrize("mode", MODES)
def test_hops_of_a_small_graph(mode, gather):
    hops = Program("hops", "int64", "min", gather=lambda message: message + 1)
    frame = pd.DataFrame({"src": [0, 0, 1, 3, 3], "dst": [1, 2, 3, 4, 3]})
    graph = frame.trav.graph(directed=True, engine="cuda")
    for asynchronous in (False, True) if gather == "rows" else (False,):
        asked = {"mode": mode, "tuning": {"gather": gather}, "asynchronous": asynchronous}
        assert graph.run(hops, initial={0: 0}, **asked)["value"].tolist() == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("mode", ["auto", "pull", "notify"])
@pytest.mark.parametrize("name", ["rmat", "directed rmat", "wheel", "multi"])
def test_a_program_with_every_function(engine, cpu, views, name, mode):
    program = Program(
        "every",
        "int64",
        "sum",
        **SUMMING,
        active=lambda value, new: new > value,
    )
    n = CASES[name].n
    options = RunOptions(mode=mode, max_iterations=6, parameters=(1009.0,))
    active = np.ones(n, bool)
    agree(program, *both(engine, cpu, views(name), program, np.arange(n) % 11, active, options))


@pytest.mark.parametrize("mode", ["auto", "pull", "notify"])
@pytest.mark.parametrize("name", ["directed rmat", "wheel", "multi"])
def test_walks_from_one_vertex(engine, cpu, views, name, mode):
    """A sum without `apply` replaces the value of the active vertex too, which nobody notifies."""
    program, view = Program("walks", "float64", "sum"), views(name)
    values = np.zeros(view[0].n_vertices)
    values[root(CASES[name])] = 1
    for k in range(4):
        options = RunOptions(mode=mode, max_iterations=k)
        ours, theirs = both(engine, cpu, view, program, values, values > 0, options)
        np.testing.assert_array_equal(ours.values, theirs.values)


@pairs(name=["rmat", "directed rmat", "square"], asked=QUESTIONS, mode=["auto", "pull", "notify"])
def test_asynchronous_runs_end_where_synchronous_ones_do(engine, cpu, views, name, asked, mode):
    program, values, active, options = question(asked, CASES[name])
    device, _ = view = views(name, "float32" if options.weighted else None)
    _, theirs = both(engine, cpu, view, program, values, active, options)
    state = start(program, device.n_vertices, values, active, engine.xp)
    ours = engine.run(device, program, state, replace(options, mode=mode, asynchronous=True))
    if program.reducer == "sum":
        np.testing.assert_allclose(ours.values.get(), theirs.values, atol=1e-5)
    else:
        np.testing.assert_array_equal(ours.values.get(), theirs.values)
        assert ours.iterations <= theirs.iterations


def test_the_callers_state_stays(engine, views):
    program, values, active, options = question("components", CASES["rmat"])
    device, _ = views("rmat")
    state = start(program, device.n_vertices, values, active, engine.xp)
    engine.run(device, program, state, options)
    assert np.array_equal(state.values.get(), values)
    assert bool(state.active.all())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_goes_on_from_a_checkpoint(engine, views, asked, mode):
    """A run that continues from the checkpoint of any iteration ends with the same values."""
    program, values, active, options = question(asked, CASES["square"])
    device, _ = views("square", "float32" if options.weighted else None)
    states = []

    def keep(state, last):
        states.append(replace(state, values=state.values.copy(), active=state.active.copy()))

    options = replace(options, mode=mode, max_iterations=12)
    first = start(program, device.n_vertices, values, active, engine.xp)
    whole = engine.run(device, program, first, replace(options, checkpoint=keep))
    assert [state.iteration for state in states] == list(range(1, whole.iterations + 1))
    for state in states[::3]:
        rest = engine.run(device, program, state, options)
        assert rest.iterations == whole.iterations
        np.testing.assert_allclose(rest.values.get(), whole.values.get(), rtol=1e-12)


def test_pagerank_is_the_same_in_every_run(engine, views):
    """Pieces of hubs are reduced in order; only `total`, summed in any order, may change the last bits."""
    graph = CASES["wheel"]
    program = Program("count", "float32", "sum", gather=lambda message: message * 0.1)
    device, _ = views("wheel")
    values = np.random.default_rng(0).random(graph.n)
    state = start(program, graph.n, values, np.ones(graph.n, bool), engine.xp)
    runs = [engine.run(device, program, state, RunOptions(max_iterations=5)).values for _ in range(5)]
    assert all(bool((run == runs[0]).all()) for run in runs)


def test_trace(engine, views):
    graph = CASES["rmat"]
    program, values, active, options = question("bfs", graph)
    device, _ = views("rmat")
    state = start(program, graph.n, values, active, engine.xp)
    done = engine.run(device, program, state, replace(options, trace=True))
    assert [row.iteration for row in done.trace] == list(range(1, done.iterations + 1))
    assert done.trace[0].active == 1
    assert {"push", "pull"} >= {row.mode for row in done.trace}
    source = root(graph)
    degree = device.out.row_offsets[source + 1] - device.out.row_offsets[source]
    assert done.trace[0].edges in (int(degree), device.into.n_edges)
    for mode in ("pull", "notify", "push"):
        rows = engine.run(device, program, state, replace(options, mode=mode, trace=True)).trace
        assert {row.mode for row in rows} == {mode}
        # Notifying reads edges too, before any gathering.
        most = device.into.n_edges * (2 if mode == "notify" else 1)
        assert all(0 < row.edges <= most for row in rows)
        if mode == "pull":
            assert {row.edges for row in rows} == {device.into.n_edges}


@pairs(n_chunks=[1, 3], symmetric=[False, True], weight=["int32", "float32", "float64"])
def test_weighted_build(engine, weight, symmetric, n_chunks):
    """Each weight stays with its edge; multi-edges keep all their weights."""
    from rapids_trav.engines.cuda.build.in_memory import wide_adjacency

    graph = rmat(8, symmetric)
    generator = np.random.default_rng(2)
    weights = (100 * generator.random(len(graph.u))).astype(weight)
    parts = np.array_split(np.arange(len(graph.u)), n_chunks)
    xp = engine.xp

    def chunks():
        return ((xp.asarray(graph.u[p]), xp.asarray(graph.v[p]), xp.asarray(weights[p])) for p in parts)

    once = graph.u != graph.v if symmetric else np.zeros(len(graph.u), bool)
    u, v = np.concatenate([graph.u, graph.v[once]]), np.concatenate([graph.v, graph.u[once]])
    expected = np.rec.fromarrays([u, v, np.concatenate([weights, weights[once]])])
    expected.sort()
    for built in (
        engine.build_adjacency(chunks, graph.n, symmetric=symmetric),
        wide_adjacency(list(chunks()), graph.n, symmetric),
    ):
        rows = np.repeat(np.arange(graph.n), np.diff(built.row_offsets.get()))
        got = np.rec.fromarrays([rows, built.column_indices.get().astype(np.int64), built.weights.get()])
        assert got.f2.dtype == np.dtype(weight)
        got.sort()
        assert np.array_equal(got.f0, expected.f0)
        assert np.array_equal(got.f1, expected.f1)
        assert np.array_equal(got.f2, expected.f2)


def test_hubs_are_cut(engine):
    from rapids_trav.engines.cuda.programs.resident import ResidentExecutor
    from rapids_trav.engines.cuda.programs.row_gather import PIECE_EDGES

    graph = wheel(2, 3 * PIECE_EDGES + 5)
    program, values, active, options = question("components", graph)
    device = gather_view(graph, engine)
    work = ResidentExecutor(device, program, start(program, graph.n, values, active, engine.xp), options)
    hubs = work.lists.all.hubs
    assert hubs.rows.get().tolist() == [0, 1]
    assert hubs.first_pieces.get().tolist() == [0, 4, 8]
    assert hubs.piece_hubs.get().tolist() == [0] * 4 + [1] * 4
    listed = np.sort(work.lists.all.rows.get())
    assert np.array_equal(listed, np.arange(graph.n))
