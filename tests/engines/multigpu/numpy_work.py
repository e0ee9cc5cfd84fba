"""A rank's own work in plain NumPy, in the same steps as the kernels: the reference for both engines."""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import offset_dtype
from rapids_trav.engines.multigpu.local_work import MASK, SHIFT, Compressed, Frontier


class NumpyWork:
    """`local_work.LocalWork` in NumPy: slow, and without any parallelism that could go wrong."""

    xp = np

    def free_bytes(self):
        return 1 << 40

    def compress(self, pieces, n_from):
        keys = np.sort(np.concatenate([np.empty(0, np.int64), *pieces]))
        pieces.clear()
        offsets = np.searchsorted(keys >> SHIFT, np.arange(n_from + 1)).astype(offset_dtype(len(keys)))
        return Compressed(offsets, (keys & MASK).astype(np.int32))

    def transpose(self, edges, n_to):
        sources = np.repeat(np.arange(len(edges.offsets) - 1), np.diff(edges.offsets))
        return self.compress([edges.targets.astype(np.int64) << SHIFT | sources], n_to)

    def frontier(self, edges, vertices):
        return Frontier(vertices, int((edges.offsets[vertices + 1] - edges.offsets[vertices]).sum()))

    def followed(self, edges, frontier):
        """Return both ends of every edge of the frontier, by K5's formula for the g-th edge."""
        degrees = edges.offsets[frontier + 1] - edges.offsets[frontier]
        scanned = np.append(0, np.cumsum(degrees, dtype=np.int64))
        g = np.arange(scanned[-1])
        k = np.searchsorted(scanned, g, side="right") - 1  # max {k: scanned[k] <= g}
        u = frontier[k]
        return u, edges.targets[edges.offsets[u] + g - scanned[k]]

    def expand(self, edges, frontier, reach, block, n_blocks):
        found = [[] for _ in range(n_blocks)]
        u, v = self.followed(edges, frontier.vertices)
        for source, target in zip(u.tolist(), v.tolist(), strict=True):
            word, bit = target >> 5, np.uint32(1 << (target & 31))
            old = reach.claimed[word]
            reach.claimed[word] = old | bit
            if not old & bit:
                found[target // block].append(target % block)
                if reach.predecessor is not None:
                    reach.predecessor[target] = source
        return [np.array(offsets, np.int32) for offsets in found]

    def pull(self, edges, frontier, reach, block, n_blocks):
        found = [[] for _ in range(n_blocks)]
        looked_at = 0
        for v in range(len(edges.offsets) - 1):
            bit = np.uint32(1 << (v & 31))
            if reach.claimed[v >> 5] & bit:
                continue
            for u in edges.targets[edges.offsets[v] : edges.offsets[v + 1]].tolist():
                looked_at += 1
                if frontier[u >> 5] >> np.uint32(u & 31) & 1:
                    reach.claimed[v >> 5] |= bit
                    found[v // block].append(v % block)
                    if reach.predecessor is not None:
                        reach.predecessor[v] = u
                    break
        return [np.array(offsets, np.int32) for offsets in found], looked_at

    def smallest_before(self, edges, from_level, to_level, order=None):
        if order is not None:
            rows = [edges.targets[edges.offsets[u] : edges.offsets[u + 1]] for u in order]
            offsets = np.append(0, np.cumsum([len(row) for row in rows]))
            moved = type(edges)(offsets, np.concatenate(rows))
            best = self.smallest_before(moved, from_level[order], to_level)
            return np.where(best >= 0, order[best], -1).astype(np.int32)
        u = np.repeat(np.arange(len(edges.offsets) - 1), np.diff(edges.offsets))
        v = edges.targets
        nearer = (from_level[u] >= 0) & (from_level[u] + 1 == to_level[v])
        best = np.full(len(to_level), 2**31 - 1, np.int32)
        np.minimum.at(best, v[nearer], u[nearer].astype(np.int32))
        best[best == 2**31 - 1] = -1
        return best

    def candidates(self, edges, frontier):
        u, v = self.followed(edges, frontier.vertices)
        return v.astype(np.int64) << SHIFT | u

    def settle(self, owned, messages, level):
        frontier = []
        for offsets, finder in messages:
            for v in offsets.tolist():
                word, bit = v >> 5, np.uint32(1 << (v & 31))
                if owned.visited[word] & bit:
                    continue
                owned.visited[word] |= bit
                owned.distance[v] = level
                if owned.finder is not None:
                    owned.finder[v] = finder
                frontier.append(v)
        return np.array(frontier, np.int32)

    def to_words(self, offsets, n_words):
        bits = np.zeros(32 * n_words, bool)
        bits[offsets] = True
        return np.packbits(bits, bitorder="little").view(np.uint32)

    def to_offsets(self, words, n_set=None):
        bits = (words[:, None] >> np.arange(32, dtype=np.uint32)) & 1
        return np.flatnonzero(bits).astype(np.int32)
