"""Programs over blocks of edges on a GPU (SYSTEMS L4 to L10): values, bounds on what moves, and memory."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from pairs import pairs

from rapids_trav import Program, generators
from rapids_trav.engines.blocks.cut import cut
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cuda.programs import link
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import RunOptions
from rapids_trav.errors import TravMemoryError
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState
from rapids_trav.utilities.sizes import parse_bytes

from .paged_views import in_budget, in_pages, in_pinned_memory
from .program_cases import CASES, LARGE_CASES, gather_view, labelled
from .small_graphs import Graph, grid

pytestmark = pytest.mark.gpu

PHASES, CLOCKED = 6, 5  # the block and the column with the most edges of a thread block in a round

WIDEST = Program("widest", "float64", "max", gather=lambda message, weight: min(message, weight))
PROGRAMS = {
    "bfs": (shipped.breadth_first(), None, 0, [0]),
    "components": (shipped.connected_components(), None, None, None),
    "sssp": (shipped.shortest_paths(), "float64", 0, [0, 3]),
    "sssp int32": (shipped.shortest_paths("int32"), "int32", 0, [0]),
    "widest": (WIDEST, "float64", np.inf, [0]),
    "damped": (
        Program("damped", "int64", "min", scatter=lambda value, degree: value + degree), None, 0, [0],
    ),
}  # fmt: skip


@pytest.fixture
def cudf():
    return pytest.importorskip("cudf")


def start_of(program: Program, n: int, value, sources, xp) -> RunState:
    """Return the values and active vertices that a program starts with."""
    dtype = np.dtype(program.dtype)
    if sources is None:
        return RunState(xp.arange(n, dtype=dtype), xp.ones(n, np.bool_))
    values, active = np.full(n, program.identity, dtype), np.zeros(n, np.bool_)
    sources = [source for source in sources if source < n]
    values[sources], active[sources] = value, True
    return RunState(xp.asarray(values), xp.asarray(active))


def outside(engine, view, pinned: bool):
    """Return a view with its out-edges on the host, where the GPU can read them or not."""

    def moved(array):
        array = array.get()
        if not pinned:
            return array
        copy = engine.empty_pinned(len(array), array.dtype)
        copy[:] = array
        return copy

    weights = view.weights if view.into is view.out else view.out_weights
    out = replace(view.out, column_indices=moved(view.out.column_indices))
    return replace(view, out=out, out_weights=None if weights is None else moved(weights))


def over_blocks(engine, view, program, start, shift, n_places, pinned=True, **options):
    """Run a program over blocks of 1 << shift edges; return the run."""
    from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor
    from rapids_trav.engines.cuda.blocks.parts import plain_parts
    from rapids_trav.engines.iterations import iterate

    options = RunOptions(weighted=view.weights is not None, asynchronous=True, trace=True, **options)
    cuts = cut(view.out.row_offsets.get(), shift, n_places)
    away = outside(engine, view, pinned)
    with BlocksExecutor(away, program, start, options, cuts, plain_parts(away, cuts)) as work:
        return iterate(work, program, start, options)


ORDERS = {"in order": 0, "in order later": 1}  # from the start, or after as many pushes as there are edges


@pytest.fixture
def take_values(monkeypatch):
    from rapids_trav.engines.cuda.blocks import executor

    return lambda order: monkeypatch.setattr(executor, "UNORDERED", ORDERS[order])


@pairs(
    order=ORDERS,
    which=PROGRAMS,
    name=["nine", "loops", "multi", "one", "no edges", "square", "rmat", "directed rmat"],
    place=["pinned", "in files"],
)
def test_values_are_those_in_memory(engine, which, name, place, order, take_values):
    take_values(order)
    program, weight, value, sources = PROGRAMS[which]
    graph = CASES[name]
    view = gather_view(graph, engine, weight)
    start = start_of(program, graph.n, value, sources, engine.xp)
    shift = max(len(graph.u) // 24, 1).bit_length()
    run = over_blocks(engine, view, program, start, shift, 3, place == "pinned")
    wanted = engine.run(view, program, start, RunOptions(weighted=weight is not None))
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert run.converged


@pairs(
    ("in order", "sssp", "square", 32),
    order=ORDERS,
    which=PROGRAMS,
    name=["nine", "loops", "multi", "no edges", "square", "rmat", "directed rmat", "long path"],
    long=[1, 3],
)
def test_a_long_run_in_memory_goes_on_over_blocks(engine, which, name, long, order, take_values, monkeypatch):
    from rapids_trav.engines.cuda import executor

    take_values(order)
    monkeypatch.setattr(executor, "LONG", long)
    program, weight, value, sources = PROGRAMS[which]
    graph = CASES[name]
    view = gather_view(graph, engine, weight)
    start = start_of(program, graph.n, value, sources, engine.xp)
    options = RunOptions(weighted=weight is not None, trace=True)
    wanted = engine.run(view, program, start, options)
    run = engine.run(view, program, start, replace(options, asynchronous=None))
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert run.converged and [row.iteration for row in run.trace] == list(range(1, run.iterations + 1))
    assert [row.mode == "blocks" for row in run.trace] == [row.iteration > long for row in run.trace]
    assert bool(run.counters) == (wanted.iterations > long)
    watched = engine.run(view, program, start, replace(options, asynchronous=None, max_iterations=long + 1))
    assert all(row.mode != "blocks" for row in watched.trace)


@pairs(
    ("in order", "wheel", 2),
    ("in order later", "wheel", 1),
    order=ORDERS,
    name=["big star", "long path", *LARGE_CASES],
    n_places=[1, 2, 40],
)
def test_rows_longer_than_a_block_and_one_place(engine, name, n_places, order, take_values):
    """The hubs' rows extend over many blocks and, within a block, over many chunks."""
    take_values(order)
    graph, program = CASES[name], shipped.shortest_paths()
    view = gather_view(graph, engine, "float64")
    start = start_of(program, graph.n, 0, [graph.n - 1], engine.xp)
    shift = 13 if name != "long path" else 4
    run = over_blocks(engine, view, program, start, shift, n_places)
    wanted = engine.run(view, program, start, RunOptions(weighted=True))
    assert np.array_equal(run.values.get(), wanted.values.get())


def test_blocks_on_the_device_are_iterated_until_they_are_quiet(engine):
    """L8: many more rounds than loads and launches; a grid in row order is read little more than once."""
    graph, program = CASES["square"], shipped.breadth_first()
    view = gather_view(graph, engine)
    start = start_of(program, graph.n, 0, [0], engine.xp)
    run = over_blocks(engine, view, program, start, 9, 4)
    counts, edges = run.counters, 4 * view.out.n_edges
    assert counts["rounds"] > 4 * max(counts["loads"], 1)
    assert counts["rounds"] > 2 * counts["launches"]
    assert counts["loaded"] + counts["in_place"] <= 5 * edges
    assert sum(one.blocks.loaded for one in run.trace) == counts["loaded"]


def test_everything_there_is_loaded_once_at_most(engine):
    graph, program = CASES["rmat"], shipped.connected_components()
    view = gather_view(graph, engine)
    start = start_of(program, graph.n, None, None, engine.xp)
    run = over_blocks(engine, view, program, start, 12, 1000)
    assert run.counters["reloads"] == run.counters["evictions"] == 0
    assert 0 < run.counters["loaded"] <= 20 * view.out.n_edges


def test_reading_in_place_is_bounded_by_loads(engine):
    """Between two loads of a block, the rows read in place have at most half of its edges."""
    graph, program = CASES["rmat"], shipped.shortest_paths()
    view = gather_view(graph, engine, "float64")
    source = int(np.argmax(np.diff(view.out.row_offsets.get())))
    start = start_of(program, graph.n, 0, [source], engine.xp)
    run = over_blocks(engine, view, program, start, 11, 4)
    counts, n_blocks = run.counters, -(-view.out.n_edges // 2048)
    assert 0 < counts["in_place"] <= 12 * 2048 / 2 * (n_blocks + counts["loads"])


def test_quiet_blocks_move_nothing(engine):
    """Half of the graph cannot be reached: its blocks are neither loaded nor read."""
    half = CASES["square"]
    graph = Graph(
        2 * half.n, np.concatenate([half.u, half.u + half.n]), np.concatenate([half.v, half.v + half.n]), True
    )
    program = shipped.breadth_first()
    view = gather_view(graph, engine)
    start = start_of(program, graph.n, 0, [0], engine.xp)
    run = over_blocks(engine, view, program, start, 8, 4)
    worked = {span.block for one in run.trace for span in one.block_spans if span.what == "load"}
    first_of_other_half = int(view.out.row_offsets[half.n]) >> 8
    assert worked and max(worked) <= first_of_other_half
    assert (run.values.get()[half.n :] == program.identity).all()


def on_host(engine, graph, weight=None):
    """Return a view with all its arrays on the host, the edges in pinned memory."""
    view = in_pinned_memory(engine, gather_view(graph, CpuEngine(), weight))
    return view if weight is None else replace(view, out_weights=view.weights)


@pytest.mark.parametrize("weight", [None, "float64"])
@pytest.mark.parametrize("schedule", ["auto", "paths"])
def test_memory_is_within_the_budget(engine, weight, schedule):
    program = shipped.breadth_first() if weight is None else shipped.shortest_paths()
    graph = CASES["rmat"]
    view = gather_view(graph, engine, weight)
    start = start_of(program, graph.n, 0, [1], engine.xp)
    wanted = engine.run(view, program, start, RunOptions(weighted=weight is not None))
    options = RunOptions(weighted=weight is not None, asynchronous=True, trace=True, schedule=schedule)
    paged = on_host(engine, graph, weight)
    with pytest.raises(TravMemoryError, match="memory_limit at least"):
        engine.run(in_budget(paged, 100_000), program, start, replace(options, schedule="paths"))
    limited = in_budget(paged, 4_000_000)
    run = engine.run(limited, program, start, options)
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert {one.mode for one in run.trace} == {"blocks"}
    assert limited.pages.budget.used == 0 < limited.pages.budget.peak <= 4_000_000


@pytest.mark.parametrize(
    "how", [{}, {"schedule": "sweep", "asynchronous": True}, {"mode": "pull", "asynchronous": True}]
)
def test_sweeps_where_blocks_are_not_asked_for_or_cannot_be(engine, how):
    """A synchronous run, one with another schedule, and one with a mode go page by page."""
    graph, program = CASES["square"], shipped.breadth_first()
    start = start_of(program, graph.n, 0, [1], engine.xp)
    run = engine.run(in_pages(on_host(engine, graph), 5), program, start, RunOptions(trace=True, **how))
    assert "blocks" not in {one.mode for one in run.trace}


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph, **how: labelled(graph, asynchronous=None, **how),
        lambda graph, **how: graph.sssp(0, **how),
    ],
    ids=["labels", "sssp"],
)
@pytest.mark.parametrize("schedule", ["auto", "sweep", "paths"])
def test_answers_of_graphs(engine, ask, schedule, cudf):
    """On graphs outside the GPU's memory the answers do not depend on the schedule."""
    edges = generators.grid(300, 300).assign(w=np.random.default_rng(1).integers(1, 100, 179_400))
    wanted = ask(edges.trav.graph(weight="w"))
    limit = 4_000_000
    while True:  # the smallest limit that suffices
        try:
            graph = cudf.from_pandas(edges).trav.graph(weight="w", memory_limit=limit)
            found = ask(graph, schedule=schedule, trace=True)
            break
        except TravMemoryError as error:
            limit = parse_bytes(re.search(r"memory_limit at least (.*)\.$", str(error))[1])
    assert found.result["vertex"].to_pandas().tolist() == wanted["vertex"].tolist()
    name = wanted.columns[1]
    assert np.array_equal(found.result[name].to_numpy(), wanted[name].to_numpy())
    modes = set(found.trace["mode"].to_pandas())
    if schedule != "auto":  # sweeps need less memory, so "auto" may take them at the smallest limit
        assert (modes == {"blocks"}) == (schedule == "paths")


@pytest.mark.parametrize("order", ORDERS)
def test_a_block_with_items_in_the_queue_keeps_its_place(engine, monkeypatch, order, take_values):
    """A launch that ends early leaves a queue, whose items are in blocks that are on the device."""
    take_values(order)
    from rapids_trav.engines.cuda.blocks import executor

    monkeypatch.setattr(executor, "MOST_ROUNDS", 1)
    graph, program = CASES["rmat"], shipped.shortest_paths()
    view = gather_view(graph, engine, "float64")
    start = start_of(program, graph.n, 0, [1, 2, 3], engine.xp)
    run = over_blocks(engine, view, program, start, 11, 2)
    wanted = engine.run(view, program, start, RunOptions(weighted=True))
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert run.counters["rounds"] == run.counters["launches"]


def test_values_are_taken_in_order(engine, monkeypatch):
    """With weights of very different sizes, an edge is followed a few times; without an order, about 70."""
    for tunable in ("ROUND_EDGES", "FEW"):  # for a small graph
        monkeypatch.setitem(PROGRAM_TUNABLES["gas_blocks.cu"], tunable, 32)
    program = Program("in order", "float64", "min", gather=lambda message, weight: weight + message)
    graph = grid(150)
    view = gather_view(graph, engine, "float64")
    weights = view.weights**6
    view = replace(view, weights=weights, out_weights=weights if view.out_weights is not None else None)
    start = start_of(program, graph.n, 0, [0], engine.xp)
    run = over_blocks(engine, view, program, start, 12, 40)
    assert sum(one.edges for one in run.trace) <= 15 * view.out.n_edges


def test_a_launch_ends_soon_when_a_block_is_needed(engine, monkeypatch):
    """Near the border of two blocks, a path is not followed to the end of one before the other is loaded."""
    from rapids_trav.engines.cuda.blocks.executor import MOST_WAITING, BlocksExecutor
    from rapids_trav.engines.cuda.blocks.loader import CopyingLoader

    rounds, loads = [], []
    wait, begin = BlocksExecutor._wait_for_kernel, CopyingLoader.begin

    def waited(self):
        done = wait(self)
        rounds.append(done.rounds)
        return done

    def begun(self, block, place):
        loads.append(sum(rounds))
        begin(self, block, place)

    monkeypatch.setattr(BlocksExecutor, "_wait_for_kernel", waited)
    monkeypatch.setattr(CopyingLoader, "begin", begun)
    n, program = 512, shipped.breadth_first()
    view = gather_view(Graph(n, np.arange(n - 1), np.arange(1, n), True), engine)
    start = start_of(program, n, 0, [n // 2 + 10], engine.xp)
    over_blocks(engine, view, program, start, 9, 2)
    assert len(loads) == 2 and loads[1] <= MOST_WAITING + 30 < n // 4


@pytest.fixture
def fresh_kernels():
    """Load kernels anew, as those that are loaded have other tunables."""
    link.load_program.cache_clear()
    yield
    link.load_program.cache_clear()


def test_thread_blocks_share_a_short_list_of_long_rows(engine, monkeypatch, fresh_kernels):
    """No thread block follows much more of a round's edges than its share, or than a tile of eight rows."""
    from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor

    monkeypatch.setitem(PROGRAM_TUNABLES["gas_blocks.cu"], "CLOCKS", 1)
    u, v = np.divmod(np.arange(1000 * 200), 200)
    graph = Graph(1000, u, (u + v + 1) % 1000, True)  # in one direction, each row has 200 edges
    program = shipped.connected_components()
    view = gather_view(graph, engine)
    start = start_of(program, graph.n, None, None, engine.xp)
    options, cuts = RunOptions(asynchronous=True), cut(view.out.row_offsets.get(), 14, 1000)
    with BlocksExecutor(
        view, program, start, options, cuts
    ) as work:  # all rows are there for the first round
        work.step(RunProgress(0, False))
        counts, _ = work.read()
        n_edges = view.out.n_edges
        share = n_edges / work.n_thread_blocks
        assert 0 < counts[PHASES, CLOCKED] <= max(2 * share, 8 * n_edges / graph.n)


@pytest.mark.parametrize(("under_way", "enough"), [(0, 1), (1, 1), (2, 1), (4, 2)])
def test_a_launch_goes_on_until_half_of_the_copies_have_arrived(engine, under_way, enough):
    from rapids_trav.engines.cuda.blocks.loader import CopyingLoader
    from rapids_trav.engines.cuda.blocks.parts import plain_parts

    view = outside(engine, gather_view(CASES["rmat"], engine), True)
    loader = CopyingLoader(plain_parts(view, cut(view.out.row_offsets.get(), 9, 8)), 8, None)
    for block in range(under_way):
        loader.begin(block, block)
    assert loader.enough_landed == enough
    if under_way:
        loader.landed(wait=True)
        assert loader.enough_landed == 1 + max((under_way - 1) // 2, 1)
    loader.close()


def test_values_are_taken_in_any_order_where_that_is_cheap(engine, monkeypatch):
    """On R-MAT vertices improve only a few times; an order from the start takes more rounds."""
    from rapids_trav.engines.cuda.blocks import executor

    graph, program = CASES["rmat"], shipped.shortest_paths()
    view = gather_view(graph, engine, "float64")
    start = start_of(program, graph.n, 0, [1, 2, 3], engine.xp)

    def rounds() -> int:
        return over_blocks(engine, view, program, start, 20, 40).counters["rounds"]

    without = rounds()
    monkeypatch.setattr(executor, "UNORDERED", 0)
    monkeypatch.setitem(PROGRAM_TUNABLES["gas_blocks.cu"], "ROUND_EDGES", 1)
    assert without < rounds()
