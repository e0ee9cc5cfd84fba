"""Where one rank's range of ids ends and the next begins, so that all hold about as many.

The sample is of distinct ids, however often and on however many ranks each occurs: every rank gives those of
its ids with the smallest hashes, and of all given the smallest are kept, which are the same on every rank
(K. Beyer et al., "On Synopses for Distinct-Value Estimation Under Multiset Operations", SIGMOD 2007).  With
m sampled ids a range the sizes of ranges deviate by about 1 / sqrt(m) of the mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.values import Kind, Values

SAMPLED = 256  # sampled ids for each range


def sample(rank: Rank, kind: Kind, values: Values) -> Values:
    """Return the values of this rank that it gives to the sample, ascending."""
    return smallest_hashes(rank, kind, values, SAMPLED * rank.size)


def splitters(rank: Rank, kind: Kind, sampled: Sequence[Values]) -> Values:
    """Return the first id of each range but the first, from the samples of all ranks; none of none."""
    kept = smallest_hashes(rank, kind, kind.union(sampled), SAMPLED * rank.size)
    at = np.arange(1, rank.size) * len(kept) // rank.size if len(kept) else np.zeros(0, np.int64)
    return kind.take(kept, rank.xp.asarray(at))


def smallest_hashes(rank: Rank, kind: Kind, values: Values, most: int) -> Values:
    """Return those of the values, at most so many, that have the smallest hashes, in their order."""
    if len(values) <= most:
        return values
    chosen = rank.xp.argpartition(kind.hashes(values), most)[:most]
    return kind.take(values, rank.xp.sort(chosen))
