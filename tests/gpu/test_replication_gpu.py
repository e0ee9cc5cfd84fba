"""Gathering by shards with copies of each vertex, compared with gathering by rows and the CPU engine."""

from dataclasses import replace

import numpy as np
import pytest
from pairs import FULL, pairs

from rapids_trav.engines.runs import RunOptions
from rapids_trav.errors import TravError
from rapids_trav.programs.definition import Program

from .plain_programs import PlainEdges, steps
from .program_cases import CASES, gather_view, question, start
from .small_graphs import Graph

pytestmark = pytest.mark.gpu

FACTORS = ("formula", 1, 2, 8, 32)
SMALL = ("nine", "multi", "one", "no edges", "directed rmat", "rmat")
GRAPHS = {
    **{name: CASES[name] for name in (*SMALL, "wheel")},
    # One edge among the vertices of several shards, most of which are empty.
    "nearly empty": Graph(150_000, np.array([3]), np.array([149_999]), symmetric=False),
}


@pytest.fixture(scope="module")
def views(engine):
    from rapids_trav.engines.cpu import CpuEngine

    made, cpu = {}, CpuEngine()

    def view(name, weight=None):
        key = name, weight
        if key not in made:
            made[key] = tuple(gather_view(GRAPHS[name], each, weight) for each in (engine, cpu))
        return made[key]

    return view


def run(engine, view, program, values, active, options):
    done = engine.run(view, program, start(program, view.n_vertices, values, active, engine.xp), options)
    values = done.values if engine.xp is np else done.values.get()
    return replace(done, values=values)


def by_replicas(engine, view, program, values, active, options):
    return run(engine, view, program, values, active, replace(options, gather="replicas", mode="pull"))


def by_rows(engine, views, program, values, active, options):
    """Run row by row, on the GPU and on the CPU."""
    from rapids_trav.engines.cpu import CpuEngine

    device, host = views
    options = replace(options, mode="pull")
    return [
        run(engine, device, program, values, active, options),
        run(CpuEngine(), host, program, values, active, options),
    ]


def same_values(program, replicas, values, label=""):
    assert replicas.values.dtype == values.dtype
    if program.reducer == "sum" and program.dtype.startswith("float"):
        rtol = 1e-9 if program.dtype == "float64" else 1e-4
        np.testing.assert_allclose(replicas.values, values, rtol=rtol, atol=1e-12, err_msg=label)
    else:
        np.testing.assert_array_equal(replicas.values, values, err_msg=label)


def agree(program, replicas, others, label=""):
    tolerated = 2 if program.reducer == "sum" and program.dtype == "float32" else 0
    for other in others:
        same_values(program, replicas, other.values, label)
        assert abs(replicas.iterations - other.iterations) <= tolerated, label


@pairs(
    ("pagerank", "wheel", "formula"),
    ("sssp", "wheel", 8),
    ("components", "nearly empty", 2),
    asked=["bfs", "components", "sssp", "pagerank"],
    name=GRAPHS if FULL else SMALL,
    replication=FACTORS,
)
def test_shipped_programs(engine, views, asked, name, replication):
    program, values, active, options = question(asked, GRAPHS[name])
    view = views(name, "float32" if options.weighted else None)
    others = by_rows(engine, view, program, values, active, options)
    asking = replace(options, replication=replication)
    agree(program, by_replicas(engine, view[0], program, values, active, asking), others)


@pairs(
    ("sum", "float64", "wheel", 8),
    ("min", "int32", "nearly empty", 2),
    reducer=["min", "max", "sum"],
    dtype=["int32", "int64", "float32", "float64"],
    name=["directed rmat", "rmat", *(["wheel", "nearly empty"] if FULL else [])],
    replication=[1, 2, 8, 32],
)
def test_reducers_and_types(engine, views, reducer, dtype, name, replication):
    """Each iteration is compared, with values of both signs."""
    program = Program("any", dtype, reducer)
    values = np.random.default_rng(5).integers(-50, 50, GRAPHS[name].n).astype(dtype)
    if dtype.startswith("float"):
        values[:10] = -0.0
        values = np.abs(values) if reducer == "sum" else values  # sums that do not cancel
    expected = steps(program, PlainEdges.of(GRAPHS[name]), values, 2)
    device = views(name)[0]
    for limit in (1, 2):
        options = RunOptions(max_iterations=limit)
        rows = run(engine, device, program, values, True, replace(options, mode="pull"))
        same_values(program, rows, expected[limit], f"{limit} by rows")
        asking = replace(options, replication=replication)
        replicas = by_replicas(engine, device, program, values, True, asking)
        same_values(program, replicas, expected[limit], f"{limit} by replicas")
        assert replicas.iterations == rows.iterations


@pytest.mark.parametrize("weight", ["int32", "int64", "float32", "float64"])
def test_weights(engine, views, weight):
    program, values, active, options = question("sssp", GRAPHS["rmat"], "float64")
    view = views("rmat", weight)
    others = by_rows(engine, view, program, values, active, options)
    for replication in ("auto", 4):
        asking = replace(options, replication=replication)
        replicas = by_replicas(engine, view[0], program, values, active, asking)
        agree(program, replicas, others, f"replication={replication}")


@pytest.mark.parametrize("mode", ["auto", "notify", "push"])
def test_other_modes_go_by_rows(engine, views, mode):
    for asked in ("bfs", "components"):
        program, values, active, options = question(asked, GRAPHS["rmat"])
        view = views("rmat")
        asking = replace(options, mode=mode, gather="replicas")
        done = run(engine, view[0], program, values, active, asking)
        agree(program, done, by_rows(engine, view, program, values, active, options), mode)


@pytest.mark.parametrize("asked", ["bfs", "components", "sssp"])
def test_asynchronous(engine, views, asked):
    program, values, active, options = question(asked, GRAPHS["wheel"])
    view = views("wheel", "float32" if options.weighted else None)[0]
    options = replace(options, mode="pull", gather="replicas")
    waiting = run(engine, view, program, values, active, options)
    at_once = run(engine, view, program, values, active, replace(options, asynchronous=True))
    np.testing.assert_array_equal(at_once.values, waiting.values)
    assert at_once.iterations <= waiting.iterations


def test_nan_is_not_gathered(engine, views):
    for reducer in ("min", "max"):
        program = Program("any", "float32", reducer)
        values = np.random.default_rng(5).random(GRAPHS["rmat"].n)
        values[::7] = np.nan
        options = RunOptions(max_iterations=2)
        replicas = by_replicas(engine, views("rmat")[0], program, values, True, options)
        agree(program, replicas, by_rows(engine, views("rmat"), program, values, True, options))


def test_minima_and_integers_are_the_same_in_every_run(engine, views):
    for program in (Program("any", "int64", "sum"), Program("any", "float32", "min")):
        values = np.random.default_rng(5).integers(-50, 50, GRAPHS["wheel"].n)
        options = RunOptions(mode="pull", max_iterations=3, gather="replicas", replication=2)
        runs = [run(engine, views("wheel")[0], program, values, True, options).values for _ in range(5)]
        assert all(np.array_equal(again, runs[0]) for again in runs)


def test_shards_of_this_card(engine, views):
    """Local ids name the rows, shards fit into shared memory, and every piece reports its cycles."""
    from rapids_trav.engines.cuda.programs.resident import ResidentExecutor

    program, values, active, options = question("components", GRAPHS["wheel"])
    device, host = views("wheel")
    state = start(program, device.n_vertices, values, active, engine.xp)
    work = ResidentExecutor(device, program, state, replace(options, gather="replicas"))
    gathering = work.shards
    shards = gathering.shards
    rows = np.repeat(np.arange(host.n_vertices), np.diff(host.into.row_offsets))
    firsts = shards.firsts[np.searchsorted(shards.firsts, rows, side="right") - 1]
    assert np.array_equal(gathering._local_ids.get(), rows - firsts)
    assert (np.diff(shards.first_pieces) > 1).sum() == 3  # the hubs
    assert gathering.nbytes > 2 * device.into.n_edges
    gathering.cycles = engine.xp.zeros(shards.n_pieces, np.int64)
    work.pull()
    assert work.state.tally.edges == device.into.n_edges
    assert (gathering.cycles.get() > 0).all()
    assert not gathering._tickets.get().any()


@pytest.mark.parametrize("wrong", [{"gather": "shards"}, {"gather": "replicas", "replication": 3}])
def test_unknown_choices(engine, views, wrong):
    program, values, active, options = question("components", GRAPHS["nine"])
    with pytest.raises(TravError, match="is not known: choose"):
        run(engine, views("nine")[0], program, values, active, replace(options, **wrong))


def test_questions_by_tuning(engine, monkeypatch):
    """Shortest paths and components gather by shards if they are asked to, to the same answers."""
    pandas = pytest.importorskip("pandas")
    import rapids_trav  # noqa: F401  (registers .trav)
    from rapids_trav.published.garaph.shard_gather import ShardGather

    gathered, gather = [], ShardGather.gather
    monkeypatch.setattr(ShardGather, "gather", lambda self, row: gathered.append(1) or gather(self, row))
    rng = np.random.default_rng(3)
    src, dst, w = rng.integers(0, 300, 900), rng.integers(0, 300, 900), rng.integers(1, 9, 900)
    graph = pandas.DataFrame({"src": src, "dst": dst, "w": w}).trav.graph(weight="w", engine=engine)
    replicas = {"tuning": {"gather": "replicas", "replication": 4}}
    for asked, options in ((graph.components, {}), (graph.sssp, {"sources": src[:200]})):
        expected, before = asked(**options), len(gathered)
        found = asked(**options, **replicas)
        columns = [name for name in expected if name != "predecessor"]
        assert found[columns].equals(expected[columns])
        assert len(gathered) > before
