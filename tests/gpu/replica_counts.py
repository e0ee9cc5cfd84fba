"""Counts of the copies that a gather by shards fills and merges, from the published address of a copy."""

import numpy as np

LANES = 32


def expected_counters(shards, offsets):
    """Count by the published address: the edge of thread t goes to copy t mod R of its vertex."""
    filled = merged = 0
    for piece, shard in enumerate(shards.piece_shards):
        first, last = shards.firsts[shard], shards.firsts[shard + 1]
        begin = offsets[first] + (piece - shards.first_pieces[shard]) * shards.piece_edges
        end = min(begin + shards.piece_edges, offsets[last])
        edges = np.arange(begin, end)
        local = np.searchsorted(offsets[first + 1 : last + 1], edges, side="right")
        copy = (edges - begin) % LANES % shards.factors[shard]
        others = np.unique(np.stack([local, copy])[:, copy > 0], axis=1)
        filled += others.shape[1]
        merged += len(np.unique(others[0]))
    return {"filled": filled, "merged": merged}
