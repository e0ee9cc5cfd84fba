"""Independent searches from many sources, run together 64 to a word (search_each).

M. Then et al., "The More the Merrier: Efficient Multi-Source Graph Traversal", PVLDB 8(4), 2014;
H. Liu, H. Huang, Y. Hu, "iBFS: Concurrent Breadth-First Search on GPUs", SIGMOD 2016.

Searches that reach the same vertex on the same level share the read of its row.  Sources are taken in batches
of a few words of 64.  Each level of a batch has three steps:

1. push or pull the frontier's bits;
2. settle them: write distances and count;
3. the host reads the counts once and chooses the next direction.

Sums over the distances of many searches, up to 256 of which run together; see `kernels/distance_sums.cu`.

The searches run as in `batch`; instead of storing distances, each level adds up the distances it has found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.bfs.levels import Counters, Counts, CudaRecorder, levels
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.interface import BfsOptions, Search
from rapids_trav.engines.searches import DistanceSums, SumsOf, View
from rapids_trav.utilities.progress import report

PullHeavyArguments = arguments_of("bfs_batch.cu", "PullHeavyArguments")
SettleArguments = arguments_of("distance_sums.cu", "SettleArguments")
WORD = 64
WORDS = loader.TUNABLES["distance_sums.cu"]["MOST_WORDS"]  # of a batch: each row is read once for 256 sources
HEAVY_DEGREE = loader.TUNABLES["bfs_batch.cu"]["HEAVY_DEGREE"]
# Pull once the frontier has more than 1/ALPHA of the edges of vertices that some search has yet to reach.
ALPHA = 4


def search_each(view: View, sources: Array, options: BfsOptions) -> Search:
    """Run k searches together; return distances (k, n) and predecessors (k, n)."""
    shape, vertex_type = (len(sources), view.n_vertices), view.out.column_indices.dtype
    sources = cupy.ascontiguousarray(sources, vertex_type)
    distance = cupy.full(shape, -1, np.int32)
    predecessor = cupy.full(shape, -1, vertex_type) if options.predecessors else None
    recorder = CudaRecorder(view.out, options.trace)
    kernels = loader.load_for("bfs_batch.cu", view.out)
    for part in parts(len(sources)):
        settle = partial(_settle_distances, kernels, distance[part])
        own_predecessor = None if predecessor is None else predecessor[part]
        batch = Batch(kernels, view, sources[part], settle, own_predecessor)
        run(batch, levels(options, distance[part]), recorder)
    return Search(distance, predecessor, recorder.rows)


def parts(n_sources: int, together: int = WORD * WORDS) -> Iterator[slice]:
    """Yield the sources of each batch, which has `together` at most, rounded up to a word."""
    size = WORD * max(min(-(-together // WORD), WORDS), 1)
    for begin in range(0, n_sources, size):
        yield slice(begin, begin + size)


def run(batch: Batch, expanded: Iterable[int], recorder: CudaRecorder) -> None:
    """Search on the levels of `expanded`, until one finds no vertex."""
    counts = batch.begin()
    recorder.start()
    for level in expanded:
        frontier = counts.found
        pulled = counts.scout * ALPHA > counts.remaining
        counts = batch.pull(level) if pulled else batch.push(level)
        if pulled:
            recorder.pull(level, frontier, counts.edges, scanned=batch.state_bytes, state_bytes=8)
        else:
            recorder.push(level, frontier, counts.edges, scanned=batch.state_bytes)
        if not counts.found:
            break


class Level(NamedTuple):
    """A level of a batch that is about to end: its kernels' first arguments, in their order."""

    out_offsets: Array
    n_vertices: int
    n_words: int
    wanted: Array
    level: np.int32
    frontier: Array
    visited: Array
    next: Array


# Launches the end of a level, whose counters it is given: the vertices found become the frontier, and the
# answer is updated.
Settle = Callable[[Level, Array], None]


def _settle_distances(kernels: loader.Kernels, distance: Array, level: Level, counters: Array) -> None:
    kernels.launch("batch_settle", level.n_vertices * level.n_words, *level, distance, counters)


class Batch:
    """The bits of one batch: frontier, next and visited, (n, words) each."""

    def __init__(
        self,
        kernels: loader.Kernels,
        view: View,
        sources: Array,
        settle: Settle,
        predecessor: Array | None = None,
    ) -> None:
        self._kernels = kernels
        self._view = view
        self._sources = sources
        self._end = settle
        self._predecessor = predecessor
        self._n = view.n_vertices
        self._words = -(-len(sources) // WORD)
        self._frontier, self._next, self._visited = cupy.zeros((3, self._n * self._words), np.uint64)
        self._wanted = cupy.asarray(_mask(len(sources)))
        self._heavy_out = _heavy(view, view.out)
        self._heavy_in: Array | None = None
        self._counters = Counters()

    @property
    def state_bytes(self) -> int:
        """Bytes that a level reads and writes in addition to the edges: frontier, next and visited."""
        return 3 * self._frontier.nbytes

    def begin(self) -> Counts:
        """Put every search at its source."""
        self._kernels.launch(
            "batch_seed", len(self._sources), self._sources, len(self._sources), self._words, self._next
        )
        return self._settle(0, self._counters.fresh())

    def push(self, level: int) -> Counts:
        out, heavy = self._view.out, self._heavy_out
        shape = (out.row_offsets, out.column_indices, self._n, self._words)
        state = (self._frontier, self._visited, self._next, self._predecessor)
        row = self._counters.fresh()
        self._kernels.launch("batch_push", self._n * self._words, *shape, *state, row)
        if len(heavy):
            grid = loader.column_blocks(len(heavy) * self._words)
            self._kernels.launch_grid("batch_push_heavy", grid, *shape, heavy, len(heavy), *state, row)
        return self._settle(level, row)

    def pull(self, level: int) -> Counts:
        into = self._view.into
        if self._heavy_in is None:
            self._heavy_in = self._heavy_out if into is self._view.out else _heavy(self._view, into)
        row = self._counters.fresh()
        self._kernels.launch(
            "batch_pull", self._n * self._words, into.row_offsets, into.column_indices, self._n, self._words,
            self._wanted, self._frontier, self._visited, self._next, self._predecessor, row,
        )  # fmt: skip
        if n_heavy := len(self._heavy_in):
            arguments = PullHeavyArguments(
                row_offsets=into.row_offsets,
                column_indices=into.column_indices,
                n_vertices=self._n,
                n_words=self._words,
                heavy=self._heavy_in,
                n_heavy=n_heavy,
                wanted=self._wanted,
                frontier=self._frontier,
                visited=self._visited,
                next=self._next,
                predecessor=self._predecessor,
                counters=row,
            )
            grid = loader.column_blocks(n_heavy * self._words)
            self._kernels.launch_grid("batch_pull_heavy", grid, arguments)
        return self._settle(level, row)

    def _settle(self, number: int, counters: Array) -> Counts:
        level = Level(
            self._view.out.row_offsets, self._n, self._words, self._wanted, np.int32(number), self._frontier,
            self._visited, self._next,
        )  # fmt: skip
        self._end(level, counters)
        return self._counters.read()


def _mask(n_sources: int) -> np.ndarray:
    """Return a mask with a set bit for each source."""
    return np.array([(1 << min(left, WORD)) - 1 for left in range(n_sources, 0, -WORD)], np.uint64)


def _heavy(view: View, adjacency: Adjacency) -> Array:
    """Return the rows that are divided, which are kept with the adjacency unless its memory is limited."""
    kept = adjacency.prepared.get("heavy rows")
    if isinstance(kept, cupy.ndarray):
        return kept
    heavy = heavy_rows(adjacency, HEAVY_DEGREE)
    if not getattr(view, "limited", False):
        cupy.cuda.get_current_stream().synchronize()  # other streams may read them
        adjacency.prepared["heavy rows"] = heavy
    return heavy


def heavy_rows(adjacency: Adjacency, least_degree: int) -> Array:
    """Return the vertices with at least `least_degree` edges."""
    degrees = cupy.diff(adjacency.row_offsets)
    return cupy.flatnonzero(degrees >= least_degree).astype(adjacency.column_indices.dtype)


def distance_sums(view: View, sources: Array, of: SumsOf, together: int) -> DistanceSums:
    """Search from each of the distinct `sources`, and sum the distances at each vertex or for each source."""
    steps, ends = (loader.load_for(file, view.out) for file in ("bfs_batch.cu", "distance_sums.cu"))
    sources = cupy.ascontiguousarray(sources, view.out.column_indices.dtype)
    sums = DistanceSums.none(view.n_vertices if of == "vertices" else len(sources), cupy)
    for part in parts(len(sources), together):
        if of == "vertices":
            settle = partial(_settle_vertices, ends, sums)
        else:
            found = cupy.zeros(WORD * WORDS, np.uint64)  # by each search, on the level that ends
            own = DistanceSums(*(array[part] for array in sums.arrays))
            settle = partial(_settle_sources, ends, own, found)
        run(Batch(steps, view, sources[part], settle), count(1), CudaRecorder(view.out, active=False))
        report(part.stop, len(sources), "sources")
    return sums


def _settle_vertices(kernels: loader.Kernels, sums: DistanceSums, level: Level, counters: Array) -> None:
    """Add to the sums at each vertex, over the searches."""
    arguments = SettleArguments(
        **level._asdict(),
        reached=sums.reached,
        total=sums.total,
        inverse=sums.inverse,
        largest=sums.largest,
        counters=counters,
    )
    kernels.launch("settle_vertices", level.n_vertices, arguments)


def _settle_sources(
    kernels: loader.Kernels, sums: DistanceSums, found: Array, level: Level, counters: Array
) -> None:
    """Add to the sums of each search, over the vertices."""
    n_sources = len(sums.reached)
    kernels.launch("settle_sources", level.n_vertices, *level, found, counters)
    kernels.launch("add_level_of_sources", n_sources, n_sources, level.level, found, *sums.arrays)
