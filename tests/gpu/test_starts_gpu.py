"""Programs that say what the reduction of a vertex starts from, on a GPU (docs/systems.md, G19)."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import pairs

from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs.definition import Program

from .paged_views import in_pages, in_pinned_memory
from .plain_programs import PlainEdges, steps
from .program_cases import CASES, LARGE_CASES, gather_view, start

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

STARTS = {"sum": -5, "min": -3, "max": 60}
LARGE = {"int32": -(2**31) + 9, "int64": -(2**62) + 1, "float32": -1.5e30, "float64": 1e200}
WAYS = {
    "pull": {"mode": "pull"},
    "notify": {"mode": "notify"},
    "replicas": {"mode": "pull", "gather": "replicas"},
    "32 replicas": {"mode": "pull", "gather": "replicas", "replication": 32},
}


def program(reducer, first, dtype="int64"):
    return Program(
        "starting", dtype, reducer, start=first, apply=lambda value, gathered: (gathered + value) % 51
    )


@pairs(
    ("wheel", "sum", "memory", "pull"),
    ("wheel", "min", "pages", "32 replicas"),
    name=["nine", "no edges", "directed rmat", *LARGE_CASES],
    reducer=STARTS,
    place=["memory", "pages", "hybrid"],
    way=WAYS,
)
def test_every_iteration_starts_from_it(engine, cpu, name, reducer, place, way):
    """Once for each vertex, however many copies and pieces of its row there are."""
    asked, graph = program(reducer, STARTS[reducer]), CASES[name]
    values = np.arange(graph.n) % 17
    expected = steps(asked, PlainEdges.of(graph), values, 2)[2]
    if place == "memory":
        view = gather_view(graph, engine)
    else:
        view = in_pages(in_pinned_memory(engine, gather_view(graph, cpu)), 5)
    state = start(asked, graph.n, values, True, engine.xp)
    run = engine.run_hybrid if place == "hybrid" else engine.run
    done = run(view, asked, state, RunOptions(max_iterations=2, **WAYS[way]))
    np.testing.assert_array_equal(done.values.get(), expected)


@pytest.mark.parametrize("dtype", LARGE)
def test_all_bits_of_a_start_arrive(engine, dtype):
    asked = Program("starting", dtype, "max" if dtype == "float64" else "sum", start=LARGE[dtype])
    view = gather_view(CASES["one"], engine)
    done = engine.run(view, asked, start(asked, 1, [0], True, engine.xp), RunOptions(max_iterations=1))
    assert done.values.get().tolist() == [np.dtype(dtype).type(LARGE[dtype])]
