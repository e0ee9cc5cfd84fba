"""Weakly connected components by linking trees, lock-free, on any number of threads.

M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling"
(Afforest), IPDPS 2018.

`parent` holds a forest in which no parent is larger than its vertex.  A root is linked below a smaller one by
compare-and-swap.  A vertex that is not a root may get any of its ancestors as its parent at any time, so
everything else is read and written without atomic operations.  In the end the root of a component is its
smallest vertex, whichever thread was first.

In memory (`_in_memory`):

1. Every vertex goes below its first neighbour if that is smaller.  No other thread writes its parent, so this
   takes no compare-and-swap (J. Jaiganesh, M. Burtscher, "A high-performance connected components
   implementation for GPUs", HPDC 2018, begin alike).
2. It is linked with its second neighbour, and with its first if that is larger.
3. Unless one tree is left, a sample of vertices shows which component is the largest so far.
4. Rows of vertices outside that component are linked to their end, or until the vertex has joined it.

Rows of the largest component may be skipped only if every edge is in the rows of both its ends: either the
edge is seen from its other end, or both ends are in that component.  The component is identified by one of
its vertices for the whole run, so that skipping a row remains correct while components grow together.

Out of memory (`_streamed`) the rows are read once, page by page, directly from the mapped files: whole rows
at first, until a sample shows a large component, then as in step 4.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cpu.runtime.intrinsics import compare_and_swap, prefetch
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import LinkView, Moved, Run, RunOptions
from rapids_trav.jit.kernels import Threads, kernel

FIRST = 2  # neighbours of each vertex that are linked before the sample
SAMPLE = 1024  # vertices that are sampled
LARGE = 8  # in a streamed run, a component with 1/LARGE of the sample is large enough to skip
VERTICES = 1 << 15  # least for one thread: 100 us of work or more, which is worth waking it
AHEAD = 8  # rows between prefetching the parent of a neighbour and linking it
BLOCK_BYTES = 1 << 12  # bytes of a mapped file that are read together
BLOCKS = 64  # least for one thread
PAGE_BLOCKS = 256  # blocks between two reports of progress in a streamed run
N_COUNTS = 4
ROWS_SCANNED, ROWS, EDGES, BLOCKS_READ = range(N_COUNTS)  # entries of the counts of `link_rows`


def components(view: LinkView, places: Array | None, options: RunOptions) -> Run:
    """Return for each vertex the smallest place in its component.

    `places`, (n,), has the place of each vertex in the caller's order and is overwritten; None: its number.
    """
    n = view.n_vertices
    with Threads() as team:
        progress = RunProgress(0, options.trace)
        if view.paged:
            parent = _streamed(view, options, team, progress)
        else:
            parent = _in_memory(view, team, progress)
        labels = parent
        if places is not None:
            team.run(smallest_place, n, parent, places, grain=VERTICES)
            team.run(take_place, n, parent, places, grain=VERTICES)
            labels = places
    return Run(labels, progress.iteration, converged=True, trace=progress.trace)


def _in_memory(view: LinkView, team: Threads, progress: RunProgress) -> Array:
    """Link a few neighbours of each vertex first, then the rest of the rows that need it."""
    rows, n = view.rows, view.n_vertices
    parent = np.empty(n, rows.column_indices.dtype)
    edges = (rows.row_offsets, rows.column_indices)
    team.run(begin_below, n, *edges, parent, grain=VERTICES)
    team.run(compress, n, parent, grain=VERTICES)
    read = sum(team.run(link_first, n, *edges, parent, grain=VERTICES))
    roots = sum(team.run(compress, n, parent, grain=VERTICES))
    progress.record("hook", n, read, np.nan)
    if roots <= 1:  # the graph is connected
        return parent
    large = -1 if view.other is None else frequent_root(parent)[0]
    counts = _link(team, view.rows, parent, large, FIRST, 0, _n_blocks(view.rows))
    if view.other is not None and view.other is not view.rows:
        counts = counts + _link(team, view.other, parent, large, 0, 0, _n_blocks(view.other))
    team.run(compress, n, parent, grain=VERTICES)
    progress.record("rest", int(counts[ROWS]), int(counts[EDGES]), np.nan)
    return parent


def _streamed(view: LinkView, options: RunOptions, team: Threads, progress: RunProgress) -> Array:
    """Read and link the rows once, page by page."""
    rows, n = view.rows, view.n_vertices
    parent = np.arange(n, dtype=rows.column_indices.dtype)
    large, mode, pages, n_bytes, counted = -1, "hook", 0, 0, np.zeros(N_COUNTS, np.int64)
    for first in range(0, _n_blocks(rows), PAGE_BLOCKS):
        last = min(first + PAGE_BLOCKS, _n_blocks(rows))
        counts = _link(team, rows, parent, large, 0, first, last)
        page_bytes = _bytes_read(rows, counts, first, last)
        pages, n_bytes, counted = pages + 1, n_bytes + page_bytes, counted + counts
        if options.on_page is not None:
            options.on_page(1, page_bytes)
        if view.other is not None and large < 0:
            found, share = frequent_root(parent)
            if share * LARGE >= min(SAMPLE, n):
                progress.record(mode, int(counted[ROWS]), int(counted[EDGES]), np.nan, Moved(pages, n_bytes))
                large, mode, pages, n_bytes, counted = found, "rest", 0, 0, np.zeros(N_COUNTS, np.int64)
    team.run(compress, n, parent, grain=VERTICES)
    progress.record(mode, int(counted[ROWS]), int(counted[EDGES]), np.nan, Moved(pages, n_bytes))
    return parent


def _link(
    team: Threads, rows: Adjacency, parent: Array, large: int, skipped: int, first: int, last: int
) -> Array:
    """Link the rows in blocks `first` to `last` - 1; return the sums of the threads' counts."""
    skipping = 0 if large < 0 else _n_blocks(rows) * VERTICES // rows.n_vertices  # about VERTICES rows
    counts = team.run(
        link_rows, last - first, rows.row_offsets, rows.column_indices, parent, large, skipped,
        _block(rows), first, grain=max(BLOCKS, skipping),
    )  # fmt: skip
    return np.sum(counts, axis=0)


def _block(rows: Adjacency) -> int:
    """Return the number of edges in a block."""
    return BLOCK_BYTES // rows.column_indices.dtype.itemsize


def _n_blocks(rows: Adjacency) -> int:
    return -(-rows.n_edges // _block(rows))


def _bytes_read(rows: Adjacency, counts: Array, first: int, last: int) -> int:
    """Return the bytes of a page that were read; the very last block may be shorter than the others."""
    block = _block(rows)
    most = min(last * block, rows.n_edges) - first * block
    columns = min(int(counts[BLOCKS_READ]) * block, most) * rows.column_indices.dtype.itemsize
    return columns + int(counts[ROWS_SCANNED]) * rows.row_offsets.dtype.itemsize


@kernel
def begin_below(row_offsets, columns, parent, begin, end):
    """Put each vertex below its first neighbour, or below that one's parent, if the neighbour is smaller."""
    for v in range(begin, end):
        below = np.int64(v)
        e = row_offsets[v]
        if e < row_offsets[v + 1]:
            u = np.int64(columns[e])
            if u < v:
                below = np.int64(parent[u]) if u >= begin else u
        parent[v] = below


@kernel
def link_first(row_offsets, columns, parent, begin, end):
    """Link each vertex with its first `FIRST` neighbours unless `begin_below` did; return their number."""
    read = 0
    most = np.int64(len(columns)) - 1
    for v in range(begin, end):
        ahead = row_offsets[min(v + AHEAD, end - 1)] + 1
        prefetch(parent, np.int64(columns[min(ahead, most)]) if most >= 0 else 0)
        e = row_offsets[v]
        last = min(e + FIRST, row_offsets[v + 1])
        read += last - e
        if e < last and columns[e] < v:
            e += 1
        while e < last:
            link(parent, np.int64(v), np.int64(columns[e]))
            e += 1
    return read


@kernel
def link_rows(row_offsets, columns, parent, large, skipped, block, first, begin, end):
    """Link the edges in these blocks, counted from `first`, except the first `skipped` of each row.

    If `large` is not negative, a row is skipped once its vertex is in the same component as `large`.
    Return the counts.
    """
    counts = np.zeros(N_COUNTS, np.int64)
    n = len(row_offsets) - 1
    begin = (first + begin) * block
    end = min((first + end) * block, len(columns))
    row = np.searchsorted(row_offsets, begin, side="right") - 1
    unread = np.int64(0)  # the first block that has not been counted yet
    while row < n and row_offsets[row] < end:
        counts[ROWS_SCANNED] += row_offsets[row] >= begin
        e = max(row_offsets[row] + skipped, begin)
        last = min(row_offsets[row + 1], end)
        if e < last and (large < 0 or root_of(parent, row) != root_of(parent, large)):
            counts[ROWS] += 1
            read = e
            while read < last:
                link(parent, row, np.int64(columns[read]))
                read += 1
                if large >= 0 and root_of(parent, row) == root_of(parent, large):
                    break
            counts[EDGES] += read - e
            touched = max(e // block, unread)
            unread = max((read - 1) // block + 1, unread)
            counts[BLOCKS_READ] += unread - touched
        row += 1
    return counts


@kernel
def link(parent, u, v):
    """Join the trees of two vertices: the larger of their roots goes below an ancestor of the other."""
    a, b = np.int64(parent[u]), np.int64(parent[v])
    while a != b:
        if a < b:
            a, b = b, a
        above = np.int64(parent[a])
        if above == a:
            above = np.int64(compare_and_swap(parent, a, parent.dtype.type(a), parent.dtype.type(b)))
            if above == a:
                return
        if above == b:
            return
        further = np.int64(parent[above])
        if further != above:
            parent[a] = further
        a = further


@kernel
def root_of(parent, v):
    above = np.int64(parent[v])
    while above != v:
        further = np.int64(parent[above])
        if further != above:
            parent[v] = further
        v, above = above, further
    return v


@kernel
def compress(parent, begin, end):
    """Put each vertex directly below its root; return the number of roots."""
    roots = 0
    for v in range(begin, end):
        above = np.int64(parent[v])
        roots += above == v
        further = np.int64(parent[above])
        if further != above:
            while further != above:
                above, further = further, np.int64(parent[further])
            parent[v] = above
    return roots


@kernel
def frequent_root(parent):
    """Return the most frequent root among evenly spaced vertices, and how many of them have it."""
    n = np.int64(len(parent))
    k = min(SAMPLE, n)
    sample = np.empty(k, np.int64)
    for i in range(k):
        sample[i] = root_of(parent, i * n // k)
    sample.sort()
    best, longest, first = np.int64(-1), 0, 0
    for i in range(k):
        if sample[i] != sample[first]:
            first = i
        if i - first + 1 > longest:
            best, longest = sample[i], i - first + 1
    return best, longest


@kernel
def smallest_place(parent, places, begin, end):
    """Give each root the smallest of the places in its tree."""
    for v in range(begin, end):
        root = np.int64(parent[v])
        own = places[v]
        now = places[root]
        while own < now:
            now = compare_and_swap(places, root, now, own)


@kernel
def take_place(parent, places, begin, end):
    """Give each vertex the place of its root."""
    for v in range(begin, end):
        if parent[v] != v:
            places[v] = places[np.int64(parent[v])]
