"""Programs that say what the reduction of a vertex starts from, on a GPU (docs/systems.md, G19)."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs.definition import Program

from .paged_views import in_pages, in_pinned_memory
from .plain_programs import PlainEdges, steps
from .program_cases import CASES, gather_view, start

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

STARTS = {"sum": -5, "min": -3, "max": 60}
LARGE = {"int32": -(2**31) + 9, "int64": -(2**62) + 1, "float32": -1.5e30, "float64": 1e200}
WAYS = (
    {"mode": "pull"},
    {"mode": "notify"},
    {"mode": "pull", "gather": "replicas"},
    {"mode": "pull", "gather": "replicas", "replication": 32},
)


def program(reducer, first, dtype="int64"):
    return Program(
        "starting", dtype, reducer, start=first, apply=lambda value, gathered: (gathered + value) % 51
    )


@pytest.mark.parametrize("place", ["memory", "pages", "hybrid"])
@pytest.mark.parametrize("reducer", STARTS)
@pytest.mark.parametrize("name", ["nine", "no edges", "directed rmat", "wheel"])
def test_every_iteration_starts_from_it(engine, cpu, name, reducer, place):
    """Once for each vertex, however many copies and pieces of its row there are."""
    asked, graph = program(reducer, STARTS[reducer]), CASES[name]
    values = np.arange(graph.n) % 17
    expected = steps(asked, PlainEdges.of(graph), values, 2)[2]
    host = in_pinned_memory(engine, gather_view(graph, cpu))
    for way in WAYS:
        view = gather_view(graph, engine) if place == "memory" else in_pages(host, 5)
        state = start(asked, graph.n, values, True, engine.xp)
        run = engine.run_hybrid if place == "hybrid" else engine.run
        done = run(view, asked, state, RunOptions(max_iterations=2, **way))
        np.testing.assert_array_equal(done.values.get(), expected, err_msg=str(way))


@pytest.mark.parametrize("dtype", LARGE)
def test_all_bits_of_a_start_arrive(engine, dtype):
    asked = Program("starting", dtype, "max" if dtype == "float64" else "sum", start=LARGE[dtype])
    view = gather_view(CASES["one"], engine)
    done = engine.run(view, asked, start(asked, 1, [0], True, engine.xp), RunOptions(max_iterations=1))
    assert done.values.get().tolist() == [np.dtype(dtype).type(LARGE[dtype])]
