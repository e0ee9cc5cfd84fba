"""The CUDA engine: searches on one GPU, over CuPy arrays, with the kernels of `kernels/`.

CuPy is imported when an engine is made, not with this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rapids_trav.errors import TravError
from rapids_trav.ids import IntegerTable
from rapids_trav.structures import Adjacency, Array, BfsOptions, EdgeList, Search, View

if TYPE_CHECKING:
    from collections.abc import Iterator


class CudaEngine:
    """Breadth-first search and what surrounds it, on CuPy's current device and stream.

    Parameters
    ----------
    private_capacity : int
        Vertices that each block of the variant "private" keeps in shared memory; at most 4096.
    hub_words : int
        Words of the frontier, 32 vertices to a word, that each block of "auto" keeps in shared memory in a
        bottom-up step (SYSTEMS V6); at most 1024.  0, the default, measured no slower: the hubs' part of the
        frontier stays in the first level of cache by itself.
    """

    name = "cuda"
    variants = ("auto", "push", "pull", "edge", "frontier", "private", "direction", "fused")

    def __init__(self, private_capacity: int = 2048, hub_words: int = 0) -> None:
        import cupy

        self.xp = cupy
        self.private_capacity = private_capacity
        self.hub_words = hub_words

    def build_adjacency(
        self,
        chunks: Callable[[], Iterable[tuple[Array, Array]]],
        n_vertices: int,
        *,
        symmetric: bool = False,
        transpose: bool = False,
    ) -> Adjacency:
        """Compressed rows, each ascending, of the edges that `chunks()` yields; see `build.py`."""
        from rapids_trav.engines.cuda import build, memory

        with memory.rapids_allocator():
            return build.build_adjacency(chunks, n_vertices, symmetric=symmetric, transpose=transpose)

    def count_ids(self, ids: Array, count: Array) -> None:
        """Add to `count`, int64 (n,), how often each internal id stands in `ids`."""
        from rapids_trav.engines.cuda import build

        build.count_ids(ids, count)

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """The edges one by one in row order; shares `column_indices` with the adjacency."""
        from rapids_trav.engines.cuda import build

        with _device_memory("the edge list", adjacency.column_indices.nbytes):
            return build.expand_rows(adjacency)

    def bfs(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Breadth-first search from all `sources` at once: distance (n,), predecessor (n,)."""
        search = self._variant(options.variant)
        with _device_memory(f"the search ({options.variant})", self._search_bytes(view, 1, options)):
            return search(view, sources, options)

    def bfs_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """A search of its own from each of k `sources`: distance (k, n), predecessor (k, n).

        "auto" runs them together, 64 to the word; a variant by name runs them one after another.
        """
        from rapids_trav.engines.cuda import batch

        search = self._variant(options.variant)
        with _device_memory(f"{len(sources)} searches", self._search_bytes(view, len(sources), options)):
            if options.variant == "auto":
                return batch.search_each(view, sources, options)
            return batch.one_by_one(search, view, sources, options)

    def smallest_predecessors(self, into: Adjacency, distance: Array, order: Array | None = None) -> Array:
        """For each vertex its smallest neighbour one level up (by `order`, if given); -1 where none is."""
        from rapids_trav.engines.cuda import tree

        with _device_memory("the predecessors", distance.size * into.column_indices.dtype.itemsize):
            return tree.smallest_predecessors(into, distance, order)

    def synchronize(self) -> None:
        """Wait until what was launched on the current stream is done."""
        self.xp.cuda.get_current_stream().synchronize()

    def answer_columns(self, found: Search, table: IntegerTable) -> dict[str, Any]:
        """The columns of a joint search's answer, in the caller's ids and order; see `answer.py`."""
        from rapids_trav.engines.cuda import answer

        with _device_memory("the answer", 16 * len(found.distance)):
            return answer.columns(found, table)

    def walk(self, predecessor: Array, targets: Array) -> tuple[Array, Array]:
        """Root-to-target vertex lists, concatenated: `(lengths, vertices)`; see `tree.walk`."""
        from rapids_trav.engines.cuda import tree

        with _device_memory("the paths", 16 * len(targets)):
            return tree.walk(predecessor, targets)

    def _variant(self, name: str) -> Callable[[View, Array, BfsOptions], Search]:
        from rapids_trav.engines.cuda import direction, textbook

        searches = {
            "auto": self._fused,
            "fused": self._fused,
            "push": textbook.push,
            "pull": textbook.pull,
            "edge": textbook.edge,
            "frontier": textbook.frontier,
            "private": self._private,
            "direction": direction.search,
        }
        if name not in searches:
            raise TravError(
                f"variant {name!r} is not one of the cuda engine's; choose one of {', '.join(self.variants)}"
            )
        return searches[name]

    def _fused(self, view: View, sources: Array, options: BfsOptions) -> Search:
        from rapids_trav.engines.cuda import fused

        return fused.bfs_fused(view, sources, options, self.hub_words)

    def _private(self, view: View, sources: Array, options: BfsOptions) -> Search:
        from rapids_trav.engines.cuda import textbook

        return textbook.private(view, sources, options, self.private_capacity)

    @staticmethod
    def _search_bytes(view: View, n_searches: int, options: BfsOptions) -> int:
        """Result and state: distances, predecessors, and two queues or three words of bits a vertex."""
        vertex_bytes = view.out.column_indices.dtype.itemsize
        result = 4 + (vertex_bytes if options.predecessors else 0)
        return view.n_vertices * (n_searches * result + 2 * vertex_bytes + 96 * (n_searches > 1))


@contextmanager
def _device_memory(task: str, n_bytes: int) -> Iterator[None]:
    from rapids_trav.engines.cuda import memory

    with memory.rapids_allocator(), memory.saying_what_is_needed(task, n_bytes):
        yield
