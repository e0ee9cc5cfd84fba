"""Shares of vertices and edges in shortest paths, the sums behind betweenness.

U. Brandes, "A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25(2), 2001.

Searches run from 32 sources at a time (`path_shares_batch`) or, if memory is short, from one after another;
see `kernels/path_shares.cu`.

Shares in the shortest paths from 32 sources at once; see `kernels/path_shares_batch.cu`.

For each batch of sources:

1. push the numbers of paths, level by level, until no search finds a vertex; the host reads one count for
   each level;
2. gather the shares, from the farthest level back to the sources; the host reads nothing.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.batch import heavy_rows
from rapids_trav.engines.cuda.bfs.levels import Counters
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.searches import PathShares, View
from rapids_trav.utilities.progress import report

ShareArguments = arguments_of("path_shares.cu", "ShareArguments")
GatherSharesArguments = arguments_of("path_shares_batch.cu", "GatherSharesArguments")
WARP = 32
HEAVY_DEGREE = loader.TUNABLES["path_shares_batch.cu"]["HEAVY_DEGREE"]


class Batch:
    """Searches from up to 32 sources at a time, which add to the same shares."""

    def __init__(self, view: View, shares: PathShares) -> None:
        self._out = view.out
        self._n = n = view.n_vertices
        self._shares = shares
        self._kernels = loader.load_for("path_shares_batch.cu", view.out)
        self._counters = Counters()
        self._heavy = heavy_rows(view.out, HEAVY_DEGREE)
        self._frontier, self._next, self._open = (cupy.zeros(n, np.uint32) for _ in range(3))
        self._distance = cupy.empty((n, WARP), np.int32)
        self._paths, self._weight = (cupy.empty((n, WARP)) for _ in range(2))
        self._totals = cupy.zeros((len(self._heavy), WARP))

    def add(self, sources: Array) -> None:
        """Add the shares in the shortest paths from these sources."""
        n_levels = self._count_paths(sources)
        self._gather(n_levels)
        counted = (self._n, self._distance, self._shares.reached)
        self._kernels.launch("count_reached", WARP * self._n, sources, len(sources), *counted)

    def _count_paths(self, sources: Array) -> int:
        """Count the shortest paths to every vertex; return the number of levels."""
        self._distance.fill(-1)
        self._paths.fill(0)
        self._open.fill((1 << len(sources)) - 1)
        self._kernels.launch("begin_paths", len(sources), sources, len(sources), self._next, self._paths)
        n_levels = 0
        while self._settle(n_levels):
            n_levels += 1
            self._push()
        return n_levels

    def _push(self) -> None:
        rows = (self._out.row_offsets, self._out.column_indices)
        state = (self._frontier, self._open, self._next, self._paths)
        self._kernels.launch("push_paths", WARP * self._n, *rows, self._n, *state)
        if n_heavy := len(self._heavy):
            grid = loader.column_blocks(n_heavy)
            self._kernels.launch_grid("push_paths_heavy", grid, *rows, self._heavy, n_heavy, *state)

    def _settle(self, level: int) -> int:
        """End a level; return the number of vertices that the searches found on it."""
        row = self._counters.fresh()
        self._kernels.launch(
            "settle_paths", WARP * self._n, self._n, np.int32(level), self._next, self._frontier, self._open,
            self._distance, row,
        )  # fmt: skip
        return self._counters.read().found

    def _gather(self, n_levels: int) -> None:
        ahead, here = self._next, self._frontier  # both zero: the last level found no vertex
        n_heavy = len(self._heavy)
        for level in range(n_levels - 1, -1, -1):
            arguments = GatherSharesArguments(
                row_offsets=self._out.row_offsets,
                column_indices=self._out.column_indices,
                n_vertices=self._n,
                heavy=self._heavy,
                n_heavy=n_heavy,
                level=level,
                distance=self._distance,
                paths=self._paths,
                ahead=ahead,
                here=here,
                weight=self._weight,
                totals=self._totals,
                of_vertices=self._shares.vertices,
                of_edges=self._shares.edges,
                reached=self._shares.reached,
            )
            self._kernels.launch("gather_shares", WARP * self._n, arguments)
            if n_heavy:
                self._kernels.launch_grid("gather_heavy", loader.column_blocks(n_heavy), arguments)
                self._kernels.launch("share_heavy", WARP * n_heavy, arguments)
            ahead, here = here, ahead
        ahead.fill(0)
        here.fill(0)


def shortest_path_shares(view: View, sources: Array, edges: bool, together: int) -> PathShares:
    """Sum the shares of vertices, and of edges if asked, in the shortest paths from `sources`."""
    of_edges = cupy.zeros(view.out.n_edges) if edges else None
    shares = PathShares(cupy.zeros(view.n_vertices), of_edges, cupy.zeros(view.n_vertices, np.int64))
    sources = cupy.ascontiguousarray(sources, view.out.column_indices.dtype)
    try:
        batch = Batch(view, shares) if together >= WARP else None
    except MemoryError:  # a pool holds more than was known when the size was chosen
        batch = None
    if batch is None:
        _one_by_one(view, sources, shares)
        return shares
    for begin in range(0, len(sources), WARP):
        batch.add(sources[begin : begin + WARP])
        report(min(begin + WARP, len(sources)), len(sources), "sources")
    return shares


def _one_by_one(view: View, sources: Array, shares: PathShares) -> None:
    out, n = view.out, view.n_vertices
    kernels = loader.load_for("path_shares.cu", out)
    order = cupy.empty(n, out.column_indices.dtype)
    weight, paths = cupy.empty(n), cupy.empty(n)
    distance, n_found = cupy.empty(n, np.int32), cupy.empty(1, np.uint64)
    for done, source in enumerate(cupy.asnumpy(sources).tolist()):
        report(done, len(sources), "sources")
        distance.fill(-1)
        paths.fill(0)
        n_found.fill(1)
        order[0], distance[source], paths[source] = source, 0, 1
        firsts = [0, 1]  # first position of each level in `order`
        while firsts[-1] > firsts[-2]:
            first, size = firsts[-2], firsts[-1] - firsts[-2]
            kernels.launch(
                "count_paths", 32 * size, out.row_offsets, out.column_indices, first, size,
                np.int32(len(firsts) - 1), order, distance, paths, n_found,
            )  # fmt: skip
            firsts.append(int(n_found[0]))
        for level in range(len(firsts) - 3, -1, -1):
            first, size = firsts[level], firsts[level + 1] - firsts[level]
            arguments = ShareArguments(
                row_offsets=out.row_offsets,
                column_indices=out.column_indices,
                first=first,
                n_level=size,
                level=level,
                order=order,
                distance=distance,
                paths=paths,
                weight=weight,
                of_vertices=shares.vertices,
                of_edges=shares.edges,
                reached=shares.reached,
            )
            kernels.launch("add_shares", 32 * size, arguments)
        shares.reached[source] += firsts[-1] - 1
