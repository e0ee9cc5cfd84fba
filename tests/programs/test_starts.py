"""Programs that say what the reduction of a vertex starts from, on the CPU (docs/systems.md, G19)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from gpu.plain_programs import PlainEdges, steps
from gpu.program_cases import CASES, gather_view, start
from pairs import pairs

from rapids_trav import Program, TravError
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs.digest import program_digest

EDGES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})


def program(reducer, first, dtype="int64", **functions):
    return Program("starting", dtype, reducer, start=first, **functions)


@pairs(
    name=["nine", "multi", "one", "no edges", "directed", "big star"],
    dtype=["int64", "int32", "float32"],
    mode=["auto", "pull", "notify"],
)
def test_every_iteration_starts_from_it(name, dtype, mode):
    """A hub whose row is cut into parts starts from it once."""
    reducer, first = {"int64": ("sum", 3), "int32": ("min", 2), "float32": ("max", 40)}[dtype]
    asked = program(reducer, first, dtype, apply=lambda value, gathered: (gathered + value) % 51)
    values = np.arange(CASES[name].n) % 17
    expected = steps(asked, PlainEdges.of(CASES[name]), values, 3)
    view, engine = gather_view(CASES[name], CpuEngine()), CpuEngine()
    for limit in (1, 3):
        state = start(asked, CASES[name].n, values, True, np)
        done = engine.run(view, asked, state, RunOptions(mode=mode, max_iterations=limit))
        np.testing.assert_array_equal(done.values, expected[limit])


@pytest.mark.parametrize("mode", ["auto", "pull", "notify"])
def test_without_apply(mode):
    graph = EDGES.trav.graph(directed=True)

    def after(reducer, first, most):
        run = graph.run(program(reducer, first), initial=1, max_iterations=most, mode=mode)
        return run["value"].tolist()

    assert after("sum", 5, 1) == [6, 6, 6, 6]
    assert after("sum", 5, 2) == [11, 11, 11, 11]
    assert after("max", 5, 9) == [5, 5, 5, 5]
    assert after("min", -2, 9) == [-2, -2, -2, -2]


@pytest.mark.parametrize("mode", ["pull", "notify"])
def test_a_vertex_without_edges_in_takes_it(mode):
    graph = pd.DataFrame({"src": [0], "dst": [1]}).trav.graph(directed=True)
    found = graph.run(program("sum", 5), initial=10, max_iterations=1, mode=mode)
    assert found["value"].tolist() == [5, 15]
    found = graph.run(program("max", 5), initial=1, max_iterations=1, mode=mode)
    assert found["value"].tolist() == [5, 5]


def test_named_values_leave_all_vertices_active():
    graph = EDGES.trav.graph(directed=True)
    for mode in ("pull", "notify", "auto"):
        found = graph.run(program("max", 5), initial={0: 9}, mode=mode)
        assert found["value"].tolist() == [9, 9, 9, 9]
    with pytest.raises(TravError, match=r"^sources names the vertices .*, but with start=5 of program"):
        graph.run(program("max", 5), initial=1, sources=[0])


def test_values_are_not_pushed():
    assert not program("min", 3).may_push and Program("plain", "int64", "min").may_push
    with pytest.raises(TravError, match="schedule='paths' is not for program 'starting'"):
        EDGES.trav.graph().run(program("min", 3), initial=1, schedule="paths", asynchronous=True)


def test_the_digest_tells_starts_apart():
    digests = {program_digest(program("sum", first, "float64")) for first in (None, 0.0, -0.0, 1.0)}
    assert len(digests) == 4
    assert program_digest(program("sum", 1, "float64")) in digests


@pytest.mark.parametrize(
    ("dtype", "first"),
    [("int64", True), ("int64", 1.5), ("int64", 2**63), ("int32", -(2**31) - 1), ("int64", "a"),
     ("float64", float("nan")), ("float32", 1e300), ("float64", 10**400), ("int32", float("inf"))],
)  # fmt: skip
def test_what_is_no_start(dtype, first):
    with pytest.raises(TravError, match=rf"^start=.* of program 'starting' is not .* {dtype}: give"):
        program("sum", first, dtype)


def test_starts_have_the_type_of_the_values():
    assert program("sum", np.int32(3)).start == 3 and type(program("sum", np.int32(3)).start) is int
    assert program("sum", 0.1, "float32").start == float(np.float32(0.1))
    assert program("min", float("inf"), "float32").start == float("inf")
