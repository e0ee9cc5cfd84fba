"""Vertex programs over whole NumPy arrays, all vertices in each step: the oracle of those on the GPU.

A function of a program is called for each vertex or edge by Python; sums of floats are in float64.  For min
and max, neither `scatter` nor `gather` is called with the reducer's identity, which is passed on.
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
    """Edges u -> v with the weights that programs are given, and the degrees of all vertices."""

    u: np.ndarray
    v: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray

    @classmethod
    def of(cls, graph: Graph, weights: np.ndarray | None = None) -> PlainEdges:
        """Those of a graph; `weights`, if given, stand beside the graph's `u` and are mirrored with it."""
        u, v = graph.edges
        if weights is None:
            return cls(u, v, np.ones(len(u), np.int64), np.bincount(u, minlength=graph.n))
        if graph.symmetric:
            weights = np.concatenate([weights, weights[graph.u != graph.v]])
        return cls(u, v, weights, np.bincount(u, weights, graph.n))


def step(
    program: Program, edges: PlainEdges, values: np.ndarray, parameters: Sequence[float] = ()
) -> np.ndarray:
    """Values after one more iteration of Jacobi's method, in which every vertex gathers."""
    dtype = np.dtype(program.dtype)
    total = float(_call(program.total, np.float64, values, edges.degrees, default=np.zeros(1)).sum())
    messages = _offered(program, program.scatter, values, edges.degrees)
    arriving = _offered(program, program.gather, messages[edges.u], edges.weights)
    floating_sum = program.reducer == "sum" and dtype.kind == "f"
    gathered = np.full(len(values), program.identity, np.float64 if floating_sum else dtype)
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
    """The first values, and those after each of so many iterations."""
    found = [np.asarray(values, program.dtype)]
    for _ in range(n_iterations):
        found.append(step(program, edges, found[-1], parameters))
    return found


def fixed_point(program: Program, edges: PlainEdges, values: Any, most: int = 1000) -> np.ndarray:
    """The values that another iteration leaves as they are."""
    last = np.asarray(values, program.dtype)
    for _ in range(most):
        last, before = step(program, edges, last), last
        if np.array_equal(last, before):
            return last
    raise AssertionError(f"{program.name} has no end after {most} iterations")


def _offered(program: Program, function: Callable | None, given: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What `scatter` or `gather` makes of what is given; min and max pass on their identity."""
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
