"""Vertices dealt out by degree: conversion of their numbers, and values sent between owners and holders."""

from __future__ import annotations

import numpy as np
import pytest
from rank_cases import on_ranks

from rapids_trav.distributed.ranks.numbering import build_numbering, grid_of
from rapids_trav.errors import TravError

SIZES = [(1, 7), (2, 101), (3, 64), (4, 3), (5, 1000), (6, 333), (3, 0), (4, 1)]


def cut(size, n, seed):
    """Return the offsets of one range of places per rank; some ranges may be empty."""
    inner = np.sort(np.random.default_rng(seed).integers(0, n + 1, size - 1))
    return np.concatenate([[0], inner, [n]]).astype(np.int64)


def degrees(n, seed):
    return np.random.default_rng(seed).zipf(1.7, n).clip(0, 50)


def wanted(size, n, degree):
    """Return the internal id of each place, from a sort on one machine."""
    block = grid_of(size, n).block
    internal = np.empty(n, np.int64)
    for k, place in enumerate(np.argsort(-degree, kind="stable")):
        internal[place] = k % size * block + k // size
    return internal


def on_numbered(size, n, function):
    firsts, degree = cut(size, n, seed=size), degrees(n, seed=n)

    def rank(rank):
        held = slice(firsts[rank.rank], firsts[rank.rank + 1])
        return function(build_numbering(rank, firsts, n, degree[held]), held)

    return wanted(size, n, degree), on_ranks(size, rank)


@pytest.mark.parametrize(("size", "n"), SIZES)
def test_vertices_are_dealt_by_descending_degree(size, n):
    expected, found = on_numbered(size, n, lambda numbering, _: numbering)
    assert np.array_equal(np.concatenate([of.internal_of_held for of in found]), expected)
    assert sum(of.n_owned for of in found) == n
    assert max(of.n_owned for of in found) - min(of.n_owned for of in found) <= 1
    for r, numbering in enumerate(found):
        owned = r * numbering.grid.block + np.arange(numbering.n_owned)
        assert np.array_equal(expected[numbering.place_of_owned], owned)


@pytest.mark.parametrize(("size", "n"), SIZES)
def test_numbers_there_and_back(size, n):
    """Each rank asks for different places, in any order, repeated, and with -1 among them."""

    def ask(numbering, held):
        rng = np.random.default_rng(numbering.rank.rank)
        places = rng.integers(-1, n, 0 if numbering.rank.rank == 1 else 50)
        internal = numbering.internal(places)
        return places, internal, numbering.places(internal)

    expected, found = on_numbered(size, n, ask)
    for places, internal, back in found:
        assert np.array_equal(back, places)
        assert np.array_equal(internal, np.append(expected, -1)[places])


@pytest.mark.parametrize(("size", "n"), SIZES)
def test_a_few_places_that_all_ranks_pass(size, n):
    places = np.random.default_rng(5).integers(-1, n, 40)
    expected, found = on_numbered(size, n, lambda numbering, held: numbering.internal_of_few(places))
    for internal in found:
        assert np.array_equal(internal, np.append(expected, -1)[places])


@pytest.mark.parametrize(("size", "n"), SIZES)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.bool_, np.float64])
def test_values_travel_to_the_callers_order_and_back(size, n, dtype):
    values = np.random.default_rng(3).integers(0, 2, (3, n)).astype(dtype)

    def travel(numbering, held):
        owned = values[:, numbering.place_of_owned]
        many, one = numbering.in_order(owned), numbering.in_order(owned[1])
        return many, one, numbering.placed(many), owned

    _, found = on_numbered(size, n, travel)
    assert np.array_equal(np.concatenate([many for many, *_ in found], axis=1), values)
    assert np.array_equal(np.concatenate([one for _, one, *_ in found]), values[1])
    for many, _, back, owned in found:
        assert np.array_equal(back, owned)
        assert many.dtype == back.dtype == dtype


def test_only_values_travel():
    """Once the mapping is known, each value is sent at most once, and nothing else is sent."""
    n, size = 1000, 4

    def traffic(numbering, held):
        numbering.in_order(np.zeros(numbering.n_owned, np.int32))
        before = numbering.rank.communicator.traffic
        numbering.in_order(np.zeros(numbering.n_owned, np.int32))
        return numbering.rank.communicator.traffic - before

    _, found = on_numbered(size, n, traffic)
    assert sum(of.bytes for of in found) <= 4 * n
    assert {of.messages for of in found} == {size - 1}


def test_a_grid_of_another_size_is_refused():
    with pytest.raises(TravError, match=r"grid=\(2, 3\) has 6 places, but there are 4 workers"):
        grid_of(4, 100, (2, 3))
