"""The CPU engine: every search of the package, without a GPU.

Kernels are compiled by Numba at their first use and cached on disk; importing this module imports neither
Numba nor the kernels.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.interface import (
    BfsOptions,
    Chunks,
    DistanceSums,
    HostArrays,
    Ordered,
    PairDistances,
    PathShares,
    Place,
    Processor,
    Search,
    SearchStream,
    SortedPaths,
    SumsOf,
    View,
    WholeAnswers,
)
from rapids_trav.engines.runs import GatherView, LinkView, Run, RunOptions
from rapids_trav.engines.searches import known_variant, one_by_one
from rapids_trav.programs.definition import Program, Scalar
from rapids_trav.programs.run_state import RunState
from rapids_trav.utilities import machine


class CpuEngine:
    """Breadth-first search, vertex programs and the building of adjacencies, on NumPy arrays.

    There are `NUMBA_NUM_THREADS` threads, by default as many as the cores that the process may use.  Any
    number of Python threads may use one engine at the same time.
    """

    name = "cpu"
    xp = np
    variants: tuple[str, ...] = ("auto", "push", "pull", "edge", "frontier", "direction")
    place: Place = "host"
    processor: Processor = "cpu"
    degree_sort: Literal["none", "radix"] = "none"
    gathers: tuple[str, ...] = ("rows",)
    schedules: tuple[str, ...] = ("auto", "sweep", "paths")
    prefers_asynchronous = True
    answers: WholeAnswers | None = None
    bfs_stream: SearchStream | None = None  # a search already takes all threads

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """Build compressed, ascending rows of the edges of `chunks()`; see `build.build_adjacency`."""
        from rapids_trav.engines.cpu.build import build_adjacency

        return build_adjacency(chunks, n_vertices, symmetric=symmetric, transpose=transpose)

    def build_outside(
        self,
        chunks: Chunks,
        n_vertices: int,
        outside: HostArrays,
        *,
        symmetric: bool = False,
        transpose: bool = False,
    ) -> Adjacency:
        """Build an adjacency in arrays that `outside` allocates, which may be files."""
        from rapids_trav.engines.cpu.build import build_adjacency

        return build_adjacency(
            chunks,
            n_vertices,
            symmetric=symmetric,
            transpose=transpose,
            allocate=outside.allocate,
            allocate_spare=outside.allocate_spare,
        )

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """Return the adjacency unchanged: NumPy arrays are the engine's own."""
        return adjacency

    def transposed(self, adjacency: Adjacency) -> Adjacency:
        """Return the edges grouped by destination; see `turn.transposed`."""
        from rapids_trav.engines.cpu.turn import transposed

        return transposed(adjacency)

    def symmetrized(self, adjacency: Adjacency, transpose: Adjacency | None = None) -> Adjacency:
        """Return rows that hold each edge at both its ends, a self-loop once; see `turn.symmetrized`."""
        from rapids_trav.engines.cpu.turn import symmetrized

        return symmetrized(adjacency, transpose)

    def free_bytes(self) -> int:
        """Return the bytes of memory that are available."""
        return machine.available_bytes()

    def count_ids(self, ids: Array, count: Array) -> None:
        """Add to `count`, int64 (n,), the number of times each internal id occurs in `ids`."""
        count += np.bincount(ids, minlength=len(count))

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """Return the edges one by one in row order; the result shares `column_indices` with the adjacency."""
        columns = adjacency.column_indices
        rows = np.arange(adjacency.n_vertices, dtype=columns.dtype)
        return EdgeList(np.repeat(rows, np.diff(adjacency.row_offsets)), columns)

    def search(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search breadth-first from all `sources` jointly: distance (n,), predecessor (n,)."""
        if options.variant in ("auto", "direction"):
            from rapids_trav.engines.cpu.bfs import direction_optimizing

            return direction_optimizing.search(view, sources, options)
        return known_variant(self.name, self.variants, options.variant)(view, sources, options)

    def search_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k `sources` separately: distance (k, n), predecessor (k, n)."""
        from rapids_trav.engines.cpu.bfs import multi_source

        if options.variant == "auto":
            return multi_source.search_each(view, sources, options)
        return one_by_one(self.search, view, sources, options, np)

    def distance_sums(self, view: View, sources: Array, of: SumsOf, together: int) -> DistanceSums:
        """Sum the distances of a search from each of `sources`: at each vertex, or for each source."""
        from rapids_trav.engines.cpu.bfs.distance_sums import distance_sums

        return distance_sums(view, sources, of, together)

    def pair_distances(self, view: View, starts: Array, ends: Array) -> PairDistances:
        """Return the distance from each vertex of `starts` to the vertex at the same position in `ends`."""
        from rapids_trav.engines.cpu.bfs.pair_distances import pair_distances

        return pair_distances(view, starts, ends)

    def shortest_path_shares(self, view: View, sources: Array, edges: bool, together: int) -> PathShares:
        """Sum the shares of vertices, and of edges if asked, in the shortest paths from `sources`."""
        from rapids_trav.engines.cpu.bfs.shortest_path_shares import shortest_path_shares

        return shortest_path_shares(view, sources, edges)

    def smallest_predecessors(self, view: View, distance: Array, ordered: Ordered | None = None) -> Array:
        """Return each vertex's smallest neighbour one level closer (as `ordered`, if given), or -1."""
        from rapids_trav.engines.cpu.predecessors import smallest_predecessors

        return smallest_predecessors(view.into, distance, None if ordered is None else ordered.order)

    def run(self, view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
        """Iterate a vertex program from `state` until it ends; see `programs.run.run`."""
        from rapids_trav.engines.cpu.programs.run import run as run_program

        return run_program(view, program, state, options)

    def links(self, view: LinkView, places: Array | None, options: RunOptions) -> Run:
        """Find components by linking trees; see `components.components`."""
        from rapids_trav.engines.cpu.components import components

        return components(view, places, options)

    def tight_predecessors(
        self, into: Adjacency, weights: Array, distance: Array, unreached: Scalar
    ) -> Array:
        """Return each vertex's smallest nearer neighbour that explains its distance by weight, or -1."""
        from rapids_trav.engines.cpu.predecessors import tight_predecessors

        return tight_predecessors(into, weights, distance, unreached)

    @property
    def sorted_paths(self) -> SortedPaths | None:
        """Its searches by weight over rows sorted by weight; see `sorted_paths.py`."""
        from rapids_trav.engines.cpu import sorted_paths

        return sorted_paths

    def synchronize(self) -> None:
        """Return at once: all work is synchronous."""

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Return root-to-target paths, concatenated: `(lengths, vertices)`; see `predecessors.walk`."""
        from rapids_trav.engines.cpu.predecessors import walk

        return walk(predecessor, targets)
