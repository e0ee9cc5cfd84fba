"""Shards: runs of vertices whose in-edges a block gathers in shared memory, and their replication.

L. Ma et al., "Garaph", USENIX ATC 2017, sections 3 and 4 (docs/systems.md, G1 to G3 and G8 to G10).

1. A shard is a run of consecutive vertices with all edges into them.  An edge identifies its vertex by 16
   bits, counted from the shard's first vertex.
2. The block keeps R copies of each vertex, and thread t adds to copy t mod R, so that lanes of a warp that
   add to the same vertex use different addresses.  More copies cost time to merge, and memory.
3. Therefore R grows with the shard's edges per vertex, e / v, up to the 32 lanes of a warp: by default to
   the least cost by Garaph's model (G10), or by its formula (G9), which is near it.

Unlike in Garaph, the edges of a shard are also bounded, so that no block works much longer than the others.
A vertex that exceeds the bound alone is a shard of its own, which is cut into pieces for several blocks.

Nothing here needs a GPU.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.errors import TravError
from rapids_trav.memory.model.program import FEWEST_PIECE_EDGES

LOCAL_VERTICES = 1 << 16  # vertices that 16 bits can distinguish
MOST_REPLICAS = 32  # lanes of a warp
FACTORS = (1, 2, 4, 8, 16, 32)
# A piece has so few edges that every block gets several pieces, within bounds.
PIECES_PER_BLOCK = 8
FEWEST_EDGES, MOST_EDGES = FEWEST_PIECE_EDGES, 1 << 16


@dataclass(frozen=True)
class Shards:
    """The shards of an adjacency, in ascending order of their vertices."""

    firsts: np.ndarray  # int64, (k + 1,): shard `s` is the vertices `firsts[s]` to `firsts[s + 1] - 1`
    factors: np.ndarray  # int32, (k,): copies of each vertex
    # int64, (k + 1,): the shard's first piece.  A vertex with a very long row has several, others one.
    first_pieces: np.ndarray
    piece_edges: int  # most of a piece

    @property
    def n_pieces(self) -> int:
        return int(self.first_pieces[-1])

    @property
    def most_copies(self) -> int:
        """Most copies of vertices that a block holds at once."""
        return int((np.diff(self.firsts) * self.factors).max(initial=0))

    @property
    def piece_shards(self) -> np.ndarray:
        """The shard of each piece, int32."""
        return np.repeat(np.arange(len(self.factors), dtype=np.int32), np.diff(self.first_pieces))


def capacity(n_bytes: int, value_bytes: int) -> int:
    """Return how many copies a block of `n_bytes` holds (G2), at most as many as 16 bits can name (G3)."""
    return min(n_bytes // value_bytes, LOCAL_VERTICES)


def replication_factor(n_edges: int, n_vertices: int) -> int:
    """Return the copies per vertex of a shard (G9): ``2 ** min(ceil(log2(e / v) - 0.5), 5)``, at least 1."""
    if n_edges <= 0 or n_vertices <= 0:
        return 1
    exponent = math.ceil(math.log2(n_edges / n_vertices) - 0.5)
    return 1 << max(0, min(exponent, 5))


def gather_cost(
    factor: int, n_edges: int, n_vertices: int, local_time: float = 1.0, atomic_time: float = 1.0
) -> float:
    """Return the time that a shard takes by Garaph's model (G10).

    It is the sum of clearing the copies, reading the edges, waiting for each other at a vertex, and merging
    the copies.
    """
    clearing = factor * n_vertices * local_time
    reading = n_edges * local_time
    waiting = n_edges**2 * atomic_time / (n_vertices * factor)
    merging = n_vertices * atomic_time * math.log2(factor)
    return clearing + reading + waiting + merging


def cheapest_factor(n_edges: int, n_vertices: int) -> int:
    """Return the copies per vertex of least cost by the model, the fewest of several."""
    if n_edges <= 0 or n_vertices <= 0:
        return 1
    return min(FACTORS, key=lambda factor: gather_cost(factor, n_edges, n_vertices))


CHOICES = {"auto": cheapest_factor, "formula": replication_factor}


def edges_to_a_piece(n_edges: int, n_blocks: int) -> int:
    """Return the bound on a piece's edges when `n_blocks` run at once."""
    return max(FEWEST_EDGES, min(MOST_EDGES, -(-n_edges // (PIECES_PER_BLOCK * n_blocks))))


def cut_shards(
    row_offsets: Array,
    room: int,
    piece_edges: int,
    replication: int | str,
    page_ends: Iterable[int] = (),
) -> Shards:
    """Cut the longest shards that fit, from the first vertex on, with the host's offsets of the in-edges.

    A block has `room` for copies of vertices, by `capacity`, and a shard of several vertices has at most
    `piece_edges`.  A page ends before each of `page_ends`, in ascending order, and its last shard with it.
    """
    factor_of = CHOICES.get(str(replication))
    if factor_of is None and replication not in FACTORS:
        raise TravError(
            f"replication={replication!r} is not known: choose 'auto', 'formula' or one of {FACTORS}."
        )
    if room < MOST_REPLICAS:
        raise TravError(
            f"A block has room for {room} values, but a vertex may need {MOST_REPLICAS}: choose "
            f"gather='rows'."
        )
    n = len(row_offsets) - 1
    firsts, factors, pieces = [0], [], []
    ends, end = iter(page_ends), 0
    while (first := firsts[-1]) < n:
        while end <= first:
            end = int(next(ends, n))
        begin = int(row_offsets[first])
        last = bisect_right(row_offsets, begin + piece_edges, first, end + 1) - 1
        longest = max(1, last - first)
        for most in (int(replication),) if factor_of is None else FACTORS:
            n_vertices = min(longest, room // most)
            n_edges = int(row_offsets[first + n_vertices]) - begin
            factor = most if factor_of is None else factor_of(n_edges, n_vertices)
            if factor <= most:
                break
        firsts.append(first + n_vertices)
        factors.append(factor)
        pieces.append(max(1, -(-n_edges // piece_edges)))
    return Shards(
        np.array(firsts, np.int64),
        np.array(factors, np.int32),
        np.concatenate([[0], np.cumsum(pieces, dtype=np.int64)]).astype(np.int64),
        piece_edges,
    )
