"""Ranges of ids are about equally large, and no rank receives more than its share."""

import numpy as np
import pandas as pd
import pytest
from spread_columns import on_ranks

from rapids_trav.distributed.ranks import renumber_spread
from rapids_trav.distributed.ranks.renumber_spread import SAMPLED, build_ids

N = 60_000


def skewed(rng, rank):
    """Return ids of which a few occur again and again, as vertices of high degree do."""
    return rng.zipf(1.2, 3 * N) % 2**40


def bounded(rng, rank):
    """Return ids from the rank's own interval; the intervals differ widely in length."""
    return rng.integers(10**9 * rank, 10**9 * rank + 10 ** (2 + rank), N)


def shared(rng, rank):
    """Return ids of which the lower half is on all ranks; each of these must count as one id."""
    everywhere = np.random.default_rng(99).integers(0, 2**30, N // 2)
    return np.concatenate([everywhere, rng.integers(2**31, 2**60, N // 2)])


def one_rank(rng, rank):
    return rng.integers(0, 2**60, N if rank == 1 else 0)


def built(size, numbers, label=None):
    """Build ids of `numbers(rng, rank)`; return by rank the ids held, and the bytes received and given."""

    def work(rank):
        given = pd.Series(numbers(np.random.default_rng(rank.rank), rank.rank), name="src")
        if label:
            given = given.astype(label)
        ids, _ = build_ids(rank, [[given]])
        return int(np.diff(ids.firsts)[rank.rank]), rank.communicator.received, 8 * given.nunique()

    return zip(*on_ranks(size, work), strict=True)


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("numbers", [skewed, bounded, shared, one_rank])
def test_ranges_are_balanced(numbers, size):
    held, _, _ = built(size, numbers)
    assert max(held) <= 1.5 * np.mean(held)
    assert min(held) >= 0.5 * np.mean(held)


def test_ranges_of_words_are_balanced():
    held, _, _ = built(4, lambda rng, rank: rng.zipf(1.2, N) % 2**40, str)
    assert max(held) <= 1.5 * np.mean(held)


@pytest.mark.parametrize("numbers", [skewed, bounded, shared])
def test_no_rank_gets_all_ids(numbers):
    """The bytes that a rank receives are bounded.

    In one call, they are at most `MOST` times the distinct ids of the largest rank.  In all calls together,
    they are about the ids of its own range, once from each rank.
    """
    size = 8
    held, received, given = built(size, numbers)
    sample = 8 * SAMPLED * size * size
    for calls in received:
        assert max(calls) <= max(renumber_spread.MOST * max(given) * 1.01, sample)
    if numbers is not shared:
        for calls, here in zip(received, held, strict=True):
            assert sum(calls) <= 8 * size * here + 8 * max(given) + sample + 20_000
            assert sum(calls) < 8 * sum(held) + sample


def test_ids_that_crowd_in_one_range_come_in_rounds():
    """Without rounds, the first range would receive the shared half from each of eight ranks at once."""
    _, received, _ = built(8, shared)
    assert max(received[0]) < 8 * N // 2 * 7 * 0.6
    assert sum(calls > 8 * N // 2 for calls in received[0]) > 1
