"""Vertex programs in GPU memory: by rows, by shards, and pushed; their plain kernels; shortest-path trees."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.cuda.programs.resident import ResidentExecutor
from tests.gpu.plain_kernels import plain_pull, plain_push
from tests.gpu.program_cases import question, start

from .cases import Case, cases, rows_of_all_lengths

MODES = ("auto", "pull", "notify", "push")
FACTORS = (1, 4, "formula")


def check_in_memory(case: Case, engine: CudaEngine) -> None:
    view = case.device()
    for mode in MODES:
        case.run(engine.run, view, mode=mode)
    for factor in FACTORS:
        case.run(engine.run, view, mode="pull", gather="replicas", replication=factor)
    if case.ends:
        for mode in ("pull", "notify"):
            case.run(engine.run, view, mode=mode, asynchronous=True)
        case.run(engine.run, view, mode="pull", gather="replicas", asynchronous=True)


def check_plain_kernels(case: Case) -> None:
    """Check kernels with one thread for each row, and one for each active vertex."""
    for plain in (plain_pull, plain_push):
        state = start(case.program, case.graph.n, case.first, case.active, cupy)
        running = ResidentExecutor(case.device(), case.program, state, case.options).state
        plain(running)
        np.testing.assert_array_equal(running.values.get(), case.expected[1])


def check_wide(case: Case, engine: CudaEngine) -> None:
    """Check 64-bit offsets, with 32-bit and with 64-bit ids."""
    for vertex in ("int32", "int64"):
        view = case.device(vertex, "int64")
        for mode in ("pull", "notify", "push"):
            case.run(engine.run, view, mode=mode, max_iterations=2)
        case.run(engine.run, view, mode="pull", gather="replicas", max_iterations=1)


def check_shortest_trees(engine: CudaEngine) -> None:
    """Check that predecessors are the smallest nearer vertices that explain a distance, for both weights."""
    graph = rows_of_all_lengths(True)
    for weight, dtype in (("float32", "float64"), ("int32", "int64")):
        program, first, active, options = question("sssp", graph, dtype)
        case = Case(program, graph, first, active, options, weight)
        view, edges, distance = case.device(), case.edges, case.end
        before, after = distance[edges.u], distance[edges.v]
        tight = (before < after) & (after != program.identity) & (before + edges.weights == after)
        expected = np.full(graph.n, graph.n)
        np.minimum.at(expected, edges.v[tight], edges.u[tight])
        expected[expected == graph.n] = -1
        found = engine.tight_predecessors(view.into, view.weights, cupy.asarray(distance), program.identity)
        np.testing.assert_array_equal(found.get(), expected)


def run() -> None:
    engine = CudaEngine()
    for name, case in cases().items():
        print(f"program {name}", flush=True)
        check_in_memory(case, engine)
    check_plain_kernels(cases()["shortest_paths"])
    check_wide(cases()["breadth_first"], engine)
    check_shortest_trees(engine)
