"""Distribution of edges to the ranks that hold them, and their grouping there (docs/systems.md, K2 to K4).

Each rank starts with any part of the edges.  In rounds, until no rank has any left:

1. read edges until `round_edges` are waiting, find the rank of each and its local ids there, and sort them by
   rank;
2. send each rank at most its share of `round_edges`; the rest waits for the next round.

So a rank holds no more than a few times `round_edges` in addition to its own edges, however the edges are
distributed: if one rank gets most of them, there are more rounds.  At the end each rank groups its edges by
source.  An undirected edge is stored as two edges, a self-loop once; repeated edges are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator, aborting
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_work import SHIFT, Array, Compressed, LocalWork
from rapids_trav.errors import TravError

ROUND_EDGES = 1 << 22  # 32 MiB in transit into and out of each rank
TRANSPOSING_BYTES = 48  # per edge, at most: keys, the sort's copy of them, edge numbers and sources


@dataclass(frozen=True)
class Part:
    """The edges of one rank."""

    grid: Grid
    rank: int
    work: LocalWork
    directed: bool
    by_source: Compressed  # rows are the sources of the rank's column, targets the destinations of its row
    rounds: int = 0  # in which the edges were sent
    most_waiting: int = 0  # edges, at most, that waited to be sent, or were received, in one round

    @cached_property
    def by_destination(self) -> Compressed:
        """The edges grouped by destination, for backward searches; built at the first use."""
        return self.work.transpose(self.by_source, self.grid.local_rows)

    def grouped_by_both(self) -> bool:
        """Group the edges by destination too, if there is memory to spare; return whether they are."""
        if "by_destination" not in self.__dict__:
            shared_by = self.grid.size if self.work.xp is np else 1  # ranks that may be on the same host
            if TRANSPOSING_BYTES * self.n_edges > self.work.free_bytes() // (2 * shared_by):
                return False
        try:
            return self.by_destination is not None
        except MemoryError:
            return False

    @property
    def n_edges(self) -> int:
        """Number of edges of this rank; undirected edges count once for each direction."""
        return len(self.by_source.targets)

    @property
    def nbytes(self) -> int:
        """Bytes of all that is built so far."""
        transposed = self.__dict__.get("by_destination")
        return self.by_source.nbytes + (transposed.nbytes if transposed else 0)


def build(
    communicator: Communicator,
    grid: Grid,
    chunks: Iterable[tuple[Array, Array]],
    work: LocalWork,
    *,
    directed: bool = False,
    round_edges: int = ROUND_EDGES,
) -> Part:
    """Distribute the edges over the ranks; every rank calls it with its part of the edges.

    `chunks` are pairs of integer arrays of the engine, source and destination, ids from 0 to n_vertices - 1;
    in a round a rank sends and receives `round_edges` edges at most.

    Raises a `TravError` if an id is not that of a vertex, or the number of ranks is not that of the grid.
    """
    if communicator.size != grid.size:
        raise TravError(
            f"A grid of {grid.n_rows} x {grid.n_columns} needs {grid.size} ranks, but the communicator has "
            f"{communicator.size}: choose a grid of that many ranks."
        )
    with aborting(communicator, "distributing edges"):
        pieces, rounds, most_waiting = send_edges(
            communicator, grid, chunks, work, directed=directed, round_edges=round_edges
        )
        edges = work.compress(pieces, grid.local_columns)
    return Part(grid, communicator.rank, work, directed, edges, rounds, most_waiting)


def send_edges(
    communicator: Communicator,
    grid: Grid,
    chunks: Iterable[tuple[Array, Array]],
    work: LocalWork,
    *,
    directed: bool,
    round_edges: int,
) -> tuple[list[Array], int, int]:
    """Send edges to their ranks; every rank calls it.

    Returns this rank's edges as int64 keys, the local id of the source in the upper half and of the
    destination below; the number of rounds; and the most edges that waited, or were received, in one.
    """
    share = max(1, round_edges // grid.size)
    cut = blocks(chunks, max(1, round_edges // (1 if directed else 2)))
    waiting = [work.xp.empty(0, np.int64)] * grid.size
    pieces: list[Array] = []
    rounds = most = 0
    exhausted = False
    while True:
        while not exhausted and sum(map(len, waiting)) < round_edges:
            block = next(cut, None)
            exhausted = block is None
            if block is not None:
                arrived = _keys_by_rank(work, grid, *block, directed)
                waiting = [
                    work.xp.concatenate(pair) if len(pair[0]) else pair[1]
                    for pair in zip(waiting, arrived, strict=True)
                ]
        received = communicator.exchange(communicator.everyone, [keys[:share] for keys in waiting])
        rounds += 1
        most = max(most, sum(map(len, waiting)), sum(map(len, received)))
        waiting = [keys[share:] for keys in waiting]
        pieces.append(work.xp.concatenate(received))
        left = not exhausted or any(map(len, waiting))
        if communicator.sum([left]) == [0]:
            return pieces, rounds, most


def blocks(chunks: Iterable[tuple[Array, Array]], length: int) -> Iterator[tuple[Array, Array]]:
    """Cut chunks into blocks of bounded length."""
    for source, destination in chunks:
        if len(source) != len(destination):
            raise TravError(
                f"A chunk has {len(source)} sources and {len(destination)} destinations: give equally many."
            )
        for begin in range(0, len(source), length):
            yield source[begin : begin + length], destination[begin : begin + length]


def _keys_by_rank(
    work: LocalWork, grid: Grid, source: Array, destination: Array, directed: bool
) -> list[Array]:
    """Return each rank's edges as keys: the local source in the upper half, the destination below."""
    xp = work.xp
    for end in (source, destination):
        low, high = int(end.min()), int(end.max())
        if low < 0 or high >= grid.n_vertices:
            raise TravError(
                f"An edge has the end {low if low < 0 else high}, but the vertices are 0 to "
                f"{grid.n_vertices - 1}: give internal ids."
            )
    source, destination = (end.astype(grid.vertex_dtype, copy=False) for end in (source, destination))
    if not directed:
        back = source != destination
        source, destination = (
            xp.concatenate([source, destination[back]]),
            xp.concatenate([destination, source[back]]),
        )
    keys = grid.column_id(source).astype(np.int64) << SHIFT | grid.row_id(destination)
    ranks = grid.edge_rank(source, destination)
    if grid.size < 2**15:
        ranks = ranks.astype(np.int16)  # NumPy uses radix sort for 16 bits
    order = xp.argsort(ranks, kind="stable")
    bounds = xp.searchsorted(ranks[order], xp.arange(grid.size + 1, dtype=ranks.dtype)).tolist()
    keys = keys[order]
    return [keys[begin:end] for begin, end in pairwise(bounds)]
