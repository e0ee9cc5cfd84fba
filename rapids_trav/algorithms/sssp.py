"""Shortest paths by weight from one or several sources.

R. Bellman, "On a routing problem", Quarterly of Applied Mathematics 16, 1958, as the vertex program
`programs.shortest_paths`: a vertex whose distance has fallen offers its neighbours that distance plus the
weight of the edge, until no distance falls.

Distances are int64 for integer weights and float64 for others (float32 weights are added in float64).  Each
is the least sum of weights along a path, where the sum is computed in that type from the source on.

Predecessors are derived from the distances.  An edge u -> v is tight if distance[u] + weight == distance[v].
Tight edges with distance[u] < distance[v] form no cycle; if several lead to v, the one with the smallest
internal id u is taken.  The remaining vertices are reached over weights that are zero, or too small to change
the sum.  A breadth-first search among vertices of equal distance, along tight edges from the vertices that
have a predecessor already, gives each of them a predecessor that is fewer edges away from there.

Checks of the weights of a graph for the questions that use them.

The storage caches the smallest and largest weight, so only the first run reads all weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from types import ModuleType
from typing import NamedTuple

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import ProgramOptions, SsspOptions
from rapids_trav.algorithms.request import resolve, unique, vertices
from rapids_trav.algorithms.run import Answer, OnPage, answer, execute, gather_view, running
from rapids_trav.csr.adjacency import Array, edge_blocks
from rapids_trav.engines.interface import BfsOptions, Engine
from rapids_trav.engines.runs import GatherView, Run
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import Masked
from rapids_trav.frames.decimals import LIMIT, column_of, from_integers, magnitude
from rapids_trav.ids.maps import Column, vertex_dtype
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.build import TIGHT_BYTES
from rapids_trav.memory.model.program import equals_bytes, question_bytes, tree_bytes
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import saturating_paths, shortest_paths
from rapids_trav.storage.block_sizes import FEWEST_IN_HAND, reading
from rapids_trav.storage.in_memory import AdjacencySet, GraphEdges, MemoryView
from rapids_trav.utilities.progress import streamed


def weight_range(graph: TraversableGraph, view: GatherView, why: str) -> tuple[float, float]:
    """Return the smallest and largest weight of the edges in a view; refuse negative weights.

    Both are 0 without edges.
    """
    smallest, largest = view.weight_range() or (0, 0)
    if smallest < 0:
        raise TravError(
            f"weight={graph.weight!r} holds {shown(graph, smallest)}, and {why}: leave out such edges with "
            f"where=."
        )
    return smallest, largest


def shown(graph: TraversableGraph, weight: float) -> str:
    """Return a weight as the caller gave it, for a message: integers may stand for decimals."""
    known = graph.rows.weight
    if known is None or not known.scale:
        return written(weight)
    return str(Decimal(int(weight)).scaleb(-known.scale))


def check_rank_weights(graph: TraversableGraph, view: GatherView, dtype: str, least: float) -> None:
    """Refuse weights whose sum at a vertex cannot divide ranks of `dtype` from `least` to 1.

    The quotients would overflow, or lose digits because they are too small.
    """
    smallest, largest = weight_range(graph, view, "ranks are for weights of 0 or more")
    if largest == float("inf"):
        raise TravError(
            f"weight={graph.weight!r} holds inf, and ranks are for finite weights: leave out such edges with "
            f"where=."
        )
    limits = np.finfo(dtype)
    low, high = 1 / float(limits.max), least / float(limits.tiny)
    if low <= smallest and largest * view.into.n_edges <= high:
        return
    positive = view.degrees[view.degrees > 0]
    if len(positive) == 0:
        return
    smallest, largest = float(positive.min()), float(positive.max())
    if smallest < low or largest > high:
        wider = "" if dtype == "float64" else ", or use dtype='float64'"
        raise TravError(
            f"weight={graph.weight!r} adds up to between {smallest:.3g} and {largest:.3g} at a vertex, by "
            f"which ranks of {dtype} cannot be divided: scale the weights towards 1, since only their "
            f"proportions matter{wider}."
        )


INFINITE = float("inf")
BLOCK = 1 << 22  # edges processed at once to find predecessors


def sssp(graph: TraversableGraph, sources: object, options: SsspOptions) -> Answer:
    """Return the frame that `Graph.sssp` documents."""
    check_weights(graph, "sssp")
    roots = unique(graph, vertices(graph, "sources", sources))
    with shortest(graph, roots, options, streamed()) as found:
        columns = _columns(graph, found, options.reached_only)
        return answer(graph, columns, found.run, options.trace)


class Shortest(NamedTuple):
    """Distances from some sources, which are the values of `run`, and a shortest-path tree."""

    run: Run
    question: ProgramOptions
    reached: Array  # bool, (n,)
    predecessor: Array | None  # (n,); -1 at sources and where unreached


def check_weights(graph: TraversableGraph, what: str) -> None:
    """Refuse a question by weight if the graph has no weights."""
    if graph.rows.weight is None:
        raise TravError(
            f"{what} needs weights, and the graph has none: {graph.rows.weight_advice}, or use bfs."
        )


@contextmanager
def shortest(
    graph: TraversableGraph, roots: Array, options: SsspOptions, on_page: OnPage | None = None
) -> Iterator[Shortest]:
    """Yield the shortest distances from the nearest of `roots`, while holding memory for the answer."""
    weight = graph.rows.weight
    assert weight is not None  # callers use `check_weights` first
    question = options.as_program.changed(where=resolve(graph, options.where))
    program = shortest_paths("int64" if weight.dtype.kind == "i" else "float64")
    vertex, ranked = vertex_dtype(graph.n_vertices).itemsize, graph.ids.rank is not None
    view = gather_view(graph, program, question)
    room = question_bytes(np.dtype(program.dtype).itemsize, ranked, own=tree_bytes(vertex, ranked))
    with running(graph, view, program, question, room, after=lambda: _tree_room(view, options.predecessors)):
        _, largest = weight_range(graph, view, "shortest paths are for weights of 0 or more")
        if program.dtype == "int64":
            program = _of_large_sums(graph, view, int(largest), program)
        done, predecessor = _over_sorted_rows(graph, view, roots, options)
        if done is None:
            state = RunState(graph.values.filled(program.identity, program.dtype), graph.values.flags(roots))
            state.values[roots] = 0
            done = execute(graph, view, program, state, question, on_page=on_page)
            del state
        if program.dtype == "float64" and float(largest) * graph.n_vertices > np.finfo(np.float64).max:
            _refuse_lost(graph, view, done.values)
        distance, unreached = done.values, program.identity
        if options.predecessors:
            predecessor = shortest_tree(graph.engine, view, distance, unreached, roots, predecessor)
        yield Shortest(done, question, distance != unreached, predecessor)


def _over_sorted_rows(
    graph: TraversableGraph, view: GatherView, roots: Array, options: SsspOptions
) -> tuple[Run | None, Array | None]:
    """Return distances and nearer predecessors, if the engine searches rows sorted by weight."""
    engine = graph.engine
    rows = view.by_weight() if options.leaves_way_open(engine.processor) else None
    if rows is None or engine.sorted_paths is None:
        return None, None
    found = engine.sorted_paths.search(*rows, roots, options.predecessors)
    if found is None:
        return None, None
    return Run(found.distance, iterations=1, converged=True), found.predecessor


def _tree_room(view: GatherView, predecessors: bool) -> int:
    """Return the most bytes that finding the tree may take once the distances are known.

    The distance does not grow over edges whose weight is zero, or too small relative to the longest possible
    path.  An edge of infinite weight leads nowhere.
    """
    n, weights = view.n_vertices, view.weights
    if not predecessors or weights is None or len(weights) == 0:
        return _in_hand(view)
    blocks = [weights[first : first + BLOCK] for first in range(0, len(weights), BLOCK)]
    small = 0.0
    if weights.dtype.kind == "f":
        limits = np.finfo(np.float64)
        longest = n * max(_largest_finite(block) for block in blocks)
        small = min(float(limits.eps) * min(longest, float(limits.max)), float(np.finfo(weights.dtype).max))
    n_small = sum(int((block <= small).sum()) for block in blocks)
    return _in_hand(view) + (equals_bytes(n, n_small) if n_small else 0)


def _largest_finite(weights: Array) -> float:
    """Return the largest of some weights that is finite, or 0."""
    largest = float(weights.max())
    if largest < INFINITE:
        return largest
    finite = weights[weights < INFINITE]
    return float(finite.max()) if len(finite) else 0.0


def _in_hand(view: GatherView) -> int:
    """Return the bytes of the smallest block of edges, if memory is limited."""
    return TIGHT_BYTES * FEWEST_IN_HAND if view.limited is not None else 0


def _of_large_sums(graph: TraversableGraph, view: GatherView, largest: int, program: Program) -> Program:
    """Return the program for integer weights; refuse them if a path may be longer than int64 holds.

    A shortest path takes an edge once, so it is no longer than all edges together.  What a vertex offers
    along its edges may be longer by one of them, which only a program that saturates then adds.
    """
    if largest * graph.n_vertices < LIMIT:
        return program
    assert view.weights is not None
    total = magnitude(view.weights, graph.engine.xp)
    if view.into is view.out:  # an edge, unless it is a loop, is in the rows of both ends
        total //= 2
    if total >= LIMIT:  # which stands for unreached vertices
        float64 = graph.rows.source.library.remedy("astype('float64')")
        raise TravError(
            f"weight={graph.weight!r} holds {shown(graph, largest)}, and all weights together are "
            f"{shown(graph, total)}, which int64 does not hold: convert it, for example with {float64}."
        )
    return program if total + largest < LIMIT else saturating_paths()


def _refuse_lost(graph: TraversableGraph, view: GatherView, distance: Array) -> None:
    """Refuse sums that overflow float64, since vertices with a path would then count as unreached."""
    for u, v, weight in _blocks(view, graph.engine.xp):
        ends = (distance[u] < INFINITE) & (weight < INFINITE) & (distance[v] == INFINITE)
        if bool(ends.any()):
            raise TravError(
                f"weight={graph.weight!r} holds {written(weight[ends][0])}, and the sum along a path "
                f"overflows float64: scale the weights down."
            )


def _columns(graph: TraversableGraph, found: Shortest, reached_only: bool) -> dict[str, Column]:
    """Return vertex, distance and predecessor of each row of the answer."""
    reached, predecessor = found.reached, found.predecessor
    chosen = graph.values.chosen(reached) if reached_only else None
    columns = graph.id_columns("vertex", chosen)

    def rows(values: Array) -> Array:
        return graph.values.in_order(values) if chosen is None else values[chosen]

    columns["distance"] = lengths(graph, Masked(rows(found.run.values), rows(reached)))
    if predecessor is not None:
        columns |= graph.id_columns("predecessor", rows(predecessor), nulls=True)
    return columns


def lengths(graph: TraversableGraph, values: Masked) -> Column:
    """Return sums of weights as a column: decimals if the weights are."""
    weight, library = graph.rows.weight, graph.rows.source.library
    if weight is None or not weight.scale:
        return values
    return column_of(from_integers(values, weight.scale), library)


def shortest_tree(
    engine: Engine,
    view: GatherView,
    distance: Array,
    unreached: float,
    sources: Array,
    predecessor: Array | None = None,
) -> Array:
    """Return a predecessor of each reached vertex; -1 at sources and where the distance is `unreached`.

    `predecessor`, if it is known, has the smallest nearer neighbour that explains the distance, or -1; it is
    changed.
    """
    xp = engine.xp
    if predecessor is None:
        if view.pages is None:
            assert view.weights is not None
            predecessor = engine.tight_predecessors(view.into, view.weights, distance, unreached)
        else:
            predecessor = _tight_predecessors(view, distance, unreached, xp)
    settled = predecessor >= 0
    settled[sources] = True
    left = (distance != unreached) & ~settled
    if not bool(left.any()):
        return predecessor
    rows = None if view.limited else _rows(view, xp.flatnonzero(left), xp)

    def among_equals() -> Iterator[tuple[Array, Array]]:
        for u, v, weight in _blocks(view, xp) if rows is None else [rows]:
            level = (distance[u] == distance[v]) & _is_tight(distance, u, v, weight)
            level = xp.flatnonzero(left[v] & level)
            yield u[level], v[level]

    n_level = sum(len(u) for u, _ in among_equals()) if view.limited else 0
    with holding(view.limited, equals_bytes(len(left), n_level), "predecessors along edges of weight 0"):
        return _among_equals(engine, predecessor, list(among_equals()), xp.flatnonzero(settled))


def _tight_predecessors(view: GatherView, distance: Array, unreached: float, xp: ModuleType) -> Array:
    """Return the predecessors that `Engine.tight_predecessors` would, reading edges block by block."""
    predecessor = xp.full(view.n_vertices, -1, dtype=vertex_dtype(view.n_vertices))
    for u, v, weight in _blocks(view, xp):
        nearer = (distance[u] < distance[v]) & (distance[v] != unreached)
        tight = xp.flatnonzero(_is_tight(distance, u, v, weight) & nearer)
        u, v = u[tight], v[tight]
        first = xp.flatnonzero((xp.diff(v, prepend=-1) != 0) & (predecessor[v] < 0))  # rows ascend
        predecessor[v[first]] = u[first]
    return predecessor


def _is_tight(distance: Array, u: Array, v: Array, weight: Array) -> Array:
    """Return whether each edge u -> v is tight; one whose sum overflows is not."""
    with np.errstate(over="ignore"):
        return distance[u] + weight == distance[v]


def _among_equals(
    engine: Engine, predecessor: Array, edges: list[tuple[Array, Array]], settled: Array
) -> Array:
    """Fill in predecessors of the vertices reached along `edges` from the settled vertices."""
    n = len(predecessor)
    known = GraphEdges(True, sum(len(u) for u, _ in edges), lambda: iter(edges))
    view = MemoryView(AdjacencySet(engine, n, known), "out")
    found = engine.search(view, settled.astype(predecessor.dtype), BfsOptions()).predecessor
    return engine.xp.where(predecessor < 0, found, predecessor)


def _rows(view: GatherView, vertices: Array, xp: ModuleType) -> tuple[Array, Array, Array] | None:
    """Return the edges u -> v to some vertices v with their weights, unless these are more than a block."""
    assert view.weights is not None
    offsets = view.into.row_offsets
    begins = offsets[vertices].astype(np.int64)
    ends = xp.cumsum(offsets[vertices + 1] - begins)  # in the list of these edges
    if int(ends[-1]) > BLOCK:
        return None
    number = xp.arange(int(ends[-1]))
    row = xp.searchsorted(ends, number, side="right")
    edge = number - ends[row] + offsets[vertices + 1][row]
    return view.into.column_indices[edge], vertices[row], view.weights[edge]


def _blocks(view: GatherView, xp: ModuleType) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the edges u -> v with their weights, a block at a time."""
    assert view.weights is not None
    first = 0
    with reading(view.limited, view.into.n_edges, TIGHT_BYTES, BLOCK) as block:
        for edges in edge_blocks(view.into, xp, block=block):
            last = first + len(edges.src)
            yield edges.dst, edges.src, xp.asarray(view.weights[first:last])
            first = last
