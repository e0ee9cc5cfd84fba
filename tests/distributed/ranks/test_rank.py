"""Attributes of a rank, and objects sent from rank to rank."""

import numpy as np
import pytest
from spread_columns import on_ranks

from rapids_trav import TravError
from rapids_trav.engines.multigpu.communicator import to_bytes, to_words


def test_objects_come_in_the_order_of_the_ranks():
    values = [{"rank": 0}, None, [1.5, "x" * 1001], (2**70, b"")]
    assert on_ranks(4, lambda rank: rank.communicator.gather_objects(values[rank.rank])) == [values] * 4


def test_each_rank_gets_its_own():
    answers = on_ranks(3, lambda rank: rank.communicator.exchange_objects([(rank.rank, k) for k in range(3)]))
    assert answers == [[(k, receiver) for k in range(3)] for receiver in range(3)]


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 1001])
def test_bytes_as_words(length):
    data = bytes(k % 251 for k in range(length))
    words = to_words(data, np)
    assert words.dtype == np.uint32
    assert bytes(to_bytes(words)) == data


def test_the_first_error_is_raised_by_all():
    def work(rank, first=0):
        with rank.communicator.raising_together():
            if rank.rank > first:
                raise TravError(f"of rank {rank.rank}")

    assert [str(error) for error in on_ranks(3, work)] == ["of rank 1"] * 3
    assert on_ranks(2, lambda rank: work(rank, 1)) == [None, None]


def test_a_rank():
    found = on_ranks(3, lambda rank: (rank.rank, rank.size, rank.everyone, rank.xp, rank.library.name))
    assert found == [(k, 3, (0, 1, 2), np, "pandas") for k in range(3)]
