"""The scale of bars."""

import pytest

from rapids_trav.utilities.figures import UNEVEN, is_uneven, shares


def test_the_smallest_that_is_not_zero_decides():
    assert is_uneven([1, UNEVEN]) and is_uneven([0.001, 0.0, 5])
    assert not any(map(is_uneven, ([], [0], [0, 1000], [1, UNEVEN - 1], [0.5] * 3)))


@pytest.mark.parametrize("log", [False, True])
def test_the_longest_bar_is_whole_and_zero_has_none(log):
    assert shares([0, 8], log) == [0, 1] and shares([], log) == [] and shares([0], log) == [0]


def test_on_a_log_scale_one_can_be_seen_beside_thousands():
    one, many, most = shares([1, 400, 4000], log=True)
    assert 0.05 < one < 0.1 and 0.7 < many < most == 1
    assert shares([1, 4000], log=False)[0] == 1 / 4000
