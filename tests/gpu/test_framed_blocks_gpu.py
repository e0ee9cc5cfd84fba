"""Blocks whose columns are framed: values, the bytes that are copied, and the memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.csr.packed import PackedHome
from rapids_trav.engines.blocks.cut import cut
from rapids_trav.engines.runs import RunOptions
from rapids_trav.memory.budget import Budget
from rapids_trav.programs import shipped

from .paged_views import in_budget
from .program_cases import CASES, LARGE_CASES, gather_view
from .test_blocks_gpu import PROGRAMS, on_host, outside, start_of

pytestmark = pytest.mark.gpu


def over_framed_blocks(engine, view, program, start, shift, n_places, pinned=True):
    """Run a program over framed blocks of 1 << shift edges; return the run and the bytes of its loads."""
    from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor
    from rapids_trav.engines.cuda.blocks.parts import framed_parts
    from rapids_trav.engines.cuda.stream.packing import FRAMED, packed_columns
    from rapids_trav.engines.iterations import iterate

    options = RunOptions(weighted=view.weights is not None, asynchronous=True, trace=True)
    cuts, away = cut(view.out.row_offsets.get(), shift, n_places), outside(engine, view, pinned)
    on_host = replace(away.out, row_offsets=away.out.row_offsets.get())
    framed = packed_columns(on_host, Budget(1 << 30), FRAMED)
    parts = framed_parts(away, cuts, framed)
    with BlocksExecutor(away, program, start, options, cuts, parts) as work:
        run = iterate(work, program, start, options)
    loads = [span.block for one in run.trace for span in one.block_spans if span.what == "load"]
    return run, sum(part.nbytes(block) for block in loads for part in parts)


@pairs(
    ("bfs", "wheel", "in files"),
    ("sssp", "wheel", "pinned"),
    which=["bfs", "components", "sssp", "widest"],
    name=["rmat", "directed rmat", *LARGE_CASES],
    place=["pinned", "in files"],
)
def test_values_are_those_in_memory(engine, which, name, place):
    """Where the columns are in files, their frames are still in pinned memory, but weights are not."""
    program, weight, value, sources = PROGRAMS[which]
    graph = CASES[name]
    view = gather_view(graph, engine, weight)
    hub = int(np.argmax(np.diff(view.out.row_offsets.get())))
    start = start_of(program, graph.n, value, sources and [hub], engine.xp)
    shift = 10 if name != "wheel" else 12
    run, n_bytes = over_framed_blocks(engine, view, program, start, shift, 4, place == "pinned")
    wanted = engine.run(view, program, start, RunOptions(weighted=weight is not None))
    assert np.array_equal(run.values.get(), wanted.values.get())
    assert run.converged
    assert run.counters["loaded"] == n_bytes > 0


def test_columns_of_64_bits(engine):
    graph, program = CASES["rmat"], shipped.shortest_paths()
    narrow = gather_view(graph, engine, "float64")
    wide = replace(narrow.out, column_indices=narrow.out.column_indices.astype(np.int64))
    view = replace(narrow, into=wide, out=wide)
    start = start_of(program, graph.n, 0, [3], engine.xp)
    run, _ = over_framed_blocks(engine, view, program, start, 11, 3)
    wanted = engine.run(narrow, program, start, RunOptions(weighted=True))
    assert np.array_equal(run.values.get(), wanted.values.get())


def with_home(view, home):
    return replace(view, pages=replace(view.pages, framed=home))


@pytest.mark.parametrize("weight", [None, "float64"])
def test_fewer_bytes_are_copied_and_more_blocks_stay(engine, weight, monkeypatch):
    """By default, unless all blocks fit without; never with `compress=False`, and within the budget."""
    from rapids_trav.engines.cuda.blocks import executor

    monkeypatch.setattr(executor, "LEAST_BLOCK", 1 << 13)
    program = shipped.breadth_first() if weight is None else shipped.shortest_paths()
    graph, home = CASES["rmat"], PackedHome()
    start = start_of(program, graph.n, 0, [1], engine.xp)
    paged, counters, values = on_host(engine, graph, weight), {}, {}
    for compress in (False, None):
        view = with_home(in_budget(paged, 450_000 if weight is None else 900_000), home)
        options = RunOptions(
            weighted=weight is not None, asynchronous=True, trace=True, schedule="paths", compress=compress
        )
        run = engine.run(view, program, start, options)
        counters[compress], values[compress] = run.counters, run.values.get()
        assert (home.columns is not None) == (compress is None)
        assert view.pages.budget.used == 0 < view.pages.budget.peak <= view.pages.budget.limit
    assert np.array_equal(values[None], values[False])
    assert counters[None]["loaded"] < (0.75 if weight is None else 0.95) * counters[False]["loaded"]
    assert counters[None]["reloads"] <= counters[False]["reloads"]
    plenty, unused = in_budget(paged, 8_000_000), PackedHome()
    engine.run(with_home(plenty, unused), program, start, replace(options, compress=None))
    assert unused.columns is None
    engine.run(with_home(plenty, unused), program, start, replace(options, compress=True))
    assert unused.columns is not None


def test_a_graph_tells_what_it_frames(engine, monkeypatch):
    from rapids_trav import Graph, generators
    from rapids_trav.engines.cuda.blocks import executor

    monkeypatch.setattr(executor, "LEAST_BLOCK", 1 << 13)
    graph = Graph.from_edges(generators.rmat(12), engine=engine, memory_limit=450_000)
    program, distances = shipped.breadth_first(), {}
    for compress in (False, None):
        found = graph.run(
            program, initial={1: 0}, asynchronous=True, schedule="paths", tuning={"compress": compress}
        )
        distances[compress] = found.sort_values("vertex").iloc[:, 1].tolist()
        held = dict(zip(*(graph.memory()[name] for name in ("structure", "bytes")), strict=True))
        framed = held.get("framed columns of CSR, symmetrised", 0)
        assert (framed > 0) == (compress is None)
    assert distances[None] == distances[False]
    assert framed < 0.75 * 2 * 4 * graph.n_edges
    assert graph.budget.peak <= graph.budget.limit
