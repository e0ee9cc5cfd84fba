"""Loads that take any time: the run neither hangs nor stops early, and loses no change (SYSTEMS L9)."""

from __future__ import annotations

import random
import time
from functools import partial

import numpy as np
import pytest
from block_cases import from_sources, lattice, over_blocks, path, swept, view_of, widest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import common

from rapids_trav.engines.blocks.residency import Landed
from rapids_trav.engines.cpu.programs.blocks.executor import Loader
from rapids_trav.programs import shipped


class Late:
    """Loader that copies when it is waited for, or once it has been polled as often as `delay` says."""

    most = 1

    def __init__(self, delay, copy):
        self._delay, self._copy, self._coming = delay, copy, None

    @property
    def n_coming(self):
        return self._coming is not None

    def begin(self, block, place):
        assert self._coming is None
        self._coming, self._left = (block, place), self._delay()

    def landed(self, wait=False):
        if self._coming is None:
            return None
        if not wait and self._left > 0:
            self._left -= 1
            return None
        (block, place), self._coming = self._coming, None
        return Landed(block, place, self._copy(block, place))

    def close(self):
        self._coming = None


@common
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(2, 6), st.integers(0, 30))
def test_blocks_that_come_late(seed, n_places, shift, most):
    """Vertices that become active in a loading block wait for it; theirs may be the last change of a run."""
    chance = random.Random(seed)
    late = partial(Late, lambda: chance.randint(0, most))
    view, order = path(300, seed=seed)
    program = shipped.breadth_first()
    found = over_blocks(view, program, from_sources(program, 300, order[0]), shift, n_places, late)
    assert found.converged and found.values[order].tolist() == list(range(300))

    view, program = lattice(12, seed), shipped.shortest_paths("int64")
    state = from_sources(program, 144, chance.randrange(144))
    found = over_blocks(view, program, state, shift, n_places, late)
    np.testing.assert_array_equal(found.values, swept(view, program, state).values)


@pytest.mark.parametrize("n_places", [1, 3])
def test_threads_that_are_delayed(n_places):
    chance = random.Random(4)
    view, program = lattice(30), shipped.shortest_paths("int64")
    state = from_sources(program, 900, 0)
    wanted = swept(view, program, state).values

    def delayed(copy):
        def later(block, place):
            time.sleep(chance.random() / 200)
            return copy(block, place)

        return Loader(later)

    for _ in range(3):
        found = over_blocks(view, program, state, 6, n_places, delayed)
        np.testing.assert_array_equal(found.values, wanted)


def test_others_iterate_while_a_block_comes():
    """Launches go on while a block loads, so rounds do not wait for the disk."""
    during = []

    class Counting(Late):
        def landed(self, wait=False):
            if self.n_coming and not wait:
                during.append(1)
            return super().landed(wait)

    view, program = lattice(60), shipped.shortest_paths("int64")
    state = from_sources(program, 3600, 0)
    found = over_blocks(view, program, state, 8, 8, partial(Counting, lambda: 1000))
    assert len(during) > found.counters["loads"] / 2 > 8  # polled after a launch begun before it came


@pytest.mark.parametrize("reducer", ["min", "max"])
def test_the_block_of_the_first_waiting_value_is_loaded_first(reducer):
    """The hub's row is block 0, and the row of each of its neighbours is a block of its own (L6)."""
    offers = [5, 2, 7, 1, 4, 8, 3, 6]
    k, width, begun = len(offers), 64, []
    heads, sinks = 1 + np.arange(k), 1 + k + np.arange(width)
    src = np.concatenate([np.zeros(width, int), np.repeat(heads, width)])
    dst = np.concatenate([heads, np.full(width - k, 1), np.tile(sinks, k)])
    worst = 9 if reducer == "min" else 0
    weights = np.concatenate([offers, np.full(width - k, worst), np.full(k * width, worst)])

    class Noting(Late):
        def begin(self, block, place):
            begun.append(block)
            super().begin(block, place)

    program = shipped.shortest_paths("int64") if reducer == "min" else widest("float32")
    view = view_of(1 + k + width, src, dst, weights.astype(program.dtype))
    state = from_sources(program, 1 + k + width, 0)
    state.values[0] = 0 if reducer == "min" else 10
    over_blocks(view, program, state, 6, 4, partial(Noting, lambda: 1))
    in_order = 1 + np.argsort(offers)
    assert begun == [0, *(in_order if reducer == "min" else in_order[::-1])]


def test_a_load_that_fails_ends_the_run():
    def failing(copy):
        def fail(block, place):
            raise OSError("the disk has gone")

        return Loader(fail)

    view, order = path(300, seed=0)
    program = shipped.breadth_first()
    with pytest.raises(OSError, match="has gone"):
        over_blocks(view, program, from_sources(program, 300, order[0]), 3, 1, failing)
