"""Both ends of the edges of a rank, from places to internal ids, and how many each vertex has.

Where the vertices of the whole graph are fewer than the ends of edges on a rank, as in most graphs on few
ranks, each rank has a number for every vertex for a while: that takes no sort.  Otherwise ranks ask each
other, for some ends at a time.
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
    """Return whether a rank has at least as many ends as there are vertices, on average."""
    return n * rank.size <= rank.communicator.sum([sum(map(len, ends))])[0]


def rounds(rank: Rank, arrays: Sequence[Array], length: int) -> Iterator[tuple[int, slice]]:
    """Cut arrays into pieces; yield as many on all ranks, empty ones of no array (-1) to make them so."""
    mine = [
        (number, slice(begin, begin + length))
        for number, array in enumerate(arrays)
        for begin in range(0, len(array), length)
    ]
    told = rank.communicator.all_gather(rank.everyone, rank.xp.asarray([len(mine)], dtype=np.int64))
    yield from mine
    for _ in range(max(int(of[0]) for of in told) - len(mine)):
        yield -1, slice(0, 0)


def count_ends(rank: Rank, firsts: np.ndarray, places: Sequence[Array], length: int, few: bool) -> Array:
    """Return how often each place that is held here stands among those of all ranks, int64.

    Parameters
    ----------
    firsts : int64 array, (ranks + 1,)
        Rank r holds the places from `firsts[r]` to `firsts[r + 1] - 1`.
    places : sequence of int arrays
        Of this rank.
    length : int
        Places to count at once.
    few : bool
        Whether there is room for a count of every place.
    """
    xp, exchange = rank.xp, rank.communicator.exchange
    if few:
        here = _count(xp, places, int(firsts[-1]))
        told = exchange(rank.everyone, [here[begin:end] for begin, end in pairwise(firsts.tolist())])
        return xp.stack(told).sum(axis=0)
    degree = xp.zeros(int(firsts[rank.rank + 1] - firsts[rank.rank]), np.int64)
    none = xp.empty(0, np.int64)
    for number, piece in rounds(rank, places, length):
        some = places[number][piece] if number >= 0 else none
        wanted, count = counted(xp, some)
        offsets = [of.astype(np.int32) for of in offsets_in_ranges(xp, wanted, firsts)]
        ends = np.cumsum([len(of) for of in offsets]).tolist()
        counts = [count[end - len(of) : end] for of, end in zip(offsets, ends, strict=True)]
        for at, more in zip(exchange(rank.everyone, offsets), exchange(rank.everyone, counts), strict=True):
            degree[at] += more  # of one rank each place is there once
    return degree


def _count(xp: ModuleType, arrays: Sequence[Array], n: int) -> Array:
    """Return how often each number below n is there, int64 (n,)."""
    counts = xp.zeros(n, np.int64)
    for numbers in arrays:
        if xp is np:
            counts += np.bincount(numbers, minlength=n)
        else:
            xp.add.at(counts.view(np.uint64), numbers, np.uint64(1))  # CuPy adds to no int64
    return counts


def in_internal(numbering: Numbering, places: list[Array], length: int, few: bool) -> list[Ends]:
    """Return both ends of each partition's edges in internal ids; their places are let go."""
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
