"""Claiming by sorting, without atomics: the baseline for claiming by bitmap (docs/systems.md, K7).

D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012, describes filtering by sort
and scan primitives; Bisson et al.  measured their atomics against it.  Every edge of the frontier gives a
candidate:

1. sort the candidates;
2. remove duplicates;
3. remove candidates that are claimed already;
4. claim the rest.
"""

from __future__ import annotations

from rapids_trav.engines.multigpu.local_work import MASK, SHIFT, Array, Compressed, Frontier, LocalWork, Reach


def expand_sorted(
    work: LocalWork, edges: Compressed, frontier: Frontier, reach: Reach, block: int, n_blocks: int
) -> list[Array]:
    """Work as `LocalWork.expand`; of several predecessors the one with the smallest local id is kept."""
    xp = work.xp
    keys = work.candidates(edges, frontier)
    if len(keys):
        keys.sort()
    to = keys >> SHIFT
    fresh = xp.ones(len(keys), bool)
    fresh[1:] = to[1:] != to[:-1]
    fresh &= (reach.claimed[to >> 5] >> (to & 31).astype(xp.uint32)) & xp.uint32(1) == 0
    to = to[fresh].astype(xp.int32)
    if reach.predecessor is not None:
        reach.predecessor[to] = (keys[fresh] & MASK).astype(xp.int32)
    reach.claimed[:] |= work.to_words(to, len(reach.claimed))
    bounds = xp.searchsorted(to, xp.arange(n_blocks + 1, dtype=xp.int64) * block).tolist()
    return [to[bounds[m] : bounds[m + 1]] - m * block for m in range(n_blocks)]
