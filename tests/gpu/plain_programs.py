"""Reference implementation of vertex programs in NumPy, over all vertices in each step.

Python calls each function of a program for every vertex or edge; sums of floats are in float64.  With min
and max, `scatter` and `gather` are not called for the reducer's identity, which is passed on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rapids_trav.programs.definition import Program, n_arguments

from .small_graphs import Graph

_REDUCE = {"min": np.minimum, "max": np.maximum, "sum": np.add}


@dataclass(frozen=True)
class PlainEdges:
    """Edges u -> v with the weights that programs receive, and the degrees of all vertices."""

    u: np.ndarray
    v: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray

    @classmethod
    def of(cls, graph: Graph, weights: np.ndarray | None = None) -> PlainEdges:
        """Return a graph's edges; `weights`, if given, have the order of the graph's `u`, mirrored alike."""
        u, v = graph.edges
        if weights is None:
            return cls(u, v, np.ones(len(u), np.int64), np.bincount(u, minlength=graph.n))
        if graph.symmetric:
            weights = np.concatenate([weights, weights[graph.u != graph.v]])
        return cls(u, v, weights, np.bincount(u, weights, graph.n))


def step(
    program: Program, edges: PlainEdges, values: np.ndarray, parameters: Sequence[float] = ()
) -> np.ndarray:
    """Return the values after one more Jacobi iteration, in which every vertex gathers."""
    dtype = np.dtype(program.dtype)
    total = float(_call(program.total, np.float64, values, edges.degrees, default=np.zeros(1)).sum())
    messages = _offered(program, program.scatter, values, edges.degrees)
    arriving = _offered(program, program.gather, messages[edges.u], edges.weights)
    floating_sum = program.reducer == "sum" and dtype.kind == "f"
    start = program.identity if program.start is None else program.start
    gathered = np.full(len(values), start, np.float64 if floating_sum else dtype)
    _REDUCE[program.reducer].at(gathered, edges.v, arriving)
    gathered = gathered.astype(dtype)
    reduced = gathered if program.reducer == "sum" else _REDUCE[program.reducer](values, gathered)
    if program.apply is None:
        return reduced
    others = (total, tuple(parameters))[: max(n_arguments(program.apply) - 2, 0)]
    apply = program.apply
    two = lambda *pair: apply(*pair[: n_arguments(apply)], *others)  # noqa: E731
    return np.vectorize(two, otypes=[dtype])(values, gathered)


def steps(
    program: Program, edges: PlainEdges, values: Any, n_iterations: int, parameters: Sequence[float] = ()
) -> list[np.ndarray]:
    """Return the first values and those after each iteration."""
    found = [np.asarray(values, program.dtype)]
    for _ in range(n_iterations):
        found.append(step(program, edges, found[-1], parameters))
    return found


def fixed_point(program: Program, edges: PlainEdges, values: Any, most: int = 1000) -> np.ndarray:
    """Return the values that another iteration does not change."""
    last = np.asarray(values, program.dtype)
    for _ in range(most):
        last, before = step(program, edges, last), last
        if np.array_equal(last, before):
            return last
    raise AssertionError(f"{program.name} has no end after {most} iterations")


def _offered(program: Program, function: Callable | None, given: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the results of `scatter` or `gather` for given values; min and max pass on their identity."""
    offered = given.copy()
    calls = np.full(len(given), True) if program.reducer == "sum" else given != program.identity
    offered[calls] = _call(function, given.dtype, given[calls], other[calls], default=given[calls])
    return offered


def _call(
    function: Callable | None, dtype: Any, one: np.ndarray, other: np.ndarray, default: np.ndarray
) -> np.ndarray:
    if function is None:
        return default
    return np.vectorize(function, otypes=[dtype])(*(one, other)[: n_arguments(function)])
