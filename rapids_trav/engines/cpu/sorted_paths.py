"""Shortest paths by weight over rows sorted by weight.

U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49,
2003; V. Chakaravarthy et al., "Scalable single source shortest path algorithms for massively parallel
systems", IPDPS 2014 (long edges are pulled).

1. `sort_rows` sorts each row by weight.  How far beyond a hub most edges have a settled end is learned from a
   search from the largest one.  Where that is many windows away, as in a grid, nothing is gained.
2. A search pushes window by window, in ascending order of distance, along whole rows until it meets hubs.
   From there on, an edge is pushed only if it offers less than a bound, and ends the row if not.
3. Beyond the bound each vertex pulls along its own row, until what is left of it cannot help; and once more
   from the vertices that changed.
4. Those that changed again push to the others.

Thus hubs read the light ends of their rows, and other vertices what may shorten their path: about a twentieth
of the edges of a graph with skewed degrees, where the vertex program reads each edge more than once.

Invariants.  A distance is the sum of the weights along some path, or FAR.  Weights are not negative, so no
path through a vertex at `begin` or beyond leads below `begin`.  A vertex that is settled below `least` has
pushed along its whole row.  Distances of integers are unsigned here: FAR plus a weight does not overflow.

Distances are exactly those of the vertex program `shortest_paths`.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, WeightedRows
from rapids_trav.engines.cpu.runtime.intrinsics import prefetch
from rapids_trav.engines.runs import WeightedPaths
from rapids_trav.engines.weighted_rows import MOST_WINDOWS, SETTLED, narrowed, window_width
from rapids_trav.jit.kernels import Threads, aside, kernel
from rapids_trav.utilities import machine

pays_after = 3  # sorting takes about as long as so many runs of the program (R-MAT of scale 18, two cores)

IDLE, FAR, NEAR, PASSED = 0, 1, 2, 3  # a vertex is on no list, on that list, or has pushed in its window
LARGE = 128  # a round is large if its rows have more than this part of the edges
FEWEST_WIDTHS = 2  # windows that a typical weight is wide; with fewer, weights hardly vary
MOST_WIDTH = 1 << 60  # of a window of integers
AHEAD = 8  # vertices between prefetching a row and reading it
ASKED = 4  # distances that are prefetched for a row


def sort_rows(adjacency: Adjacency, weights: Array) -> WeightedRows | None:
    """Return the rows with the entries of each in ascending order of weight; None if memory is short.

    Weights of 8 bytes are stored in 4 if that loses nothing.
    """
    n_edges, columns = adjacency.n_edges, adjacency.column_indices
    n_bytes = 3 * weights.dtype.itemsize * n_edges
    if n_edges == 0 or columns.dtype.itemsize > 4 or n_bytes > machine.available_bytes():
        return None
    weights = narrowed(weights)
    entries = np.empty((n_edges, 2), f"i{weights.dtype.itemsize}")
    entries[:, 0], entries[:, 1] = columns, weights.view(entries.dtype)
    with Threads() as team:
        if entries.itemsize == 4:
            whole = entries.view(np.int64).ravel()  # ascending by weight, which is the upper half
            team.run(_sort_short, adjacency.n_vertices, adjacency.row_offsets, whole, grain=4096)
        else:
            team.run(_sort_long, adjacency.n_vertices, adjacency.row_offsets, entries, grain=4096)
    return WeightedRows(adjacency.row_offsets, entries, weights.dtype)


def search(out: WeightedRows, into: WeightedRows, start: Array, predecessors: bool) -> WeightedPaths | None:
    """Return the shortest distances from the nearest of `start`; see `engines.interface.SortedPaths`."""
    reach = _reach(out)
    if reach == 0:
        return None
    work = _Search(out, start)
    bound, least, _ = work.push(reach)
    if bound < work.far:
        work.pull(into, bound, least)
    else:
        least = 0
    distance = work.distance if out.weight_dtype.kind == "f" else work.distance.view(np.int64)
    return WeightedPaths(distance, work.tree(into, least) if predecessors else None)


def _reach(rows: WeightedRows) -> float:
    """Return how far to push beyond the hubs; it is found once for `rows`.

    It is 0 if that is too far, or if weights hardly vary: the light ends are then most of the rows.
    """
    if "reach" not in rows.learned:
        reach, width = 0, window_width(rows, np)
        if FEWEST_WIDTHS * width < rows.learned["typical"]:
            work = _Search(rows, np.array([np.argmax(np.diff(rows.row_offsets))]))
            _, begin, end = work.push(0, SETTLED)
            if begin < work.far and end - begin <= MOST_WINDOWS * width:
                reach = end - begin + width
        rows.learned.update(reach=reach, useless=reach == 0)
    return rows.learned["reach"]


class _Search:
    """The distances of a search, and its lists of vertices; `far` is the distance of those not reached."""

    def __init__(self, rows: WeightedRows, start: Array) -> None:
        n, integers = rows.n_vertices, rows.weight_dtype.kind == "i"
        self.rows = rows
        self.far = np.iinfo(np.int64).max if integers else np.inf
        self.distance = np.full(n, self.far, np.uint64 if integers else np.float64)
        self.distance[start] = 0
        self._lists = [np.empty(n, np.int32) for _ in range(3)]
        self._flags = np.zeros(n, np.uint8)
        self._active = start

    def push(self, reach: float, enough: float = 1) -> tuple[float, float, float]:
        """Push from the active vertices until none is left, or a part of the edges has a settled end.

        Return the bound, the begin of the window in which hubs were met (both `far` if that is nowhere, or if
        `reach` is 0), and the end of the last window.
        """
        rows, active, to_distance = self.rows, self._active, self.distance.dtype.type
        self._lists[2][: len(active)] = active
        self._flags[active] = FAR
        width = min(window_width(rows, np), MOST_WIDTH)
        found = aside(
            rows.n_edges, _push, rows.row_offsets, *_flat(rows), self.distance, self._flags, *self._lists,
            len(active), to_distance(self.far), to_distance(width), to_distance(min(reach, MOST_WIDTH)),
            rows.n_edges // LARGE, int(enough * rows.n_edges),
        )  # fmt: skip
        bound, begin, end = (limit.item() for limit in map(to_distance, found))
        return bound, begin, end

    def pull(self, into: WeightedRows, bound: float, least: float) -> None:
        """Let the vertices beyond `bound` pull, of which others are at `least` or beyond."""
        to_distance = self.distance.dtype.type
        with Threads() as team:
            for _ in range(2):
                parts = team.run(
                    _pull, into.n_vertices, into.row_offsets, *_flat(into), self.distance, to_distance(bound),
                    to_distance(least), self._lists[0], grain=4096,
                )  # fmt: skip
                changed = [(first, n, low) for first, n, low in parts if n]
                if not changed:
                    return
                least = min(low for _, _, low in changed)
        self._active = np.concatenate([self._lists[0][first : first + n] for first, n, _ in changed])
        self._flags[:] = IDLE
        self.push(0)

    def tree(self, into: WeightedRows, least: float) -> Array:
        """Return each vertex's smallest nearer neighbour that explains its distance, or -1.

        Those below `least`, which are few, look for the vertices that they explain.
        """
        predecessor = np.empty(into.n_vertices, np.int32)
        at_least = self.distance.dtype.type(least)
        with Threads() as team:
            team.run(
                _tight, into.n_vertices, into.row_offsets, *_flat(into), self.distance,
                self.distance.dtype.type(self.far), at_least, predecessor, grain=4096,
            )  # fmt: skip
        _tight_from(
            np.flatnonzero(self.distance < at_least), self.rows.row_offsets, *_flat(self.rows), self.distance,
            predecessor,
        )  # fmt: skip
        return predecessor


def _flat(rows: WeightedRows) -> tuple[Array, Array]:
    """Return the entries as neighbours, at even positions, and as weights, at odd ones."""
    flat = rows.entries.ravel()
    return flat, flat.view(rows.weight_dtype)


@kernel
def _sort_short(row_offsets, whole, begin, end):
    for v in range(begin, end):
        row = whole[row_offsets[v] : row_offsets[v + 1]]
        if len(row) > 1:
            row.sort()


@kernel
def _sort_long(row_offsets, entries, begin, end):
    for v in range(begin, end):
        row = entries[row_offsets[v] : row_offsets[v + 1]]
        if len(row) > 1:
            row[:] = row[np.argsort(row[:, 1], kind="mergesort")]


@kernel
def _push(
    row_offsets, neighbors, weights, distance, flags, near, spare, far, n_far, unreached, width, reach, large,
    enough, stop,
):  # fmt: skip
    """Return the bound, where the window with the first large round began, and the end of the last one."""
    to_distance = distance.dtype.type
    bound = core = unreached
    begin = end = to_distance(0)
    n_settled = 0
    n_pushed, n_scanned = 1, 0  # in the last window, and to find it
    while n_far > 0 and n_settled < enough and stop[0] == 0:
        kept = 0
        begin = unreached
        for i in range(n_far):
            v = far[i]
            if flags[v] != FAR:
                continue
            if distance[v] < bound:
                far[kept] = v
                kept += 1
                begin = min(begin, distance[v])
            else:
                flags[v] = IDLE
        if kept == 0:
            break
        if n_pushed < n_scanned and width < to_distance(MOST_WIDTH):
            width += width
        n_scanned, n_pushed = n_far, 0
        end = min(begin + width, bound)
        n_far = n_near = 0
        for i in range(kept):
            v = far[i]
            if distance[v] < end:
                flags[v] = NEAR
                near[n_near] = v
                n_near += 1
                n_settled += row_offsets[v + 1] - row_offsets[v]
            else:
                far[n_far] = v
                n_far += 1
        while n_near > 0 and stop[0] == 0:
            n_round = 0
            for i in range(n_near):
                n_round += row_offsets[near[i] + 1] - row_offsets[near[i]]
            n_pushed += n_round
            if core == unreached and n_round > large:
                core = begin
                if reach > to_distance(0):
                    bound = begin + reach
            n_next = 0
            for i in range(n_near):
                prefetch(neighbors, 2 * np.int64(row_offsets[near[min(i + AHEAD, n_near - 1)]]))
                soon = near[min(i + AHEAD // 2, n_near - 1)]
                for e in range(row_offsets[soon], min(row_offsets[soon] + ASKED, row_offsets[soon + 1])):
                    prefetch(distance, neighbors[2 * e])
                u = near[i]
                flags[u] = PASSED
                own = distance[u]
                for e in range(row_offsets[u], row_offsets[u + 1]):
                    offer = own + to_distance(weights[2 * e + 1])
                    if offer >= bound:
                        break
                    v = neighbors[2 * e]
                    if offer >= distance[v]:
                        continue
                    distance[v] = offer
                    if offer < end:
                        if flags[v] != NEAR:
                            if flags[v] != PASSED:
                                n_settled += row_offsets[v + 1] - row_offsets[v]
                            flags[v] = NEAR
                            spare[n_next] = v
                            n_next += 1
                    elif flags[v] == IDLE:
                        flags[v] = FAR
                        far[n_far] = v
                        n_far += 1
            near, spare = spare, near
            n_near = n_next
    return bound, core, end


@kernel
def _pull(row_offsets, neighbors, weights, distance, bound, least, changed, begin, end):
    """List the vertices that changed from `changed[begin]` on; return `begin`, and their number and least."""
    to_distance = distance.dtype.type
    n_changed = 0
    lowest = bound
    for v in range(begin, end):
        former = best = distance[v]
        if former < bound:
            continue
        for e in range(row_offsets[v], row_offsets[v + 1]):
            weight = to_distance(weights[2 * e + 1])
            if least + weight >= best:
                break
            best = min(best, distance[neighbors[2 * e]] + weight)
        if best < former:
            distance[v] = best
            lowest = best if n_changed == 0 else min(lowest, best)
            changed[begin + n_changed] = v
            n_changed += 1
    return begin, n_changed, lowest


@kernel
def _tight(row_offsets, neighbors, weights, distance, unreached, least, predecessor, begin, end):
    """Look for predecessors at `least` or beyond."""
    to_distance = distance.dtype.type
    for v in range(begin, end):
        first = -1
        own = distance[v]
        for e in range(row_offsets[v], row_offsets[v + 1]):
            weight = to_distance(weights[2 * e + 1])
            if least + weight > own or own == unreached:
                break
            u = neighbors[2 * e]
            if (first < 0 or u < first) and distance[u] < own and distance[u] + weight == own:
                first = u
        predecessor[v] = first


@kernel
def _tight_from(nearest, row_offsets, neighbors, weights, distance, predecessor):
    """Let the vertices of `nearest`, which ascend, become predecessors."""
    to_distance = distance.dtype.type
    for u in nearest:
        own = distance[u]
        for e in range(row_offsets[u], row_offsets[u + 1]):
            v = neighbors[2 * e]
            nearer = own < distance[v] and own + to_distance(weights[2 * e + 1]) == distance[v]
            if nearer and (predecessor[v] < 0 or u < predecessor[v]):
                predecessor[v] = u
