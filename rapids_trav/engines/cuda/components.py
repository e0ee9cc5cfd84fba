"""Weakly connected components by linking trees on the GPU; `kernels/components.cu` has the steps.

M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling"
(Afforest), IPDPS 2018.

Rows in host memory are read in place.  The first neighbours and the rows outside the largest component are
usually a small part of the edges, so less data crosses the link than if all edges were copied once.  Columns
in files are copied once, part by part.
"""

from __future__ import annotations

from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.bfs.levels import Counters, Counts
from rapids_trav.engines.cuda.build.host_rows import lies_outside, offsets_on_device, over_host
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.iterations import RunProgress
from rapids_trav.engines.runs import LinkView, Moved, Run, RunOptions
from rapids_trav.memory.model.program import LINKED_PART

SAMPLE = 1024  # vertices that are looked at for the largest component
MOST_PART = 1 << 26  # bytes of columns in a file that are copied at a time


def components(view: LinkView, places: Array | None, options: RunOptions) -> Run:
    """Return for each vertex the smallest place in its component; see `engines.interface.Links`."""
    rows = _with_offsets(view) if view.paged else view.rows
    trees, progress = _Trees(rows, options), RunProgress(0, options.trace)
    if isinstance(rows.column_indices, cupy.ndarray):
        if trees.link_first(progress) > 1:  # else the graph is connected
            largest = -1 if view.other is None else trees.frequent_root()
            others = () if view.other is None or view.other is view.rows else (view.other,)
            trees.link_rest((rows, *others), largest, progress)
    else:
        assert view.budget is not None
        more = min(view.budget.free, MOST_PART - LINKED_PART)
        with view.budget.hold(more, "parts of the edges"):
            trees.link_parts(LINKED_PART + more, progress)
    return Run(trees.labels(places), progress.iteration, converged=True, trace=progress.trace)


def _with_offsets(view: LinkView) -> Adjacency:
    """Return the rows with offsets on the device, and columns as kernels read them in host memory.

    The columns stay NumPy arrays if kernels cannot read them.
    """
    assert view.budget is not None
    rows = view.rows
    columns = over_host(rows.column_indices)
    offsets = offsets_on_device(rows, view.budget.free)
    return replace(
        rows, row_offsets=offsets, column_indices=rows.column_indices if columns is None else columns
    )


class _Trees:
    """A forest over the vertices of a graph, whose trees are linked along edges."""

    def __init__(self, rows: Adjacency, options: RunOptions) -> None:
        self._rows, self._n, self._on_page = rows, rows.n_vertices, options.on_page
        self._kernels = loader.load_for("components.cu", rows)
        self._counters = Counters(at_once=8)
        self._parent, self._queue = (cupy.empty(self._n, rows.column_indices.dtype) for _ in range(2))

    def link_first(self, progress: RunProgress) -> int:
        """Link each vertex with its first two neighbours; return the number of trees."""
        rows, n, parent, launch = self._rows, self._n, self._parent, self._kernels.launch
        edges = (rows.row_offsets, rows.column_indices)
        if (first := rows.first_neighbors) is None:
            first = self._queue
            loader.load_for("build.cu", rows).launch("first_neighbors", n, *edges, n, first)
        launch("begin_below", n, first, n, parent)
        counters = self._counters.fresh()
        launch("link_first", n, *edges, first, n, parent, counters)
        launch("compress", n, n, parent, counters)
        counts = self._counters.read()
        self._record(progress, "hook", n, counts.edges)
        return counts.found

    def frequent_root(self) -> int:
        """Return the most frequent root among evenly spaced vertices, just after `compress`."""
        sample = self._parent[:: max(self._n // SAMPLE, 1)].get()
        roots, counts = np.unique(sample, return_counts=True)
        return int(roots[counts.argmax()])

    def link_rest(self, sets: tuple[Adjacency, ...], largest: int, progress: RunProgress) -> None:
        """Link the rows of the vertices that are not in the component of `largest`; -1: all rows."""
        n_rows, counters = 0, cupy.zeros(len(Counts._fields), np.uint64)
        for rows in sets:
            listed = self._link(rows, largest, counters)
            n_rows += listed.light + listed.heavy
        self._kernels.launch("compress", self._n, self._n, self._parent, counters)
        is_recorded = progress.is_wanted or self._on_page is not None
        self._record(progress, "rest", n_rows, Counts(*counters.tolist()).edges if is_recorded else 0)

    def _link(self, rows: Adjacency, largest: int, counters: Array) -> Counts:
        """Link rows to their ends; return the counts of their list, and count their edges."""
        n, parent, queue, kernels = self._n, self._parent, self._queue, self._kernels
        edges = (rows.row_offsets, rows.column_indices)
        kernels.launch("list_rows", n, rows.row_offsets, n, largest, parent, queue, self._counters.fresh())
        listed = self._counters.read()
        kernels.launch("link_light", listed.light, *edges, queue, listed.light, parent, counters)
        if listed.heavy:
            grid = loader.column_blocks(listed.heavy)
            kernels.launch_grid("link_heavy", grid, *edges, n, queue, listed.heavy, parent, counters)
        return listed

    def link_parts(self, n_bytes: int, progress: RunProgress) -> None:
        """Link all edges, whose columns are copied from a file in parts of up to `n_bytes`."""
        rows, n, columns = self._rows, self._n, self._rows.column_indices
        self._parent[...] = cupy.arange(n, dtype=columns.dtype)
        size = n_bytes // columns.itemsize
        for first in range(0, rows.n_edges, size):
            part = cupy.asarray(columns[first : first + size])
            self._kernels.launch(
                "link_part", len(part), rows.row_offsets, part, n, first, len(part), self._parent
            )
            if self._on_page is not None:
                self._on_page(1, part.nbytes)
        self._kernels.launch("compress", n, n, self._parent, self._counters.fresh())
        self._counters.read()
        n_parts = -(-rows.n_edges // size)
        progress.record("rest", n, rows.n_edges, np.nan, Moved(n_parts, columns.nbytes))

    def labels(self, places: Array | None) -> Array:
        """Return the smallest place in each vertex's tree; None: the root itself."""
        if places is None:
            return self._parent
        for name in ("smallest_place", "take_place"):
            self._kernels.launch(name, self._n, self._parent, self._n, places)
        return places

    def _record(self, progress: RunProgress, mode: str, active: int, edges: int) -> None:
        columns = self._rows.column_indices
        n_bytes = edges * columns.itemsize if lies_outside(columns) else 0
        progress.record(mode, active, edges, np.nan, Moved(n_bytes=n_bytes))
        if self._on_page is not None and n_bytes:
            self._on_page(1, n_bytes)
