"""Ends of a rank's edges: conversion from places to internal ids, and the number of ends at each vertex.

If the whole graph has fewer vertices than a rank has edge ends, as in most graphs on few ranks, each rank
temporarily holds a number for every vertex, which needs no sort.  Otherwise ranks ask each other, for a
limited number of ends at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import ModuleType

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.numbering import Numbering, counted
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.engines.multigpu.lookup import offsets_in_ranges

Ends = tuple[Array, Array]


def has_few_vertices(rank: Rank, n: int, ends: Sequence[Array]) -> bool:
    """Return whether ranks have, on average, at least as many edge ends as the graph has vertices."""
    return n * rank.size <= rank.communicator.sum([sum(map(len, ends))])[0]


def rounds(rank: Rank, arrays: Sequence[Array], length: int) -> Iterator[tuple[int, slice]]:
    """Cut arrays into pieces and yield the array number and slice of each, equally often on all ranks.

    A rank with fewer pieces than another yields -1 and an empty slice for the missing ones.
    """
    mine = [
        (number, slice(begin, begin + length))
        for number, array in enumerate(arrays)
        for begin in range(0, len(array), length)
    ]
    counts = rank.communicator.all_gather(rank.everyone, rank.xp.asarray([len(mine)], dtype=np.int64))
    yield from mine
    for _ in range(max(int(of[0]) for of in counts) - len(mine)):
        yield -1, slice(0, 0)


def count_ends(rank: Rank, firsts: np.ndarray, places: Sequence[Array], length: int, few: bool) -> Array:
    """Return how often each place held here occurs among the edge ends of all ranks, int64.

    `places` are those of the ends of this rank, of which `length` are counted at once.  `firsts` are those of
    `Numbering`, and `few` says whether there is room for a count of every place.
    """
    xp, exchange = rank.xp, rank.communicator.exchange
    if few:
        here = _count(xp, places, int(firsts[-1]))
        received = exchange(rank.everyone, [here[begin:end] for begin, end in pairwise(firsts.tolist())])
        return xp.stack(received).sum(axis=0)
    degree = xp.zeros(int(firsts[rank.rank + 1] - firsts[rank.rank]), np.int64)
    none = xp.empty(0, np.int64)
    for number, piece in rounds(rank, places, length):
        some = places[number][piece] if number >= 0 else none
        wanted, count = counted(xp, some)
        offsets = [of.astype(np.int32) for of in offsets_in_ranges(xp, wanted, firsts)]
        ends = np.cumsum([len(of) for of in offsets]).tolist()
        counts = [count[end - len(of) : end] for of, end in zip(offsets, ends, strict=True)]
        for at, more in zip(exchange(rank.everyone, offsets), exchange(rank.everyone, counts), strict=True):
            degree[at] += more  # a rank sends each place once
    return degree


def _count(xp: ModuleType, arrays: Sequence[Array], n: int) -> Array:
    """Return how often each number below n occurs, int64 (n,)."""
    counts = xp.zeros(n, np.int64)
    for numbers in arrays:
        if xp is np:
            counts += np.bincount(numbers, minlength=n)
        else:
            xp.add.at(counts.view(np.uint64), numbers, np.uint64(1))  # cupy.add.at takes no int64
    return counts


def in_internal(numbering: Numbering, places: list[Array], length: int, few: bool) -> list[Ends]:
    """Return both ends of each partition's edges as internal ids; empties `places`."""
    rank = numbering.rank
    if few:
        table = rank.xp.concatenate(rank.communicator.all_gather(rank.everyone, numbering.internal_of_held))
        mapped = []
        while places:
            mapped.append(table[places.pop(0)])
        return list(zip(mapped[::2], mapped[1::2], strict=True))
    found = [rank.xp.empty(len(of), numbering.grid.vertex_dtype) for of in places]
    none = rank.xp.empty(0, np.int64)
    for number, piece in rounds(rank, places, length):
        internal = numbering.internal(places[number][piece] if number >= 0 else none)
        if number >= 0:
            found[number][piece] = internal
    places.clear()
    return list(zip(found[::2], found[1::2], strict=True))
