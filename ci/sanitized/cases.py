"""Programs with their initial values, a graph with rows of all lengths, and results computed with NumPy.

The graph has rows for every way of gathering: an empty row, rows for one thread, for eight, for a warp and
for a block, and one that is split; and rows of out-edges long enough to be spread over blocks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.runs import GatherView, Run, RunOptions
from rapids_trav.programs.definition import Program
from tests.gpu.plain_programs import PlainEdges, fixed_point, steps
from tests.gpu.program_cases import SUMMING, question, start, weights_of
from tests.gpu.small_graphs import Graph

STEPS = 3  # iterations for which synchronous runs are followed
QUESTIONS = ("bfs", "components", "sssp", "pagerank")


def rows_of_all_lengths(symmetric: bool) -> Graph:
    """Return a graph: vertex 0 gathers over 17,499 edges, the next ones over fewer, the last over none."""
    n, generator = 17_501, np.random.default_rng(7)
    every = np.arange(n - 1)
    into = {0: every[1:], 1: every[:3000], 2: every[500:1200]}
    into |= {v: every[v : 25 * v : v] for v in range(3, 30)}
    u = [*into.values(), np.zeros(2000, np.int64), generator.integers(0, 900, 3000), np.array([5, 5, 40])]
    v = [np.full(len(row), vertex) for vertex, row in into.items()]
    v += [every[100:2100], generator.integers(0, 900, 3000), np.array([5, 5, 40])]
    return Graph(n, np.concatenate(u), np.concatenate(v), symmetric)


@dataclass(frozen=True)
class Case:
    """A program, its initial state, and the graph on which it runs."""

    program: Program
    graph: Graph
    first: np.ndarray
    active: np.ndarray
    options: RunOptions
    weight: str | None = None
    ends: bool = True  # the run converges, in any order of its vertices

    @cached_property
    def edges(self) -> PlainEdges:
        return PlainEdges.of(self.graph, self.given_weights)

    @property
    def given_weights(self) -> np.ndarray | None:
        return None if self.weight is None else weights_of(self.graph, self.weight)

    @cached_property
    def expected(self) -> list[np.ndarray]:
        return steps(self.program, self.edges, self.first, STEPS, self.options.parameters)

    @cached_property
    def end(self) -> np.ndarray:
        return fixed_point(self.program, self.edges, self.first)

    @cached_property
    def host(self) -> GatherView:
        """The graph in NumPy arrays, as the storage keeps it outside GPU memory."""
        edges, n = self.edges, self.graph.n
        weights = None if self.weight is None else edges.weights
        into, beside = _rows(edges.v, edges.u, n, weights)
        out = into if self.graph.symmetric else _rows(edges.u, edges.v, n, None)[0]
        return GatherView(into, out, beside, edges.degrees)

    def device(self, vertex: str = "int32", edge: str = "int32") -> GatherView:
        """Return the graph on the GPU, with ids and offsets of these types."""

        def moved(rows: Adjacency) -> Adjacency:
            return Adjacency(
                cupy.asarray(rows.row_offsets.astype(edge)), cupy.asarray(rows.column_indices.astype(vertex))
            )

        host = self.host
        into = moved(host.into)
        out = into if host.out is host.into else moved(host.out)
        weights = None if host.weights is None else cupy.asarray(host.weights)
        return GatherView(into, out, weights, cupy.asarray(host.degrees))

    def run(self, run: Callable[..., Run], view: GatherView, **changes: Any) -> None:
        """Run the program by an engine's method, and compare its result."""
        asynchronous = changes.get("asynchronous", False)
        limit = None if asynchronous else STEPS
        options = replace(self.options, **({"max_iterations": limit, "trace": True} | changes))
        state = start(self.program, self.graph.n, self.first, self.active, cupy)
        done = run(view, self.program, state, options)
        limit = options.max_iterations
        expected = self.end if limit is None else self.expected[limit]
        values = done.values.get()
        assert values.dtype == expected.dtype
        if self.program.reducer == "sum" and values.dtype.kind == "f":
            np.testing.assert_allclose(values, expected, rtol=1e-9, err_msg=str(changes))
        else:
            np.testing.assert_array_equal(values, expected, err_msg=str(changes))


def _rows(
    rows: np.ndarray, columns: np.ndarray, n: int, weights: np.ndarray | None
) -> tuple[Adjacency, np.ndarray | None]:
    order = np.lexsort((columns, rows))
    offsets = np.searchsorted(rows[order], np.arange(n + 1))
    beside = None if weights is None else weights[order]
    return Adjacency(offsets.astype(np.int64), columns[order].astype(np.int32)), beside


@functools.cache
def cases() -> dict[str, Case]:
    """Return the cases by the names of their programs."""
    return {case.program.name: case for case in _cases()}


def _cases() -> Iterator[Case]:
    """Yield the four shipped programs, a maximum with signs, and a sum that defines every function."""
    directed, symmetric = rows_of_all_lengths(False), rows_of_all_lengths(True)
    for name in QUESTIONS:
        graph = directed if name in ("bfs", "pagerank") else symmetric
        program, first, active, options = question(name, graph)
        weight = "float32" if options.weighted else None
        yield Case(program, graph, first, active, options, weight, ends=name != "pagerank")
    signed = np.random.default_rng(3).standard_normal(symmetric.n)
    signed[:9] = -0.0
    everywhere = np.ones(symmetric.n, bool)
    yield Case(Program("largest", "float64", "max"), symmetric, signed, everywhere, RunOptions())
    mixed = Program(
        "mixed",
        "int64",
        "sum",
        **SUMMING,
        active=lambda value, new: new != value,
    )
    options = RunOptions(parameters=(1009.0,))
    yield Case(mixed, directed, np.arange(directed.n) % 11, everywhere, options, ends=False)
