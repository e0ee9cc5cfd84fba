"""Local work of a rank on a GPU: the kernels of `kernels/bfs_2d.cu`, and CuPy's sort and scan.

All work runs on CuPy's current stream, and memory comes from CuPy's allocator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import cupy
import numpy as np

from rapids_trav.csr.adjacency import offset_dtype
from rapids_trav.engines.cuda.runtime import loader, memory
from rapids_trav.engines.multigpu.local_work import MASK, SHIFT, Array, Compressed, Frontier, Owned, Reach

FILE = "bfs_2d.cu"
# Variants that this engine loads; local ids are 32-bit, so only the width of the offsets differs.
SPECIALISATIONS = tuple(
    (FILE, loader.defines_of(FILE, vertex_bits, edge_bits))
    for vertex_bits, edge_bits in product((32,), (32, 64))
)


def load_kernels(edge_bits: int) -> loader.Kernels:
    """Return the kernels of `FILE` for offsets of `edge_bits` bits."""
    return loader.load(FILE, edge_bits=edge_bits)


class CudaWork:
    """Steps of a level on CuPy arrays; see `local_work.LocalWork`."""

    xp = cupy

    def __init__(self, kernels: Callable[[int], loader.Kernels] = load_kernels) -> None:
        self._load = kernels

    def free_bytes(self) -> int:
        return memory.free_bytes()

    def compress(self, pieces: list[Array], n_from: int) -> Compressed:
        """Sort the keys; takes 16 bytes per edge and the pieces, each of which is freed once copied."""
        keys = cupy.empty(sum(map(len, pieces)), np.int64)
        end = len(keys)
        while pieces:
            piece = pieces.pop()
            keys[end - len(piece) : end] = piece
            end -= len(piece)
        return _grouped(keys, n_from)

    def transpose(self, edges: Compressed, n_to: int) -> Compressed:
        places = cupy.arange(len(edges.targets), dtype=np.int64)
        sources = cupy.searchsorted(edges.offsets[1:].astype(np.int64), places, side="right")
        return _grouped(edges.targets.astype(np.int64) << SHIFT | sources, n_to)

    def frontier(self, edges: Compressed, vertices: Array) -> Frontier:
        degrees = cupy.empty(len(vertices) + 1, np.int64)
        self._kernels(edges).launch(
            "frontier_degrees", len(degrees), edges.offsets, vertices, len(vertices), degrees
        )
        scanned = cupy.cumsum(degrees)
        return Frontier(vertices, int(scanned[-1]), scanned)

    def expand(
        self, edges: Compressed, frontier: Frontier, reach: Reach, block: int, n_blocks: int
    ) -> list[Array]:
        sizes = cupy.zeros(n_blocks, np.int32)
        vertices, total = frontier.vertices, frontier.n_edges
        self._kernels(edges).launch(
            "expand_claim", total, edges.offsets, edges.targets, vertices, frontier.scanned, len(vertices),
            total, np.int32(block), reach.claimed, reach.predecessor, reach.found, sizes,
        )  # fmt: skip
        return _lists(reach.found, sizes.tolist(), block)

    def pull(
        self, edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
    ) -> tuple[list[Array], int]:
        counters = cupy.zeros(1 + -(-n_blocks // 2), np.uint64)  # the edges, and two sizes in each word
        sizes = counters[1:].view(np.int32)
        n_to = len(edges.offsets) - 1
        self._kernels(edges).launch(
            "pull_claim", n_to, edges.offsets, edges.targets, n_to, frontier, np.int32(block),
            reach.claimed, reach.predecessor, reach.found, sizes, counters,
        )  # fmt: skip
        counted = counters.get()
        return _lists(reach.found, counted[1:].view(np.int32)[:n_blocks].tolist(), block), int(counted[0])

    def smallest_before(
        self, edges: Compressed, from_level: Array, to_level: Array, order: Array | None = None
    ) -> Array:
        none = np.iinfo(np.int32).max
        rank = None
        if order is not None:
            rank = cupy.empty(len(order), np.int32)
            rank[order] = cupy.arange(len(order), dtype=np.int32)
        best = cupy.full(len(to_level), none, np.int32)
        n_edges = len(edges.targets)
        self._kernels(edges).launch(
            "smallest_before", n_edges, edges.offsets, edges.targets, len(edges.offsets), n_edges,
            from_level, to_level, rank, best,
        )  # fmt: skip
        found = best != none
        if order is not None:
            return cupy.where(found, order[cupy.where(found, best, 0)], np.int32(-1))
        best[~found] = -1
        return best

    def candidates(self, edges: Compressed, frontier: Frontier) -> Array:
        vertices, total = frontier.vertices, frontier.n_edges
        keys = cupy.empty(total, np.int64)
        self._kernels(edges).launch(
            "expand_keys", total, edges.offsets, edges.targets, vertices, frontier.scanned, len(vertices),
            total, keys,
        )  # fmt: skip
        return keys

    def settle(self, owned: Owned, messages: Sequence[tuple[Array, int]], level: int) -> Array:
        n_most = min(sum(len(offsets) for offsets, _ in messages), len(owned.distance))
        frontier = cupy.empty(n_most, np.int32)
        size = cupy.zeros(1, np.int32)
        for offsets, finder in messages:
            self._kernels().launch(
                "settle", len(offsets), offsets, len(offsets), np.int32(finder), np.int32(level),
                owned.visited, owned.distance, owned.finder, frontier, size,
            )  # fmt: skip
        return frontier[: int(size[0])]

    def to_words(self, offsets: Array, n_words: int) -> Array:
        words = cupy.zeros(n_words, np.uint32)
        self._kernels().launch("list_to_bitmap", len(offsets), offsets, len(offsets), words)
        return words

    def to_offsets(self, words: Array, n_set: int | None = None) -> Array:
        offsets = cupy.empty(32 * len(words) if n_set is None else n_set, np.int32)
        size = cupy.zeros(1, np.int32)
        self._kernels().launch("bitmap_to_list", len(words), words, len(words), offsets, size)
        return offsets[: int(size[0])] if n_set is None else offsets

    def _kernels(self, edges: Compressed | None = None) -> loader.Kernels:
        return self._load(32 if edges is None else 8 * edges.offsets.dtype.itemsize)


def _lists(found: Array, sizes: list[int], block: int) -> list[Array]:
    return [found[m * block : m * block + n] for m, n in enumerate(sizes)]


def _grouped(keys: Array, n_from: int) -> Compressed:
    if len(keys):
        keys.sort()
    bounds = cupy.arange(n_from + 1, dtype=np.int64) << SHIFT
    offsets = cupy.searchsorted(keys, bounds).astype(offset_dtype(len(keys)))
    return Compressed(offsets, (keys & MASK).astype(np.int32))
