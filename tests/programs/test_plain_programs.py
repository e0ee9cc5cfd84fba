"""The oracle of the GPU's program tests computes, over whole arrays, what the definition says."""

import gas_reference
import numpy as np
import pytest
from gpu.plain_programs import PlainEdges, fixed_point, steps
from gpu.program_cases import CASES, question, weights_of

from rapids_trav.programs.definition import Program

EVERY = Program(
    "every",
    "int64",
    "sum",
    scatter=lambda value, degree: value % 7 + degree % 3,
    gather=lambda message, weight: message * weight,
    apply=lambda value, gathered, total, parameters: (value + gathered + total) % int(parameters[0]),
    total=lambda value: value % 5,
)


def agree(program, graph, values, parameters=(), weight=None):
    edges = PlainEdges.of(graph, None if weight is None else weights_of(graph, weight))
    ours = steps(program, edges, values, 3, parameters)
    one_by_one = list(zip(edges.u, edges.v, edges.weights, strict=True))
    values = ours[0]
    for step in ours[1:]:
        values, _ = gas_reference.iterate(program, one_by_one, values, parameters)
        np.testing.assert_allclose(step, values, rtol=1e-6 if program.dtype == "float32" else 1e-12)
        assert step.dtype == np.dtype(program.dtype)


@pytest.mark.parametrize("name", ["nine", "loops", "multi", "one", "no edges", "undirected"])
@pytest.mark.parametrize("asked", ["bfs", "components", "sssp", "pagerank"])
def test_shipped_programs(asked, name):
    program, values, _, options = question(asked, CASES[name])
    agree(program, CASES[name], values, options.parameters, "float32" if options.weighted else None)


@pytest.mark.parametrize("name", ["nine", "loops", "directed"])
def test_a_program_with_every_function(name):
    agree(EVERY, CASES[name], np.arange(CASES[name].n) % 11, (1009.0,))


@pytest.mark.parametrize("reducer", ["min", "max", "sum"])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_reducers(reducer, dtype):
    values = np.random.default_rng(1).integers(-9, 9, CASES["directed"].n)
    agree(Program("any", dtype, reducer), CASES["directed"], values)


def test_a_fixed_point_stays():
    program, values, _, _ = question("bfs", CASES["square"])
    edges = PlainEdges.of(CASES["square"])
    end = fixed_point(program, edges, values)
    assert np.array_equal(steps(program, edges, end, 1)[1], end)
    with pytest.raises(AssertionError, match="no end after 3"):
        fixed_point(program, edges, values, most=3)
