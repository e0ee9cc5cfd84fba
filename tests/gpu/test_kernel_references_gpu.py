"""The kernels that have no plain kernel beside them agree with their references in NumPy."""

import kernel_references as reference
import numpy as np
import pytest

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import AnswerArguments

from .program_cases import CASES, gather_view, question, start

pytestmark = pytest.mark.gpu

GRAPH = CASES["undirected"]


@pytest.fixture
def adjacency(engine):
    ends = [engine.xp.asarray(end.astype(np.int32)) for end in (GRAPH.u, GRAPH.v)]
    return engine.build_adjacency(lambda: iter([ends]), GRAPH.n, symmetric=True)


def rows_of(adjacency):
    return adjacency.row_offsets.get(), adjacency.column_indices.get()


def test_building(adjacency):
    offsets, columns = reference.build(GRAPH.u, GRAPH.v, GRAPH.n, symmetric=True)
    np.testing.assert_array_equal(adjacency.row_offsets.get(), offsets)
    np.testing.assert_array_equal(adjacency.column_indices.get(), columns)
    np.testing.assert_array_equal(
        adjacency.first_neighbors.get(), reference.first_neighbors(offsets, columns)
    )


def test_trees(engine, adjacency):
    rows = rows_of(adjacency)
    distance = GRAPH.distance([0])
    order = np.random.default_rng(5).permutation(GRAPH.n).astype(np.int32)
    given = engine.xp.asarray(distance)
    for keys in (None, order):
        on_device = None if keys is None else engine.xp.asarray(keys)
        found = engine.smallest_predecessors(adjacency, given, on_device)
        expected = reference.smallest_predecessors(*rows, distance, keys)
        np.testing.assert_array_equal(found.get(), expected)
    targets = np.append(np.arange(GRAPH.n), -1).astype(np.int32)
    lengths, vertices = engine.walk(found, engine.xp.asarray(targets))
    paths = reference.walk(expected, targets)
    assert lengths.get().tolist() == [len(path) for path in paths]
    assert vertices.get().tolist() == [v for path in paths for v in path]


def test_answers(engine, adjacency):
    xp, n = engine.xp, GRAPH.n
    rows = rows_of(adjacency)
    distance = GRAPH.distance([0])
    predecessor = reference.smallest_predecessors(*rows, distance).astype(np.int32)
    order = np.random.default_rng(6).permutation(n).astype(np.int32)
    rank, labels = np.argsort(order).astype(np.int32), 3 * np.arange(n) + 5
    made = [xp.zeros(n, dtype) for dtype in (np.int64, np.int32, np.int64)]
    bits = [xp.zeros(-(-n // 32), np.uint32) for _ in range(2)]
    arguments = AnswerArguments(
        rank=xp.asarray(rank),
        order=xp.asarray(order),
        labels=xp.asarray(labels),
        names=None,
        first=0,
        n=n,
        distance=xp.asarray(distance),
        predecessor=xp.asarray(predecessor),
        vertex_column=made[0],
        distance_column=made[1],
        distance_bits=bits[0],
        predecessor_column=made[2],
        predecessor_bits=bits[1],
    )
    loader.load("answer.cu").launch("answer", n, arguments)
    vertex, levels, parents = (column.get().tolist() for column in made)
    valid = [np.unpackbits(word.get().view(np.uint8), bitorder="little")[:n] for word in bits]
    found = [
        (name, level if reached else None, parent if led else None)
        for name, level, parent, reached, led in zip(vertex, levels, parents, *valid, strict=True)
    ]
    assert found == reference.answer(distance, predecessor, rank, labels[order])


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
