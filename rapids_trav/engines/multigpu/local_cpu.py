"""Local work of a rank on the CPU: loops compiled by Numba, which release the interpreter lock.

A rank uses one thread, since ranks are threads or processes already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rapids_trav.csr.adjacency import offset_dtype
from rapids_trav.engines.multigpu.local_work import Array, Compressed, Frontier, Owned, Reach
from rapids_trav.jit.kernels import kernel
from rapids_trav.utilities.machine import available_bytes


class CpuWork:
    """Steps of a level on NumPy arrays; see `local_work.LocalWork`."""

    xp = np

    def free_bytes(self) -> int:
        return available_bytes()

    def compress(self, pieces: list[Array], n_from: int) -> Compressed:
        """Sort by counting; takes 4 bytes per edge and the pieces, each of which is freed after use."""
        counts = np.zeros(n_from + 1, np.int64)
        for keys in pieces:
            _count_upper(keys, counts)
        offsets = np.cumsum(counts)
        n_edges = int(offsets[-1])
        targets = np.empty(n_edges, np.int32)
        free = offsets[:-1].copy()
        while pieces:
            _scatter_lower(pieces.pop(), free, targets)
        return Compressed(offsets.astype(offset_dtype(n_edges), copy=False), targets)

    def transpose(self, edges: Compressed, n_to: int) -> Compressed:
        counts = np.bincount(edges.targets, minlength=n_to)
        offsets = np.zeros(n_to + 1, offset_dtype(len(edges.targets)))
        np.cumsum(counts, out=offsets[1:])
        sources = np.empty_like(edges.targets)
        _scatter_transposed(edges.offsets, edges.targets, offsets[:-1].copy(), sources)
        return Compressed(offsets, sources)

    def frontier(self, edges: Compressed, vertices: Array) -> Frontier:
        return Frontier(vertices, _n_edges(edges.offsets, vertices))

    def expand(
        self, edges: Compressed, frontier: Frontier, reach: Reach, block: int, n_blocks: int
    ) -> list[Array]:
        return _claimed(_expand, edges, frontier.vertices, reach, block, n_blocks)[0]

    def pull(
        self, edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
    ) -> tuple[list[Array], int]:
        return _claimed(_pull, edges, frontier, reach, block, n_blocks)

    def smallest_before(
        self, edges: Compressed, from_level: Array, to_level: Array, order: Array | None = None
    ) -> Array:
        best = np.full(len(to_level), -1, np.int32)
        ordered = order is not None
        _smallest_before(
            edges.offsets, edges.targets, from_level, to_level, ordered, order if ordered else best, best
        )
        return best

    def candidates(self, edges: Compressed, frontier: Frontier) -> Array:
        keys = np.empty(frontier.n_edges, np.int64)
        _candidates(edges.offsets, edges.targets, frontier.vertices, keys)
        return keys

    def settle(self, owned: Owned, messages: Sequence[tuple[Array, int]], level: int) -> Array:
        n_most = min(sum(len(offsets) for offsets, _ in messages), len(owned.distance))
        frontier = np.empty(n_most, np.int32)
        keep = owned.finder is not None
        size = 0
        for offsets, finder in messages:
            size = _settle(
                offsets, finder, level, owned.visited, owned.distance, keep,
                owned.finder if keep else owned.distance, frontier, size,
            )  # fmt: skip
        return frontier[:size]

    def to_words(self, offsets: Array, n_words: int) -> Array:
        words = np.zeros(n_words, np.uint32)
        _set_bits(offsets, words)
        return words

    def to_offsets(self, words: Array, n_set: int | None = None) -> Array:
        return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).astype(np.int32)


def _claimed(
    follow: Callable[..., int], edges: Compressed, frontier: Array, reach: Reach, block: int, n_blocks: int
) -> tuple[list[Array], int]:
    """Claim with `_expand` or `_pull`; return the offsets for each block and the edges examined."""
    counts = np.zeros(n_blocks, np.int64)
    keep = reach.predecessor is not None
    n_edges = follow(
        edges.offsets, edges.targets, frontier, reach.claimed, keep,
        reach.predecessor if keep else reach.found, block, reach.found, counts,
    )  # fmt: skip
    return [reach.found[m * block : m * block + n] for m, n in enumerate(counts.tolist())], n_edges


@kernel
def _count_upper(keys, counts):
    for i in range(len(keys)):
        counts[(keys[i] >> 32) + 1] += 1


@kernel
def _scatter_lower(keys, free, targets):
    for i in range(len(keys)):
        upper = keys[i] >> 32
        targets[free[upper]] = keys[i] & 0xFFFFFFFF
        free[upper] += 1


@kernel
def _scatter_transposed(offsets, targets, free, sources):
    for u in range(len(offsets) - 1):
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            sources[free[v]] = u
            free[v] += 1


@kernel
def _n_edges(offsets, vertices):
    n_edges = 0
    for k in range(len(vertices)):
        n_edges += offsets[vertices[k] + 1] - offsets[vertices[k]]
    return n_edges


@kernel
def _expand(offsets, targets, frontier, claimed, keep, predecessor, block, found, counts):
    followed = 0
    for k in range(len(frontier)):
        u = frontier[k]
        followed += offsets[u + 1] - offsets[u]
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            bit = np.uint32(1) << np.uint32(v & 31)
            if claimed[v >> 5] & bit:
                continue
            claimed[v >> 5] |= bit
            if keep:
                predecessor[v] = u
            m = v // block
            found[m * block + counts[m]] = v - m * block
            counts[m] += 1
    return followed


@kernel
def _pull(offsets, sources, frontier, claimed, keep, predecessor, block, found, counts):
    looked_at = 0
    for v in range(len(offsets) - 1):
        bit = np.uint32(1) << np.uint32(v & 31)
        if claimed[v >> 5] & bit:
            continue
        for e in range(offsets[v], offsets[v + 1]):
            u = sources[e]
            looked_at += 1
            if frontier[u >> 5] >> np.uint32(u & 31) & np.uint32(1):
                claimed[v >> 5] |= bit
                if keep:
                    predecessor[v] = u
                m = v // block
                found[m * block + counts[m]] = v - m * block
                counts[m] += 1
                break
    return looked_at


@kernel
def _smallest_before(offsets, targets, from_level, to_level, ordered, order, best):
    for i in range(len(offsets) - 1):  # in order, so the first found is the smallest
        u = order[i] if ordered else np.int32(i)
        if from_level[u] < 0:
            continue
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            if best[v] < 0 and to_level[v] == from_level[u] + 1:
                best[v] = u


@kernel
def _candidates(offsets, targets, frontier, keys):
    place = 0
    for k in range(len(frontier)):
        u = frontier[k]
        for e in range(offsets[u], offsets[u + 1]):
            keys[place] = np.int64(targets[e]) << 32 | np.int64(u)
            place += 1


@kernel
def _settle(offsets, finder, level, visited, distance, keep, finders, frontier, size):
    for i in range(len(offsets)):
        v = offsets[i]
        bit = np.uint32(1) << np.uint32(v & 31)
        if visited[v >> 5] & bit:
            continue
        visited[v >> 5] |= bit
        distance[v] = level
        if keep:
            finders[v] = finder
        frontier[size] = v
        size += 1
    return size


@kernel
def _set_bits(offsets, words):
    for i in range(len(offsets)):
        v = offsets[i]
        words[v >> 5] |= np.uint32(1) << np.uint32(v & 31)
