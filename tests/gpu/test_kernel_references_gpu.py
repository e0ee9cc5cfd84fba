"""The kernels that have no plain kernel beside them agree with their references in NumPy."""

from types import SimpleNamespace

import kernel_references as reference
import numpy as np
import pytest

from rapids_trav.algorithms.results import level_counts
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.interface import Ordered, Search
from rapids_trav.ids.maps import IntegerTable

from .program_cases import CASES, gather_view, question, start

pytestmark = pytest.mark.gpu

GRAPH = CASES["undirected"]


@pytest.fixture
def adjacency(engine):
    ends = [engine.xp.asarray(end.astype(np.int32)) for end in (GRAPH.u, GRAPH.v)]
    return engine.build_adjacency(lambda: iter([ends]), GRAPH.n, symmetric=True)


def ordered_by(order, xp):
    """Return an order of the vertices."""
    return Ordered(xp.asarray(order), xp.asarray(np.argsort(order).astype(order.dtype)))


def rows_of(adjacency):
    return adjacency.row_offsets.get(), adjacency.column_indices.get()


def test_building(adjacency):
    offsets, columns = reference.build(GRAPH.u, GRAPH.v, GRAPH.n, symmetric=True)
    np.testing.assert_array_equal(adjacency.row_offsets.get(), offsets)
    np.testing.assert_array_equal(adjacency.column_indices.get(), columns)
    np.testing.assert_array_equal(
        adjacency.first_neighbors.get(), reference.first_neighbors(offsets, columns)
    )
    np.testing.assert_array_equal(adjacency.word_rows.get(), reference.word_rows(offsets))


def test_rows_of_one_length(engine):
    """Of a ring of 100 and an empty row, the first three words have rows of one length."""
    u = np.arange(100, dtype=np.int32)
    ends = [engine.xp.asarray(end) for end in (u, ((u + 1) % 100).astype(np.int32))]
    ring = engine.build_adjacency(lambda: iter([ends]), 101, symmetric=True)
    assert ring.word_rows.get().tolist() == [[0, 2], [64, 2], [128, 2], [192, 0]]


def test_trees(engine, adjacency):
    rows = rows_of(adjacency)
    distance = GRAPH.distance([0])
    order = np.random.default_rng(5).permutation(GRAPH.n).astype(np.int32)
    given = engine.xp.asarray(distance)
    for keys in (None, order):
        ordered = None if keys is None else ordered_by(keys, engine.xp)
        view = SimpleNamespace(out=adjacency, into=adjacency)
        found = engine.smallest_predecessors(view, given, ordered)
        expected = reference.smallest_predecessors(*rows, distance, keys)
        np.testing.assert_array_equal(found.get(), expected)
    targets = np.append(np.arange(GRAPH.n), -1).astype(np.int32)
    lengths, vertices = engine.walk(found, engine.xp.asarray(targets))
    paths = reference.walk(expected, targets)
    assert lengths.get().tolist() == [len(path) for path in paths]
    assert vertices.get().tolist() == [v for path in paths for v in path]


@pytest.mark.parametrize(("n", "n_ranks"), [(1, 2), (700, 3), (768, 2), (999, 5), (4000, 9)])
def test_dealing_back(cupy, n, n_ranks):
    from rapids_trav.engines.multigpu.one_launch.dealing import Dealing
    from rapids_trav.engines.multigpu.one_launch.spread import deal_back

    dealing = Dealing(n, n_ranks)
    random = np.random.default_rng(4)
    distance = random.integers(-1, 9, (n_ranks, dealing.each), np.int32)
    predecessor = random.integers(-1, dealing.n_ids, distance.shape, np.int32)
    made = cupy.empty((2, n), np.int32)
    own = [list(map(cupy.asarray, part)) for part in (distance, predecessor)]
    deal_back(*own, dealing, made[0], made[1])
    np.testing.assert_array_equal(made.get(), reference.deal_back(distance, predecessor, n))


def test_answers(engine, adjacency):
    xp, n = engine.xp, GRAPH.n
    rows = rows_of(adjacency)
    distance = GRAPH.distance([0])
    predecessor = reference.smallest_predecessors(*rows, distance).astype(np.int32)
    order = np.random.default_rng(6).permutation(n).astype(np.int32)
    rank, labels = np.argsort(order).astype(np.int32), 3 * np.arange(n) + 5
    made = [xp.zeros(n, dtype) for dtype in (np.int64, np.int32, np.int64)]
    bits = [xp.zeros(-(-n // 32), np.uint32) for _ in range(2)]
    arguments = arguments_of("answer.cu", "AnswerArguments")(
        rank=xp.asarray(rank),
        order=xp.asarray(order),
        labels=xp.asarray(labels),
        names=None,
        first=0,
        n=n,
        n_searches=1,
        sources=None,
        distance=xp.asarray(distance),
        predecessor=xp.asarray(predecessor),
        source_column=None,
        vertex_column=made[0],
        distance_column=made[1],
        distance_bits=bits[0],
        predecessor_column=made[2],
        predecessor_bits=bits[1],
        nulls=None,
    )
    loader.load("answer.cu").launch("answer", n, arguments)
    vertex, levels, parents = (column.get().tolist() for column in made)
    valid = [np.unpackbits(word.get().view(np.uint8), bitorder="little")[:n] for word in bits]
    found = [
        (name, level if reached else None, parent if led else None)
        for name, level, parent, reached, led in zip(vertex, levels, parents, *valid, strict=True)
    ]
    assert found == reference.answer(distance, predecessor, rank, labels[order])


@pytest.mark.parametrize("form", ["range", "gaps", "named", "ascending"])
def test_reached_rows(engine, adjacency, form, monkeypatch):
    from rapids_trav.engines.cuda import answers as results

    xp, n = engine.xp, GRAPH.n
    monkeypatch.setattr(results, "LEAST_ROWS", 30)  # many blocks, whose rows are no multiple of a warp
    distance = GRAPH.distance([0])
    predecessor = reference.smallest_predecessors(*rows_of(adjacency), distance).astype(np.int32)
    distance[2::5] = predecessor[2::5] = -1
    order = np.random.default_rng(6).permutation(n).astype(np.int32)
    if form == "ascending":
        order = np.arange(n, dtype=np.int32)
    rank, labels = np.argsort(order).astype(np.int32), np.arange(n) + 5
    if form != "range":
        labels = 3 * labels
    table = IntegerTable(
        5,
        None if form == "range" else xp.asarray(labels),
        np.dtype(np.int64),
        None if form == "ascending" else xp.asarray(order),
        None if form == "ascending" else xp.asarray(rank),
        xp.asarray(labels[order]) if form == "named" else None,
    )
    n_sources = int((predecessor[distance >= 0] < 0).sum())
    searched = Search(xp.asarray(distance), xp.asarray(predecessor))
    columns, vertices = results.reached(searched, table, n_sources, listed=True)
    expected = reference.reached(distance, predecessor, rank, labels[order])
    valid = np.unpackbits(columns["predecessor"].bits.get().view(np.uint8), bitorder="little")
    rows = zip(
        columns["vertex"].tolist(),
        columns["distance"].values.tolist(),
        columns["predecessor"].values.tolist(),
        valid[: len(expected)].tolist(),
        strict=True,
    )
    assert [(v, level, parent if led else None) for v, level, parent, led in rows] == expected
    assert columns["predecessor"].null_count() == sum(row[2] is None for row in expected)
    assert vertices.tolist() == [v for v in rank.tolist() if distance[v] >= 0]


@pytest.mark.parametrize(("n", "deepest"), [(1, 0), (31, 3), (5000, 40), (5000, 1023)])
def test_level_counts(engine, n, deepest):
    distance = np.random.default_rng(n).integers(-1, deepest + 1, (3, n)).astype(np.int32)
    distance[0, 0] = deepest
    found = engine.answers.level_counts(engine.xp.asarray(distance))
    np.testing.assert_array_equal(found, level_counts(np, distance, deepest + 2))
    distance[2, n - 1] = 1024  # deeper than the kernel counts
    assert engine.answers.level_counts(engine.xp.asarray(distance)) is None


@pytest.mark.parametrize("name", ["directed", "big star", "wheel"])
def test_queues(engine, name):
    from rapids_trav.engines.cuda.programs.resident import ResidentExecutor
    from rapids_trav.engines.cuda.programs.state import HEAVY_DEGREE

    program, values, _, options = question("components", CASES[name])
    view = gather_view(CASES[name], engine)
    active = np.random.default_rng(7).random(CASES[name].n) < 0.5
    active[0] = True
    begun = start(program, len(active), values, active, engine.xp)
    state = ResidentExecutor(view, program, begun, options).state
    state.enqueue()
    sizes, queue = state.tallies.read(state.queue_sizes), state.queue.get()
    light, heavy = reference.active_queue(active, np.diff(view.out.row_offsets.get()), HEAVY_DEGREE)
    assert (sizes.light, sizes.heavy) == (len(light), len(heavy))
    assert sorted(queue[: len(light)].tolist()) == light.tolist()
    assert sorted(queue[len(queue) - len(heavy) :].tolist()) == heavy.tolist()


def test_counts_of_pages(engine, adjacency):
    xp = engine.xp
    marks = (np.random.default_rng(8).random(GRAPH.n) < 0.3).astype(np.uint8)
    firsts = np.array([0, 1, 1, 40, 300, GRAPH.n])
    counts = xp.zeros((len(firsts) - 1, 2), np.uint64)
    loader.load_for("pages.cu", adjacency).launch_grid(
        "count_pages", (2, 3), adjacency.row_offsets, xp.asarray(firsts), len(counts), xp.asarray(marks),
        counts,
    )  # fmt: skip
    expected = reference.count_pages(adjacency.row_offsets.get(), firsts, marks)
    np.testing.assert_array_equal(counts.get().astype(np.int64), expected)
