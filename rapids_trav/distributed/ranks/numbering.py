"""Distribution of the vertices over ranks: places in the caller's order, and internal ids in the grid.

A vertex has two numbers.

- Its place, 0 to n - 1, ascends with the caller's ids.  Rank r holds the places `firsts[r]` to
  `firsts[r + 1] - 1`, with their ids and, in answers, their rows.
- Its internal id identifies it in searches.  Vertices are dealt to the ranks by descending degree, so that
  all ranks own similar shares of the vertices of high and of low degree.  On P ranks, vertex number k in this
  order is owned by rank k % P, at offset k // P.  Vertices of equal degree are ordered by place
  (`ids.degree_order` has the order on one machine).

On GPUs these are also the ids of a search in one launch (`engines.multigpu.one_launch.dealing`).

The grid pads its blocks to full size, so `grid.n_vertices - n` of its ids belong to no vertex: the last ids
of each block, which no edge leads to.

The mapping between owned and held vertices is computed once; after that `in_order` and `placed` send only
values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import ModuleType

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.engines.multigpu.grid import WORD, Grid, choose_grid
from rapids_trav.engines.multigpu.lookup import distinct, offsets_in_ranges
from rapids_trav.engines.multigpu.one_launch.dealing import ALIGNED
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.ids.maps import vertex_dtype

WORD_BYTES = 4  # of the narrowest numbers that a communicator carries


@dataclass(frozen=True)
class Numbering:
    """Places and internal ids of the vertices that one rank owns and holds."""

    rank: Rank
    n: int  # vertices of all ranks
    grid: Grid  # of the internal ids
    firsts: np.ndarray  # first place that each rank holds, int64 (ranks + 1,) on the host
    place_of_owned: Array  # by offset
    internal_of_held: Array  # in order of place

    @property
    def n_owned(self) -> int:
        """Number of vertices that this rank owns."""
        return len(self.place_of_owned)

    @property
    def first(self) -> int:
        """First place held here."""
        return int(self.firsts[self.rank.rank])

    @property
    def n_held(self) -> int:
        """Number of vertices held here."""
        return len(self.internal_of_held)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of this rank."""
        plan = [order for order, _ in self._plan]
        return sum(array.nbytes for array in (self.place_of_owned, self.internal_of_held, *plan))

    def in_block(self, values: Array, fill: int = -1) -> Array:
        """Return values of the vertices owned here, padded with `fill` to the length of the block."""
        block = self.rank.xp.full(self.grid.block, fill, values.dtype)
        block[: len(values)] = values
        return block

    def internal(self, places: Array) -> Array:
        """Return the internal ids of places, -1 for -1; every rank calls it, with places of its own."""
        return self._asked(places, self.firsts, self.internal_of_held, self.grid.vertex_dtype)

    def internal_of_few(self, places: np.ndarray) -> np.ndarray:
        """Return the internal ids of a few places, -1 for -1; every rank calls it, with the same places."""
        mine = (places >= self.first) & (places < self.first + self.n_held)
        held = move(self.internal_of_held[self.rank.xp.asarray(places[mine] - self.first)], np)
        return np.where(places >= 0, self.rank.from_holders(mine, held), -1)

    def places(self, internal: Array) -> Array:
        """Return the places of internal ids, int64, -1 for -1; every rank calls it, with ids of its own."""
        return self.at_owners(internal, self.place_of_owned).astype(np.int64, copy=False)

    def at_owners(self, internal: Array, values: Array) -> Array:
        """Return values of internal ids, -1 for -1, from their owners' `values`; every rank calls it."""
        return self._asked(internal, self.grid.firsts, values, values.dtype)

    def by_internal_id(self, values: Array) -> Array:
        """Return values of all vertices by internal id, then -1, from those owned; every rank calls it."""
        block = self.in_block(values, 0)
        forms = [(block.dtype, len(block))] * self.rank.size
        blocks = self.rank.communicator.all_gather(self.rank.everyone, block, forms)
        return self.rank.xp.concatenate([*blocks, self._missing(values.dtype)])

    def internal_by_place(self) -> Array:
        """Return the internal ids of the vertices of all ranks by place, then -1; every rank calls it."""
        mine = self.internal_of_held
        forms = [(mine.dtype, int(n)) for n in np.diff(self.firsts)]
        held = self.rank.communicator.all_gather(self.rank.everyone, mine, forms)
        return self.rank.xp.concatenate([*held, self._missing(mine.dtype)])

    def in_order(self, values: Array) -> Array:
        """Return values of the vertices held here, in order of place, from those of the owned ones.

        The vertices are the last axis; every rank calls it.
        """
        (owned, to), (held, of) = self._plan
        return self._moved(values, owned, to, held, of)

    def both_in_order(self, values: Array, others: Array) -> tuple[Array, Array]:
        """Send two arrays of one shape as `in_order` does, in the same messages if they are of one type."""
        if values.dtype != others.dtype:
            return self.in_order(values), self.in_order(others)
        moved, others_moved = self.in_order(self.rank.xp.stack([values, others]))
        return moved, others_moved

    def placed(self, values: Array) -> Array:
        """Return values of the vertices owned here from those of the held ones; inverse of `in_order`."""
        (owned, to), (held, of) = self._plan
        return self._moved(values, held, of, owned, to)

    @cached_property
    def _plan(self) -> tuple[tuple[Array, list[int]], tuple[Array, list[int]]]:
        """Offsets owned here, grouped by holder, and vertices held here, grouped by owner, with group bounds.

        Within a group both are in ascending order of the offset at the owner.
        """
        xp = self.rank.xp
        holder = _rank_of(xp, self.firsts, self.place_of_owned)
        owner = self.grid.owner(self.internal_of_held)
        ranks = xp.arange(self.rank.size + 1)
        order = stable_order(xp, holder)
        bounds = xp.searchsorted(holder[order], ranks).tolist()
        back = stable_order(xp, self.internal_of_held)
        back_bounds = xp.searchsorted(owner[back], ranks).tolist()
        return (order.astype(np.int32), bounds), (back.astype(np.int32), back_bounds)

    def _moved(self, values: Array, order: Array, to: list[int], into: Array, of: list[int]) -> Array:
        """Send entries of `values`, in `order`; return those received, at the places `into`."""
        rows = values.shape[:-1]
        each, given = math.prod(rows), sendable(values[..., order])
        parts = [given[..., begin:end].reshape(-1) for begin, end in pairwise(to)]
        forms = [(given.dtype, each * (end - begin)) for begin, end in pairwise(of)]
        received = self.rank.communicator.exchange(self.rank.everyone, parts, forms)
        found = self.rank.xp.empty((*rows, len(into)), given.dtype)
        for part, (begin, end) in zip(received, pairwise(of), strict=True):
            found[..., into[begin:end]] = part.reshape(*rows, end - begin)
        return found.astype(values.dtype, copy=False)

    def _asked(self, numbers: Array, bounds: np.ndarray, answers: Array, dtype: np.dtype) -> Array:
        """Look up the answers to these numbers at the ranks that have them, each distinct number once."""
        xp, communicator = self.rank.xp, self.rank.communicator
        wanted, at = distinct(xp, xp.asarray(numbers), int(bounds[-1]))
        requests = [of.astype(np.int32) for of in offsets_in_ranges(xp, wanted, bounds)]
        asked = communicator.exchange(self.rank.everyone, requests)
        forms = [(answers.dtype, len(of)) for of in requests]
        received = communicator.exchange(self.rank.everyone, [answers[offsets] for offsets in asked], forms)
        found = xp.concatenate([*received, self._missing(answers.dtype)])
        return found[at].astype(dtype, copy=False)  # position -1 is the last

    def _missing(self, dtype: np.dtype) -> Array:
        """Return an array with the entry for vertex -1, which is -1; of unsigned ids the largest."""
        return self.rank.xp.full(1, -1, np.int64).astype(dtype)


def build_numbering(
    rank: Rank, firsts: np.ndarray, n: int, degree: Array, shape: tuple[int, int] | None = None
) -> Numbering:
    """Deal the vertices out by descending degree, given of those held here; every rank calls it.

    `firsts` and `n` are those of `Numbering`, and `shape` that of the grid, by default the squarest.

    Raises a `TravError` if the grid does not have one place for each rank, or is too small for the vertices.
    """
    xp, size = rank.xp, rank.size
    grid = grid_of(size, n, shape, WORD if xp is np else ALIGNED)
    k = _degree_ranks(rank, degree)
    owner, offset = k % size, k // size
    internal = owner * grid.block + offset
    place = int(firsts[rank.rank]) + xp.arange(len(degree), dtype=np.int64)
    order = stable_order(xp, owner)
    bounds = xp.searchsorted(owner[order], xp.arange(size + 1)).tolist()
    offset, place = offset[order].astype(np.int32), place[order]
    sent = [[column[begin:end] for begin, end in pairwise(bounds)] for column in (offset, place)]
    offsets, places = (xp.concatenate(rank.communicator.exchange(rank.everyone, parts)) for parts in sent)
    dtype = vertex_dtype(n)
    owned = xp.empty(len(places), dtype)
    owned[offsets] = places.astype(dtype)
    return Numbering(rank, n, grid, np.asarray(firsts), owned, internal.astype(grid.vertex_dtype))


def grid_of(size: int, n: int, shape: tuple[int, int] | None = None, aligned: int = WORD) -> Grid:
    """Return a grid for `n` vertices that are dealt out to the ranks; its vertices fill all blocks.

    Blocks are multiples of `aligned` vertices.
    """
    rows, columns = choose_grid(size) if shape is None else shape
    if rows * columns != size:
        raise TravError(
            f"grid=({rows}, {columns}) has {rows * columns} places, but there are {size} workers: give two "
            f"numbers whose product is {size}."
        )
    block = max(1, -(-n // (size * aligned))) * aligned
    return Grid(rows, columns, size * block)


def counted(xp: ModuleType, numbers: Array) -> tuple[Array, Array]:
    """Return the distinct numbers in ascending order, and how often each occurs, int64."""
    if not len(numbers):
        return numbers, xp.zeros(0, np.int64)
    found, count = xp.unique(numbers, return_counts=True)
    return found, count.astype(np.int64, copy=False)


def sendable(array: Array) -> Array:
    """Return numbers in 32 or 64 bits, the widths that communicators carry; narrower ones are widened."""
    if array.dtype.itemsize >= WORD_BYTES:
        return array
    kind = "u" if array.dtype.kind == "b" else array.dtype.kind
    return array.astype(np.dtype(f"{kind}{WORD_BYTES}"))


def stable_order(xp: ModuleType, keys: Array) -> Array:
    """Return the positions that sort the keys in ascending order and keep equal keys in their order."""
    return xp.argsort(keys, kind="stable") if len(keys) else xp.zeros(0, np.int64)


def _rank_of(xp: ModuleType, firsts: np.ndarray, places: Array) -> Array:
    """Return the rank that holds each place; ranks that hold no places are skipped."""
    return xp.searchsorted(xp.asarray(firsts[1:]), places, side="right")


def _degree_ranks(rank: Rank, degree: Array) -> Array:
    """Return the position of each vertex held here in descending order of degree, ties by place; int64.

    All ranks learn which degrees occur, and how often on each rank.  A graph of m edges has at most sqrt(4 m)
    different degrees.
    """
    xp = rank.xp
    key = -degree.astype(np.int64, copy=False)
    own, count = counted(xp, key)
    keys = rank.communicator.all_gather(rank.everyone, own)
    counts = rank.communicator.all_gather(rank.everyone, count)
    if not any(map(len, keys)):
        return key
    every = xp.unique(xp.concatenate(keys))
    table = xp.zeros((rank.size, len(every)), np.int64)
    for row, of_rank, how_often in zip(table, keys, counts, strict=True):
        row[xp.searchsorted(every, of_rank)] = how_often
    total, here = table.sum(axis=0), table[rank.rank]
    begin = xp.cumsum(total) - total + table[: rank.rank].sum(axis=0)
    mine = xp.searchsorted(every, key)
    order = stable_order(xp, mine)
    within = xp.arange(len(order), dtype=np.int64) - (xp.cumsum(here) - here)[mine[order]]
    k = xp.empty(len(order), np.int64)
    k[order] = begin[mine[order]] + within
    return k
