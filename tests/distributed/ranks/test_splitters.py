"""Ranges of about as many ids each, and no rank that gets more than its share."""

import numpy as np
import pandas as pd
import pytest
from spread_columns import on_ranks

from rapids_trav.distributed.ranks import meeting
from rapids_trav.distributed.ranks.dictionary import build_ids
from rapids_trav.distributed.ranks.splitters import SAMPLED

N = 60_000


def skewed(rng, rank):
    """Few ids again and again, as in graphs by degree."""
    return rng.zipf(1.2, 3 * N) % 2**40


def bounded(rng, rank):
    """Each rank has ids of its own stretch, of very different lengths."""
    return rng.integers(10**9 * rank, 10**9 * rank + 10 ** (2 + rank), N)


def shared(rng, rank):
    """The low half of each rank's ids is on all ranks, which must not count as many ids."""
    everywhere = np.random.default_rng(99).integers(0, 2**30, N // 2)
    return np.concatenate([everywhere, rng.integers(2**31, 2**60, N // 2)])


def one_rank(rng, rank):
    return rng.integers(0, 2**60, N if rank == 1 else 0)


def built(size, numbers, label=None):
    """Build ids of `numbers(rng, rank)`; return for each rank how many it holds, and bytes got and given."""

    def work(rank):
        given = pd.Series(numbers(np.random.default_rng(rank.rank), rank.rank), name="src")
        if label:
            given = given.astype(label)
        ids, _ = build_ids(rank, [[given]])
        return ids.n_here, rank.communicator.received, 8 * given.nunique()

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
    """What comes at once is bounded by what the largest rank has; in all it is the range, from each rank."""
    size = 8
    held, received, given = built(size, numbers)
    sample = 8 * SAMPLED * size * size
    for calls in received:
        assert max(calls) <= max(meeting.MOST * max(given) * 1.01, sample)
    if numbers is not shared:
        for calls, here in zip(received, held, strict=True):
            assert sum(calls) <= 8 * size * here + 8 * max(given) + sample + 20_000
            assert sum(calls) < 8 * sum(held) + sample


def test_ids_that_crowd_in_one_range_come_in_rounds():
    """Without rounds the first range would get the shared half from each of eight ranks at once."""
    _, received, _ = built(8, shared)
    assert max(received[0]) < 8 * N // 2 * 7 * 0.6
    assert sum(calls > 8 * N // 2 for calls in received[0]) > 1
