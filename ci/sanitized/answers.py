"""Answers made from searches, over graphs in GPU memory: their columns, rows, paths and counts."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.interface import BfsOptions, Ordered, Search
from rapids_trav.ids.maps import IntegerTable
from rapids_trav.storage.edge_rows import RowIndex
from tests.gpu.small_graphs import GRAPHS, Graph, GraphView, check_tree


def check_answers(graph: Graph, engine: CudaEngine) -> None:
    """Check answer columns, look-ups and predecessors found from an order, for ids of every form."""
    view = GraphView(graph, engine)
    found = engine.search(view, cupy.asarray([0]), BfsOptions())
    distance, predecessor = found.distance.get(), found.predecessor.get()
    order = np.random.default_rng(1).permutation(graph.n).astype(np.int32)
    rank = np.argsort(order).astype(np.int32)
    for dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        labels = np.arange(graph.n, dtype=dtype) * 3 + 7
        tables = (
            (IntegerTable(7, None, dtype), np.arange(7, 7 + graph.n), np.arange(graph.n)),
            (IntegerTable(0, cupy.asarray(labels), dtype), labels, np.arange(graph.n)),
            (
                IntegerTable(0, cupy.asarray(labels), dtype, cupy.asarray(order), cupy.asarray(rank)),
                labels,
                rank,
            ),
        )
        for table, names, row in tables:
            columns = engine.answers.columns(found, table, 1)
            assert np.array_equal(columns["vertex"].get(), names)
            assert np.array_equal(columns["distance"].values.get(), distance[row])
            led = predecessor[row] >= 0
            place = predecessor[row] if table.order is None else order[predecessor[row]]
            assert np.array_equal(columns["predecessor"].values.get()[led], names[place[led]])
            last = engine.answers.locate(int(names[-1]), table, graph.n)
            assert int(last[0]) == row[-1]
            assert int(engine.answers.locate(int(names[-1]) + 1, table, graph.n)[0]) == -1
            check_rows(graph, engine, found, table, names, row)
    by_place = Ordered(cupy.asarray(order), cupy.asarray(rank))
    first = engine.smallest_predecessors(view, found.distance, by_place).get()
    check_tree(graph, [0], distance, first)
    count = cupy.zeros(graph.n, np.int64)
    engine.count_ids(view.out.column_indices, count)
    assert int(count.sum()) == view.out.n_edges


def check_rows(
    graph: Graph, engine: CudaEngine, found: Search, table: IntegerTable, names: np.ndarray, row: np.ndarray
) -> None:
    """Check the rows of reached vertices, of paths and of many searches, and the counts of levels."""
    answers, distance = engine.answers, found.distance.get()
    columns, vertices = answers.reached(found, table, 1, listed=True)
    reached = distance[row] >= 0
    assert np.array_equal(columns["vertex"].get(), names[reached])
    assert np.array_equal(columns["distance"].values.get(), distance[row[reached]])
    assert np.array_equal(vertices.get(), row[reached])
    sources = cupy.asarray([0], np.int32)
    paths = answers.path_rows(found, sources, cupy.arange(graph.n, dtype=np.int32), table, each=False)
    step = paths["step"].values.get()
    ends = np.cumsum(np.maximum(distance, 0) + 1) - 1
    assert np.array_equal(step[ends], distance)
    last = ends[distance >= 0]
    assert np.array_equal(paths["vertex"].values.get()[last], paths["target"].get()[last])
    each = Search(*(cupy.stack([part, part]) for part in (found.distance, found.predecessor)))
    both = answers.columns_of_each(each, table, cupy.zeros(2, np.int32))
    assert np.array_equal(both["distance"].values.get(), np.tile(distance[row], 2))
    assert both["distance"].null_count() == 2 * int((distance < 0).sum())
    counts = answers.level_counts(each.distance)
    assert np.array_equal(counts[0, :-1], np.bincount(distance[distance >= 0]))
    assert np.array_equal(answers.locate_each(names, table, graph.n), row)


def check_neighborhood(graph: Graph, engine: CudaEngine) -> None:
    """Check the rows of the edge list with both ends among some vertices."""
    chosen = np.arange(graph.n) % 3 == 0
    index = RowIndex(engine, graph.n, cupy.asarray(graph.u), cupy.asarray(graph.v))
    found = index.inside(cupy.asarray(chosen.astype(np.int32) - 1))
    inside = np.flatnonzero(chosen[graph.u] & chosen[graph.v])
    assert found is None or np.array_equal(found.get(), inside)


def run() -> None:
    engine = CudaEngine(least_pull=0)  # switches by the ratio alone, since these graphs are small
    for name, graph in GRAPHS.items():
        print(name, flush=True)
        check_answers(graph, engine)
        check_neighborhood(graph, engine)
