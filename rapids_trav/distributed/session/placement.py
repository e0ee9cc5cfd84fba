"""Assignment of the partitions of a Dask frame to ranks."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def place(holders: Sequence[Collection[str]], workers: Sequence[str]) -> list[int]:
    """Return a rank for each partition.

    Parameters
    ----------
    holders : sequence of collections of str
        The workers that have a copy of each partition.
    workers : sequence of str
        The worker of each rank.

    Notes
    -----
    A partition goes to a rank whose worker has a copy, and if there are several, to the one with the fewest
    partitions.  The remaining partitions are assigned last, each to the rank with the fewest.
    """
    rank_at = {worker: rank for rank, worker in enumerate(workers)}
    count = [0] * len(workers)
    chosen = [-1] * len(holders)
    candidates = [[rank_at[worker] for worker in holder if worker in rank_at] for holder in holders]
    for k in sorted(range(len(holders)), key=lambda k: (not candidates[k], k)):
        chosen[k] = min(candidates[k] or range(len(workers)), key=lambda rank: (count[rank], rank))
        count[chosen[k]] += 1
    return chosen
