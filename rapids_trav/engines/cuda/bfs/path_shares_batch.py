"""Shares in the shortest paths from 32 sources at once; see `kernels/path_shares_batch.cu`.

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
from rapids_trav.engines.cuda.runtime.arguments import GatherSharesArguments
from rapids_trav.engines.searches import PathShares, View

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
        self._kernels.launch(
            "count_reached",
            WARP * self._n,
            sources,
            len(sources),
            self._n,
            self._distance,
            self._shares.reached,
        )

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
