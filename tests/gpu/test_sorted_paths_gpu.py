"""Shortest paths over rows sorted by weight: the kernels and whole calls, against the vertex program."""

import numpy as np
import pandas as pd
import pytest
from pairs import pairs

import rapids_trav  # noqa: F401  registers .trav
from rapids_trav import generators
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs import shipped

from .program_cases import CASES, gather_view, root, start

pytestmark = pytest.mark.gpu

FILE = "sorted_paths.cu"
SMALL = {"CHUNK": 32, "LONG_ROW": 64}  # so that rows of these graphs are cut


@pytest.fixture
def tune(monkeypatch):
    """Yield a function that sets tunables of the kernels for one test."""

    def tune(**tunables):
        for name, value in tunables.items():
            monkeypatch.setitem(loader.TUNABLES[FILE], name, value)
        loader.load.cache_clear()

    yield tune
    loader.load.cache_clear()


def sorted_rows(engine, view):
    """Return the rows of a view by source and by destination, each sorted by weight."""
    into = engine.sorted_paths.sort_rows(view.into, view.weights)
    out = into if view.into is view.out else engine.sorted_paths.sort_rows(view.out, view.out_weights)
    return out, into


def program_distances(cpu, view, graph, sources):
    program = shipped.shortest_paths("int64" if view.weights.dtype.kind == "i" else "float64")
    active = np.isin(np.arange(graph.n), sources)
    first = start(program, graph.n, np.where(active, 0, program.identity), active, np)
    return cpu.run(view, program, first, RunOptions(weighted=True)).values, program.identity


def check(engine, cpu, graph, device, host, sources, rows):
    """Check a search; the second one pushes only as far as the first has learned."""
    distance, unreached = program_distances(cpu, host, graph, sources)
    predecessor = engine.tight_predecessors(
        device.into, device.weights, engine.xp.asarray(distance), unreached
    )
    for _ in range(2):
        found = engine.sorted_paths.search(*rows, engine.xp.asarray(sources), True)
        assert found.distance.dtype == distance.dtype
        np.testing.assert_array_equal(found.distance.get(), distance)
        np.testing.assert_array_equal(found.predecessor.get(), predecessor.get())
    return distance


@pairs(
    name=[name for name in CASES if name not in ("one", "no edges")],
    weight=["int32", "int64", "float32", "float64"],
    tunables=[{}, SMALL],
)
def test_agrees_with_the_program(engine, cpu, tune, name, weight, tunables):
    tune(**tunables)
    graph = CASES[name]
    device, host = (gather_view(graph, each, weight) for each in (engine, cpu))
    rows = sorted_rows(engine, device)
    generator = np.random.default_rng(1)
    for sources in ([root(graph)], generator.integers(0, graph.n, 1), generator.integers(0, graph.n, 3)):
        check(engine, cpu, graph, device, host, np.asarray(sources, np.int32), rows)


@pytest.mark.parametrize(
    "weights", ["equal", "zero", "light and heavy", "endless", "beyond int32", "signed zero"]
)
@pytest.mark.parametrize("name", ["rmat", "directed rmat", "square"])
def test_weights_of_other_kinds(engine, cpu, name, weights):
    graph = CASES[name]
    device, host = (gather_view(graph, each, "float64") for each in (engine, cpu))
    # A weight that depends on both ends is the same in both directions.
    u, v = np.repeat(np.arange(graph.n), np.diff(host.into.row_offsets)), host.into.column_indices
    mixed = (u + 1) * (v + 1) % 97
    given = {
        "equal": np.ones(len(u)),
        "zero": np.where(mixed % 3 == 0, 0, mixed / 4),
        "light and heavy": np.where(mixed % 2, 1e-12 * mixed, 1e6 * mixed),
        "endless": np.where(mixed % 4, np.inf, mixed),
        "beyond int32": mixed.astype(np.int64) << 40,
        "signed zero": np.where(mixed % 3 == 0, -0.0, mixed / 4),
    }[weights]
    views = []
    for view, xp in ((device, engine.xp), (host, np)):
        into = xp.asarray(given)
        if view.into is view.out:
            views.append(view.__class__(view.into, view.out, into, view.degrees, out_weights=into))
            continue
        a, b = np.repeat(np.arange(graph.n), np.diff(host.out.row_offsets)), host.out.column_indices
        order = np.lexsort((v, u))  # weights of the same edges, by source
        assert (order == np.arange(len(u))).all()
        place = {(int(x), int(y)): given[i] for i, (x, y) in enumerate(zip(v, u, strict=True))}
        out = xp.asarray(np.array([place[int(x), int(y)] for x, y in zip(a, b, strict=True)]))
        views.append(view.__class__(view.into, view.out, into, view.degrees, out_weights=out))
    device, host = views
    sources = np.asarray([root(graph)], np.int32)
    check(engine, cpu, graph, device, host, sources, sorted_rows(engine, device))


def test_rows_ascend_by_weight_in_four_bytes_if_they_hold_it(engine):
    graph = CASES["rmat"]
    for weight, narrow in (("int64", "int32"), ("float64", "float64"), ("float32", "float32")):
        view = gather_view(graph, engine, weight)
        rows = engine.sorted_paths.sort_rows(view.into, view.weights)
        assert rows.weight_dtype == narrow
        entries = rows.entries.get()
        stored = np.ascontiguousarray(entries[:, 1]).view(narrow)
        offsets, columns, given = (array.get() for array in (*view.into.parts[:2], view.weights))
        for v in range(0, graph.n, 37):
            row = slice(offsets[v], offsets[v + 1])
            assert (np.diff(stored[row]) >= 0).all()
            kept = sorted(zip(stored[row].tolist(), entries[row, 0].tolist(), strict=True))
            assert kept == sorted(zip(given[row].tolist(), columns[row].tolist(), strict=True))


def test_a_bound_is_learned_where_there_are_hubs(engine):
    """In an R-MAT graph most edges have an end near the hubs; along a path pushing goes on to the end."""
    for name, bounded in (("rmat", True), ("long path", False)):
        graph = CASES[name]
        rows = sorted_rows(engine, gather_view(graph, engine, "float32"))
        engine.sorted_paths.search(*rows, engine.xp.asarray([root(graph)]), False)
        assert (rows[0].learned["reach"] > 0) == bounded


def frame_of(edges, dtype):
    generator = np.random.default_rng(len(edges))
    cost = generator.random(len(edges)) if dtype[0] == "f" else generator.integers(1, 9, len(edges))
    return edges.assign(cost=cost.astype(dtype))


@pairs(
    edges=[generators.rmat(9), generators.grid(20, 30)],
    dtype=["float64", "float32", "int64", "int32"],
    directed=[True, False],
    how=[{}, {"reached_only": True}, {"direction": "in"}, {"direction": "both"}, {"where": "cost > 0.1"}],
    each=["one", "several"],
)
def test_whole_calls(edges, dtype, directed, how, each):
    frame = frame_of(edges, dtype)
    graph = frame.trav.graph(weight="cost", directed=directed, engine="cuda")
    sources = int(frame["src"].iloc[0]) if each == "one" else frame["src"].iloc[[0, 7, 20]].tolist()
    pd.testing.assert_frame_equal(graph.sssp(sources, **how), graph.sssp(sources, mode="pull", **how))
    held = graph.memory()["structure"].str.contains("sorted by weight").sum()
    assert held == (1 if not directed or how.get("direction") == "both" else 2)


def test_a_limit_is_not_spent_on_a_second_copy():
    frame = frame_of(generators.rmat(9), "float32")
    graph = frame.trav.graph(weight="cost", engine="cuda", memory_limit="64MB")
    whole = frame.trav.graph(weight="cost", engine="cuda")
    pd.testing.assert_frame_equal(graph.sssp(3), whole.sssp(3))
    assert not graph.memory()["structure"].str.contains("sorted by weight").any()
