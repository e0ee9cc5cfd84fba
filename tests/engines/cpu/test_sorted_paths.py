"""Shortest paths over rows sorted by weight on the CPU: searches and whole calls, against vertex programs."""

import numpy as np
import pandas as pd
import pytest
from gpu.program_cases import CASES, gather_view, start
from pairs import pairs

import rapids_trav  # noqa: F401  registers .trav
from rapids_trav import generators
from rapids_trav.engines.cpu import CpuEngine, sorted_paths
from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs import shipped

ENGINE = CpuEngine()
WEIGHTS = {
    "equal": lambda number: np.ones(len(number)),
    "zero": lambda number: np.where(number % 3 == 0, 0, number / 4),
    "only zero": lambda number: np.zeros(len(number), np.int64),
    "light and heavy": lambda number: np.where(number % 2, 1e-12 * number, 1e6 * number),
    "endless": lambda number: np.where(number % 4, np.inf, number),
    "beyond int32": lambda number: number.astype(np.int64) << 40,
    "signed zero": lambda number: np.where(number % 3 == 0, -0.0, number / 4),
    "not in four bytes": lambda number: number / 7,
}


def views(graph, of_ends):
    """Return the view of a graph whose weights are a function of the two ends of an edge."""
    view = gather_view(graph, ENGINE, "float64")

    def weights(rows):
        edges = ENGINE.expand_rows(rows)
        u, v = edges.src, edges.dst
        return np.ascontiguousarray(of_ends((u.astype(np.int64) + 1) * (v + 1) % 97))

    into, out = weights(view.into), weights(view.out)
    return view.__class__(view.into, view.out, into, view.degrees, out_weights=out)


def sorted_rows(view):
    """Return the rows of a view by source and by destination, each sorted by weight."""
    into = sorted_paths.sort_rows(view.into, view.weights)
    return (into if view.into is view.out else sorted_paths.sort_rows(view.out, view.out_weights)), into


def check(view, sources, out, into):
    """Check distances and predecessors against the vertex program and what follows from its distances."""
    program = shipped.shortest_paths("int64" if view.weights.dtype.kind == "i" else "float64")
    active = np.isin(np.arange(view.n_vertices), sources)
    first = start(program, view.n_vertices, np.where(active, 0, program.identity), active, np)
    distance = ENGINE.run(view, program, first, RunOptions(weighted=True)).values
    found = sorted_paths.search(out, into, np.asarray(sources, np.int32), True)
    assert found.distance.dtype == distance.dtype
    np.testing.assert_array_equal(found.distance, distance)
    tight = ENGINE.tight_predecessors(view.into, view.weights, distance, program.identity)
    np.testing.assert_array_equal(found.predecessor, tight)


@pairs(
    name=[name for name in CASES if name not in ("one", "no edges")],
    weight=["int32", "int64", "float32", "float64"],
    widths=[1, 4, 1e6],
    large=[1, 64, 1 << 40],
)
def test_agrees_with_the_program(monkeypatch, name, weight, widths, large):
    """However far the bound is beyond the hubs, or wherever these are met."""
    monkeypatch.setattr(sorted_paths, "LARGE", large)
    graph, generator = CASES[name], np.random.default_rng(1)
    view = gather_view(graph, ENGINE, weight)
    out, into = sorted_rows(view)
    out.learned["reach"] = widths * sorted_paths.window_width(out, np)
    for k in (1, 3):
        check(view, generator.integers(0, graph.n, k), out, into)


@pairs(weights=WEIGHTS, name=["rmat", "directed rmat", "square"], widths=[1, 8])
def test_weights_of_other_kinds(monkeypatch, name, weights, widths):
    monkeypatch.setattr(sorted_paths, "LARGE", 1 << 40)
    view = views(CASES[name], WEIGHTS[weights])
    out, into = sorted_rows(view)
    out.learned["reach"] = widths * sorted_paths.window_width(out, np)
    check(view, np.random.default_rng(2).integers(0, view.n_vertices, 2), out, into)


def test_sums_beyond_int64_are_no_distance():
    """What a vertex offers may be longer than all paths, and than int64 holds."""
    most = np.iinfo(np.int64).max
    src, dst, weight = [0, 1, 2, 0], [1, 2, 0, 2], [most // 2, most // 2, most // 2, 1]
    into = ENGINE.build_adjacency(
        lambda: iter([(np.array(src), np.array(dst), np.array(weight))]), 3, transpose=True
    )
    out = ENGINE.build_adjacency(lambda: iter([(np.array(src), np.array(dst), np.array(weight))]), 3)
    rows = sorted_paths.sort_rows(out, out.weights), sorted_paths.sort_rows(into, into.weights)
    for reach in (1, most):
        rows[0].learned.update(width=1, reach=reach)
        found = sorted_paths.search(*rows, np.array([1], np.int32), False)
        assert found.distance.tolist() == [most // 2 + most // 2, 0, most // 2]


def test_rows_ascend_by_weight_in_four_bytes_if_they_hold_it():
    for weight, narrow in (("int64", "int32"), ("float64", "float64"), ("float32", "float32")):
        view = gather_view(CASES["rmat"], ENGINE, weight)
        rows = sorted_paths.sort_rows(view.into, view.weights)
        assert rows.weight_dtype == narrow
        stored = np.ascontiguousarray(rows.entries[:, 1]).view(narrow)
        vertex = np.repeat(np.arange(view.n_vertices), np.diff(rows.row_offsets))
        order = np.lexsort((view.into.column_indices, view.weights, vertex))
        np.testing.assert_array_equal(stored, view.weights[order])
        np.testing.assert_array_equal(rows.entries[:, 0], view.into.column_indices[order])


@pytest.fixture(scope="module")
def edges():
    frame = generators.rmat(12, seed=3)
    return frame.assign(weight=np.random.default_rng(3).random(len(frame)))


@pytest.mark.parametrize("directed", [False, True])
def test_later_searches_read_sorted_rows(edges, directed):
    """Rows are sorted once that pays; answers stay the same, and `memory` lists the copy."""
    graph = edges.trav.graph(weight="weight", directed=directed)
    sources = edges["src"].iloc[[0, 50]].tolist()
    first = graph.sssp(sources)
    for _ in range(sorted_paths.pays_after - 1):
        graph.sssp(sources)
    assert not graph.memory()["structure"].str.contains("sorted by weight").any()
    for _ in range(2):
        pd.testing.assert_frame_equal(graph.sssp(sources), first)
    assert graph.memory()["structure"].str.contains("sorted by weight").sum() == 1 + directed


@pytest.mark.parametrize("kind", ["grid", "equal weights"])
def test_rows_that_are_of_no_use_are_dropped(edges, kind):
    frame = edges.assign(weight=1)
    if kind == "grid":
        frame = generators.grid(60, 60)
        frame["weight"] = np.random.default_rng(4).random(len(frame))
    graph = frame.trav.graph(weight="weight", directed=False)
    source = int(frame["src"].iloc[0])
    first = graph.sssp(source)
    for _ in range(sorted_paths.pays_after + 2):
        pd.testing.assert_frame_equal(graph.sssp(source), first)
    assert not graph.memory()["structure"].str.contains("sorted by weight").any()


def test_limited_memory_holds_no_second_copy(edges):
    with edges.trav.graph(weight="weight", directed=False, memory_limit="1 GB") as graph:
        for _ in range(sorted_paths.pays_after + 2):
            graph.sssp(int(edges["src"].iloc[0]))
        assert not graph.memory()["structure"].str.contains("sorted by weight").any()
