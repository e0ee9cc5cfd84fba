"""Splitters between the ranks' ranges of ids, chosen so that all ranks hold about the same number.

Splitters are computed from a sample of the distinct ids, regardless of how often and on how many ranks each
occurs.  Every rank contributes its ids that have the smallest hashes.  Of all contributed ids, those with the
smallest hashes are the sample, which is the same on every rank (K. Beyer et al., "On Synopses for
Distinct-Value Estimation Under Multiset Operations", SIGMOD 2007).  With m sampled ids for each range, the
sizes of the ranges deviate by about 1 / sqrt(m) of the mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.values import Kind, Values

SAMPLED = 256  # sampled ids for each range


def sample(rank: Rank, kind: Kind, values: Values) -> Values:
    """Return the values that this rank contributes to the sample, ascending."""
    return smallest_hashes(rank, kind, values, SAMPLED * rank.size)


def splitters(rank: Rank, kind: Kind, sampled: Sequence[Values]) -> Values:
    """Return the first id of each range but the first, from all samples; empty if all samples are."""
    kept = smallest_hashes(rank, kind, kind.union(sampled), SAMPLED * rank.size)
    at = np.arange(1, rank.size) * len(kept) // rank.size if len(kept) else np.zeros(0, np.int64)
    return kind.take(kept, rank.xp.asarray(at))


def smallest_hashes(rank: Rank, kind: Kind, values: Values, most: int) -> Values:
    """Return the values with the smallest hashes, `most` of them or fewer, in their order."""
    if len(values) <= most:
        return values
    chosen = rank.xp.argpartition(kind.hashes(values), most)[:most]
    return kind.take(values, rank.xp.sort(chosen))
