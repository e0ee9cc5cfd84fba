"""Edge ends are counted and numbered alike with a table of all vertices and by asking other ranks."""

import numpy as np
import pytest
from loopback import run_ranks

from rapids_trav.distributed.ranks.edge_ends import count_ends, has_few_vertices, in_internal
from rapids_trav.distributed.ranks.numbering import build_numbering
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.frames.libraries import library

N, PAIRS = 90, 400


def held(size):
    """Return the offsets of uneven ranges of places, one of them empty."""
    cuts = np.sort(np.random.default_rng(size).integers(0, N, max(size - 2, 0)))
    middle = [int(cut) for cut in cuts] + ([N] if size > 1 else [])
    return np.array([0, *middle, N], np.int64)


def places_of(rank, size):
    """Return the ends of two edge lists of a rank; the last of several ranks has none."""
    if size > 1 and rank == size - 1:
        return []
    rng = np.random.default_rng(rank)
    return [rng.integers(0, N, PAIRS // (1 + (k > 1))) ** 2 % N for k in range(4)]


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_ends(size, few):
    firsts = held(size)

    def work(communicator):
        rank = Rank(communicator, CpuWork(), library("pandas"))
        places = places_of(rank.rank, size)
        degree = count_ends(rank, firsts, places, 37, few)
        numbering = build_numbering(rank, firsts, N, degree)
        ends = in_internal(numbering, list(places), 37, few)
        return degree, [end for pair in ends for end in pair], places, numbering.internal_of_held

    found = run_ranks(size, work)
    every = np.concatenate([of for _, _, places, _ in found for of in places])
    assert np.array_equal(np.concatenate([degree for degree, *_ in found]), np.bincount(every, minlength=N))
    internal = np.concatenate([of for *_, of in found])
    assert len(np.unique(internal)) == N
    for _, ends, places, _ in found:
        for end, place in zip(ends, places, strict=True):
            assert np.array_equal(end, internal[place]) and end.dtype == internal.dtype


def test_a_table_is_for_graphs_of_many_edges():
    def work(communicator):
        rank = Rank(communicator, CpuWork(), library("pandas"))
        ends = [np.zeros(10 * rank.rank, np.int64)]  # 30 in total, 10 per rank on average
        return [has_few_vertices(rank, n, ends) for n in (9, 10, 11)]

    assert run_ranks(3, work) == [[True, True, False]] * 3
