"""The plain searches on the CPU, a baseline for the direction-optimising search.

Every level costs them a pass over all vertices ("push",
"pull") or all edges ("edge").  Threads write without claiming vertices: if two write to the same vertex, both
write the same level, and each writes a predecessor that is valid for it.

"frontier" uses a queue on one thread and is the reference for all others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.bfs.direction_optimizing import SearchState, start
from rapids_trav.engines.interface import BfsOptions, Search, View
from rapids_trav.jit.kernels import Threads, kernel
from rapids_trav.jit.launches import launched


def push(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search with a pass over all vertices for each level, from the last level to unvisited neighbours."""
    return _level_by_level(_push_level, view, sources, options)


def pull(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search likewise, from unvisited vertices to the last level."""
    return _level_by_level(_pull_level, view, sources, options)


def edge(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search with a pass over all edges for each level."""
    return _level_by_level(_edge_level, view, sources, options)


def _level_by_level(step: Callable, view: View, sources: Array, options: BfsOptions) -> Search:
    state = start(view, sources, options)
    n_frontier = len(state.sources)
    with Threads() as team:
        while n_frontier > 0 and not state.ended:
            state.level += 1
            n_frontier = step(team, view, state, n_frontier)
    return state.result()


def _push_level(team: Threads, view: View, state: SearchState, n_frontier: int) -> int:
    """Let each vertex of the last level label its unvisited neighbours."""
    adjacency = view.out
    edges = sum(team.run(
        _push, view.n_vertices, adjacency.row_offsets, adjacency.column_indices,
        state.distance, state.predecessor, state.keep, state.level, grain=4096,
    ))  # fmt: skip
    state.recorder.push(state.level, n_frontier, edges)
    return int(np.count_nonzero(state.distance == state.level))


@kernel
def _push(row_offsets, column_indices, distance, predecessor, keep, level, begin, end):
    edges = 0
    for u in range(begin, end):
        if distance[u] == level - 1:
            edges += row_offsets[u + 1] - row_offsets[u]
            for e in range(row_offsets[u], row_offsets[u + 1]):
                v = column_indices[e]
                if distance[v] < 0:
                    distance[v] = level
                    if keep:
                        predecessor[v] = u
    return edges


def _pull_level(team: Threads, view: View, state: SearchState, n_frontier: int) -> int:
    """Let each unvisited vertex look for a neighbour of the last level and stop at the first."""
    adjacency = view.into
    counts = team.run(
        _pull, adjacency.n_linked, adjacency.row_offsets, adjacency.column_indices,
        state.distance, state.predecessor, state.keep, state.level, grain=4096,
    )  # fmt: skip
    found, checked, looked = (sum(column) for column in zip(*counts, strict=True))
    state.recorder.pull(state.level, n_frontier, checked, looked)
    return found


@kernel
def _pull(row_offsets, column_indices, distance, predecessor, keep, level, begin, end):
    found = 0
    checked = 0
    looked = 0
    for v in range(begin, end):
        if distance[v] < 0:
            looked += 1
            for e in range(row_offsets[v], row_offsets[v + 1]):
                u = column_indices[e]
                checked += 1
                if distance[u] == level - 1:
                    distance[v] = level
                    if keep:
                        predecessor[v] = u
                    found += 1
                    break
    return found, checked, looked


def _edge_level(team: Threads, view: View, state: SearchState, n_frontier: int) -> int:
    """Let each edge that leaves the last level label its head, if that is unvisited."""
    coo = view.coo
    team.run(
        _edge, len(coo.src), coo.src, coo.dst,
        state.distance, state.predecessor, state.keep, state.level, grain=16384,
    )  # fmt: skip
    state.recorder.push(state.level, n_frontier, len(coo.src))
    return int(np.count_nonzero(state.distance == state.level))


@kernel
def _edge(src, dst, distance, predecessor, keep, level, begin, end):
    for e in range(begin, end):
        u = src[e]
        v = dst[e]
        if distance[u] == level - 1 and distance[v] < 0:
            distance[v] = level
            if keep:
                predecessor[v] = u


def frontier(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search level by level with a queue that holds each reached vertex once, in order of distance."""
    state = start(view, sources, options)
    queue = np.empty(view.n_vertices, view.out.column_indices.dtype)
    head, tail = 0, len(state.sources)
    queue[:tail] = state.sources
    while head < tail and not state.ended:
        state.level += 1
        launched(_expand.__name__)
        end, edges = _expand(
            view.out.row_offsets, view.out.column_indices,
            state.distance, state.predecessor, state.keep, state.level, queue, head, tail,
        )  # fmt: skip
        state.recorder.push(state.level, tail - head, edges)
        head, tail = tail, end
    return state.result()


@kernel
def _expand(row_offsets, column_indices, distance, predecessor, keep, level, queue, head, tail):
    edges = 0
    end = tail
    for i in range(head, tail):
        u = queue[i]
        edges += row_offsets[u + 1] - row_offsets[u]
        for e in range(row_offsets[u], row_offsets[u + 1]):
            v = column_indices[e]
            if distance[v] < 0:
                distance[v] = level
                if keep:
                    predecessor[v] = u
                queue[end] = v
                end += 1
    return end, edges
