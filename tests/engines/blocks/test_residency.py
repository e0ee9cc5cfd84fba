"""Eviction of blocks by synthetic frequencies (SYSTEMS L7 and L10)."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.engines.blocks.residency import ABSENT, COMING, HALF_LIFE, Residency


def always(block):
    return True


def loaded(residency, block, is_quiet=always):
    """Load a block into the place that is made for it, and return the place."""
    place = residency.room(is_quiet)
    assert place is not None
    residency.begin(block)
    assert residency.place[block] == COMING
    residency.land(block, place)
    return place


def used(residency, amounts):
    frequency = np.zeros_like(residency.frequency)
    for block, amount in amounts.items():
        frequency[block] = amount
    residency.use(frequency)


def full():
    """Return a residency with four places in use: blocks 0 and 1 are hot, 2 and 3 rotate."""
    residency = Residency(8, 4)
    places = [loaded(residency, block) for block in range(4)]
    assert sorted(places) == [0, 1, 2, 3]
    assert (residency.hot, residency.rotating) == ([0, 1], [2, 3])
    return residency


def test_a_quiet_hot_block_survives_one_of_lower_frequency():
    residency = full()
    used(residency, {0: 5.0, 1: 4.0, 4: 3.0})
    loaded(residency, 4)
    assert (residency.hot, residency.rotating) == ([0, 1], [3, 4])
    assert residency.evictions == 0 and residency.place[2] == ABSENT


def test_a_block_used_more_since_it_came_does_not_leave():
    residency = full()
    used(residency, {0: 5.0, 1: 4.0, 2: 9.0, 4: 3.0})
    loaded(residency, 4)
    assert (residency.hot, residency.rotating) == ([0, 2], [3, 4])
    assert residency.evictions == 1 and residency.place[1] == ABSENT


def test_the_coldest_hot_block_gives_way_to_a_hotter_one():
    residency = full()
    used(residency, {0: 5.0, 1: 2.0, 4: 3.0})
    loaded(residency, 4)
    assert (residency.hot, residency.rotating) == ([0, 1], [3, 4])
    loaded(residency, 5)
    assert (residency.hot, residency.rotating) == ([0, 4], [3, 5])
    assert residency.evictions == 1 and residency.place[1] == ABSENT


def test_equal_frequencies_evict_nothing():
    residency = full()
    used(residency, dict.fromkeys(range(8), 3.0))
    loaded(residency, 4)
    assert (residency.hot, residency.evictions) == ([0, 1], 0)


def test_no_block_goes_that_is_not_quiet():
    residency = full()
    assert residency.room(lambda block: block in (0, 1)) is None
    place = residency.place[3]
    assert residency.room(lambda block: block == 3) == place
    assert residency.place[3] == ABSENT and residency.rotating == [2]


def test_the_hot_set_tracks_a_moving_workload():
    """Frequencies halve after HALF_LIFE loads of any blocks: the clock counts loads, not seconds."""
    residency = full()
    used(residency, {0: 1.0, 1: 1.0})
    for _ in range(HALF_LIFE // 2):
        for block in (4, 5):
            loaded(residency, block)
    assert residency.frequency[0] == pytest.approx(0.5)
    used(residency, {6: 0.6})
    loaded(residency, 6)
    residency.room(always)
    assert 6 in residency.hot and residency.evictions == 1


def test_one_place_rotates():
    residency = Residency(3, 1)
    used(residency, {0: 9.0})
    for block in (0, 1, 0):
        assert loaded(residency, block) == 0
        assert (residency.hot, residency.rotating) == ([], [block])
    assert (residency.loads, residency.reloads, residency.evictions) == (3, 1, 0)
