"""Many independent breadth-first searches at once, with one bit for each.

Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann and Vo, "The More the Merrier: Efficient
Multi-Source Graph Traversal", PVLDB 8(4), 2014.

Up to 64 sources form a group.  Each vertex has a word `seen` with the group's sources that have reached it,
and a word `frontier` with those that reached it in the last level.  One visit to an edge serves all sources
in the word.

- push: a frontier vertex passes on its word; a neighbour takes the bits that it has not seen.
- pull: a vertex that some source has yet to reach collects words from its neighbours until none is missing.

A level is pulled when its frontier has a large part of the edges of the vertices not yet complete.  Groups
are independent and each runs on one thread.  Sources are split into at least as many groups as threads,
unless there is so little to do that a thread would take longer to start.

Searches that share the visits to edges also share the cost of starting.  That is faster for many searches on
a dense graph whose words stay in the cache, and on graphs so small that starting is most of a search.  Others
run separately on different threads (`separately`): such a search examines few edges, because it turns to
pull, its state stays in a core's cache, and it does not wait for others at levels.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.bfs import direction_optimizing
from rapids_trav.engines.cpu.bfs.direction_optimizing import CpuRecorder, limit_of, targets_of
from rapids_trav.engines.cpu.runtime.intrinsics import Watch, load, search_all, trailing_zeros
from rapids_trav.engines.interface import BfsOptions, LevelTrace, Search, View
from rapids_trav.jit.kernels import Threads, kernel

GROUP = 64
SHARED = 3 << 18  # edges plus results above which several groups beat one: some 2 ms of work
PULL_ABOVE = 4  # pull when the frontier has more than a quarter of the edges of incomplete vertices


def search(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search from each of `sources`; return rows of distances and predecessors.

    A row ends when its own targets are reached or at the depth limit.  Rows may be spaced further apart than
    their length.  With a trace, each group of sources adds its own rows, one group after another.
    """
    n_sources, n_vertices = len(sources), view.n_vertices
    dtype = view.out.column_indices.dtype
    distance = _spaced_rows(n_sources, n_vertices, np.dtype(np.int32))
    predecessor = _spaced_rows(n_sources if options.predecessors else 0, n_vertices, dtype)
    sources = np.asarray(sources, np.int64)
    traces: dict[int, list[LevelTrace]] = {}

    shared = view.out.n_edges + n_sources * n_vertices > SHARED
    n_groups = max(-(-n_sources // GROUP), min(Threads().size, n_sources) if shared else 0)
    bounds = [n_sources * i // max(n_groups, 1) for i in range(n_groups + 1)]
    watch = Watch(n_sources, "sources")

    def search_groups(begin: int, end: int) -> None:
        for group in range(begin, end):
            rows = slice(bounds[group], bounds[group + 1])
            traces[group] = _search_group(
                view, sources[rows], options, distance[rows], predecessor[rows], watch.stop
            )
            if watch.stopped:
                break
            watch.done(bounds[group + 1] - bounds[group])

    if n_groups:
        work = n_groups * view.out.n_edges + n_sources * n_vertices
        search_all(search_groups, n_groups, watch, work, n_parts=n_groups)
    return Search(
        distance[:, :n_vertices],
        predecessor[:, :n_vertices] if options.predecessors else None,
        [row for group in range(n_groups) for row in traces[group]],
    )


def _spaced_rows(n_rows: int, length: int, dtype: np.dtype) -> Array:
    """Return uninitialised rows, spaced so that writing a column of them does not thrash a few cache sets.

    If the length itself spreads 64 rows over 16 cache sets or more, which can hold them, the rows are
    contiguous; otherwise they are an odd number of cache lines apart.
    """
    per_line = 64 // dtype.itemsize
    if length // per_line % 8:
        return np.empty((n_rows, length), dtype)
    return np.empty((n_rows, per_line * (-(-length // per_line) | 1)), dtype)


def _search_group(
    view: View, sources: Array, options: BfsOptions, distance: Array, predecessor: Array, stop: Array
) -> list[LevelTrace]:
    """Search from one group of sources; return the rows of its trace."""
    n_vertices, out, into = view.n_vertices, view.out, view.into
    seen = np.zeros(n_vertices, np.int64)
    frontiers = np.zeros((2, n_vertices), np.int64)  # level i reads row i % 2 and writes the other
    queues = np.empty((2, n_vertices), out.column_indices.dtype)  # the vertices of each frontier
    bits = np.left_shift(1, np.arange(len(sources)), dtype=np.int64)
    distance.fill(-1)
    predecessor.fill(-1)
    distance[np.arange(len(sources)), sources] = 0
    seen[sources] = bits
    frontiers[0, sources] = bits
    queues[0, : len(sources)] = sources
    limit, targets, has_targets = limit_of(options), targets_of(options), options.targets is not None

    recorder = CpuRecorder(options.trace, out.column_indices.itemsize)
    edges = int((out.row_offsets[sources + 1] - out.row_offsets[sources]).sum())
    progress = (0, len(sources), edges, out.n_edges, np.bitwise_or.reduce(bits))
    while True:
        level, before = progress[:2]
        pulled, checked, *progress = _levels(
            out.row_offsets, out.column_indices, into.row_offsets, into.column_indices, into.n_linked,
            seen, frontiers, queues, distance, predecessor, options.predecessors, targets, has_targets,
            min(limit, level + 1) if options.trace else limit, stop, *progress,
        )  # fmt: skip
        if progress[0] > level:
            if pulled:
                recorder.pull(progress[0], before, checked, n_vertices)
            else:
                recorder.push(progress[0], before, checked)
        if not options.trace or progress[0] == level:
            return recorder.rows


@kernel
def _levels(
    out_offsets, out_columns, in_offsets, in_columns, n_linked, seen, frontiers, queues, distance,
    predecessor, keep, targets, has_targets, limit, stop, level, n_frontier, edges, edges_left, alive,
):  # fmt: skip
    """Search levels up to `limit`.

    Return whether the last level was pulled, the edges it examined, and the arguments for the next call.
    `edges` is the number of edges that leave the frontier.  `edges_left` is the number of edges that enter
    vertices which some live source, one that still has a frontier, has yet to reach.
    """
    pulls = False
    checked = 0
    while level < limit and n_frontier > 0 and load(stop, 0) == 0:
        if has_targets:
            done = alive
            for i in range(len(targets)):
                done &= seen[targets[i]]
            alive &= ~done
        if alive == 0:
            break
        frontier = frontiers[level & 1]
        found = frontiers[~level & 1]
        queue = queues[level & 1]
        found_queue = queues[~level & 1]
        level += 1
        pulls = PULL_ABOVE * edges > edges_left
        if pulls:
            n_frontier, edges, edges_left, alive, checked = _pull(
                in_offsets, in_columns, n_linked, out_offsets, seen, frontier, found, found_queue,
                distance, predecessor, keep, level, alive, stop,
            )  # fmt: skip
            frontier[:] = 0
        else:
            n_frontier, edges, completed, alive, checked = push(
                out_offsets, out_columns, in_offsets, seen, frontier, queue, n_frontier, found, found_queue,
                distance, predecessor, keep, level, alive, stop,
            )  # fmt: skip
            edges_left -= completed
    return pulls, checked, level, n_frontier, edges, edges_left, alive


@kernel
def push(
    row_offsets, column_indices, in_offsets, seen, frontier, queue, n_frontier, found, found_queue,
    distance, predecessor, keep, level, alive, stop,
):  # fmt: skip
    n_found = 0
    edges = 0
    completed = 0
    checked = 0
    reached = 0
    for i in range(n_frontier):
        u = queue[i]
        word = frontier[u] & alive
        frontier[u] = 0
        if word == 0:
            continue
        if load(stop, 0) != 0:
            break
        checked += row_offsets[u + 1] - row_offsets[u]
        for e in range(row_offsets[u], row_offsets[u + 1]):
            v = column_indices[e]
            new = word & ~seen[v]
            if new != 0:
                if found[v] == 0:
                    found_queue[n_found] = v
                    n_found += 1
                    edges += row_offsets[v + 1] - row_offsets[v]
                found[v] |= new
                seen[v] |= new
                reached |= new
                if alive & ~seen[v] == 0:
                    completed += in_offsets[v + 1] - in_offsets[v]
                if distance is not None:
                    _label(new, v, u, level, distance, predecessor, keep)
    return n_found, edges, completed, reached, checked


@kernel
def _pull(
    row_offsets, column_indices, n_linked, out_offsets, seen, frontier, found, found_queue,
    distance, predecessor, keep, level, alive, stop,
):  # fmt: skip
    """Let each of the first `n_linked` vertices look for sources that it lacks; the others have no edges."""
    n_found = 0
    edges = 0
    edges_left = 0
    checked = 0
    reached = 0
    for v in range(n_linked):
        missing = alive & ~seen[v]
        new = 0
        if load(stop, 0) != 0:
            break
        if missing != 0:
            degree = row_offsets[v + 1] - row_offsets[v]
            for e in range(row_offsets[v], row_offsets[v + 1]):
                u = column_indices[e]
                checked += 1
                word = frontier[u] & missing
                if word != 0:
                    _label(word, v, u, level, distance, predecessor, keep)
                    new |= word
                    missing &= ~word
                    if missing == 0:
                        break
            if missing != 0:
                edges_left += degree
            if new != 0:
                seen[v] |= new
                reached |= new
                found_queue[n_found] = v
                n_found += 1
                edges += out_offsets[v + 1] - out_offsets[v]
        found[v] = new
    return n_found, edges, edges_left, reached, checked


@kernel
def _label(sources, v, u, level, distance, predecessor, keep):
    while sources != 0:
        source = trailing_zeros(sources)
        distance[source, v] = level
        if keep:
            predecessor[source, v] = u
        sources &= sources - 1


# Measured on two cores with 2 MB of cache each, for 2 to 128 sources, on social and citation networks of
# 4,000 to 81,000 vertices, R-MAT of scale 14 and 18, a random graph, grids, paths and a star.
FEW_VERTICES = 1 << 17  # up to here a word for each vertex stays in a core's cache
MANY_SOURCES = 64  # enough to fill words; worth running together on twice as many vertices
FEWEST_VERTICES = 1 << 14  # up to here starting is most of a search
NEIGHBORS = 8  # average degree from which searches meet after few levels


def search_each(view: View, sources: Array, options: BfsOptions) -> Search:
    """Search from each of `sources`; return rows of distances and predecessors, and the traces in order."""
    if together(view.out, len(sources)):
        return search(view, sources, options)
    return separately(view, sources, options)


def together(adjacency: Adjacency, n_sources: int) -> bool:
    """Return whether searches are faster if they share visits to edges."""
    n, n_entries = adjacency.n_vertices, adjacency.n_edges
    most = 2 * FEW_VERTICES if n_sources >= MANY_SOURCES else FEW_VERTICES
    meeting = n <= FEWEST_VERTICES or (n <= most and n_entries >= NEIGHBORS * n)
    return n_sources != 1 and meeting


def separately(view: View, sources: Array, options: BfsOptions) -> Search:
    """Run as many searches at a time as there are threads; the last searches share the threads evenly."""
    k = len(sources)
    if k == 1:
        found = direction_optimizing.search(view, sources, options)
        predecessor = None if found.predecessor is None else found.predecessor[None]
        return Search(found.distance[None], predecessor, found.trace, counters=found.counters)
    shape, dtype = (k, view.n_vertices), view.out.column_indices.dtype
    distance = np.empty(shape, np.int32)
    predecessor = np.empty(shape, dtype) if options.predecessors else None
    traces: list[list[LevelTrace]] = [[] for _ in range(k)]

    def search_alone(first: int, n_threads: int, begin: int, end: int) -> None:
        with Threads.limited(n_threads):
            for i in range(first + begin, first + end):
                found = direction_optimizing.search(view, sources[i : i + 1], options)
                distance[i] = found.distance
                if predecessor is not None:
                    predecessor[i] = found.predecessor
                traces[i] = found.trace

    with Threads() as team:
        shared = k % team.size  # searches left when every thread has run equally many
        if k > shared:
            team.run(search_alone, k - shared, 0, 1, grain=1)
        if shared:
            team.run(search_alone, shared, k - shared, team.size // shared, grain=1)
    return Search(distance, predecessor, [row for trace in traces for row in trace])
