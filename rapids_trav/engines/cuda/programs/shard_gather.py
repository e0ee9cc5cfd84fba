"""Gathering by shards, which `kernels/gas_shards.cu` keeps in shared memory, with copies of each vertex.

`shards.py` defines shards and the number of copies.  This module launches the kernel, over all shards for
edges in the GPU's memory; `stream/page_shards.py` launches it over the shards of a page.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.programs.tally import FRONTIER
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import ShardArguments
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, Kernels
from rapids_trav.engines.cuda.runtime.memory import shared_bytes
from rapids_trav.engines.runs import RunOptions
from rapids_trav.errors import TravError
from rapids_trav.memory.model.program import FEWEST_PIECE_EDGES

LOCAL_VERTICES = 1 << 16  # vertices that 16 bits can distinguish
MOST_REPLICAS = 32  # lanes of a warp
FACTORS = (1, 2, 4, 8, 16, 32)
# The meaning of replication="auto".
MEASURED_BEST = "formula"
# A piece has so few edges that every block gets several pieces, within bounds.
PIECES_PER_BLOCK = 8
FEWEST_EDGES, MOST_EDGES = FEWEST_PIECE_EDGES, 1 << 16


@dataclass(frozen=True)
class Shards:
    """The shards of an adjacency, in ascending order of their vertices.

    Attributes
    ----------
    firsts : int64 array, (k + 1,)
        Shard `s` is the vertices `firsts[s]` to `firsts[s + 1] - 1`.
    factors : int32 array, (k,)
        Copies of each vertex.
    first_pieces : int64 array, (k + 1,)
        Piece `first_pieces[s]` is the shard's first.  A vertex with a very long row has several, others one.
    piece_edges : int
        Most edges of a piece.
    """

    firsts: np.ndarray
    factors: np.ndarray
    first_pieces: np.ndarray
    piece_edges: int

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


def best_factor(n_edges: int, n_vertices: int, local_time: float = 1.0, atomic_time: float = 1.0) -> float:
    """Return the model's optimum without merging: ``(e / v) * sqrt(atomic_time / local_time)``."""
    return n_edges / n_vertices * math.sqrt(atomic_time / local_time)


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
    """Cut the longest shards that fit, from the first vertex on.

    Parameters
    ----------
    row_offsets : integer array on the host, (n + 1,)
        Offsets of the in-edges.
    room : int
        Copies of vertices that a block holds, by `capacity`.
    piece_edges : int
        Most edges of a shard of several vertices.
    replication : {"auto", "formula", 1, 2, 4, 8, 16, 32}
        The factor; "formula": by the formula for each shard.
    page_ends : iterable of int, optional
        Vertices before which a page ends, in ascending order, and its last shard with it.
    """
    if replication == "auto":
        replication = MEASURED_BEST
    if replication != "formula" and replication not in FACTORS:
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
        for most in FACTORS if replication == "formula" else (int(replication),):
            n_vertices = min(longest, room // most)
            n_edges = int(row_offsets[first + n_vertices]) - begin
            factor = replication_factor(n_edges, n_vertices) if replication == "formula" else most
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


REPLICA_COUNTERS = ("filled", "merged")  # in the order of `ReplicaCounter` in gas_shards.cu


def by_shards(options: RunOptions) -> bool:
    """Return whether a run that gathers for all vertices does so by shards."""
    if options.gather not in ("rows", "replicas"):
        raise TravError(f"gather={options.gather!r} is not known: choose 'rows' or 'replicas'.")
    return options.gather == "replicas"


class ShardPieces:
    """The shards of an adjacency and their pieces on the device, and launches over runs of pieces.

    Parameters
    ----------
    kernels : Kernels
        The kernels of `gas_shards.cu`.
    row_offsets : NumPy array, (n + 1,)
        Offsets of the in-edges.
    on_device : array, (n + 1,)
        The same offsets on the device.
    dtype : numpy.dtype
        Dtype of the values.
    replication : {"auto", "formula"} or int
        See `shards.cut_shards`.
    most_edges : int
        Edges of the largest launch.
    page_ends : iterable of int, optional
        See `shards.cut_shards`.
    counted : bool
        Whether the kernels are the ones that count (COUNTS).

    Attributes
    ----------
    shards : Shards
    cycles : int64 array or None
        If set, has one entry for each piece, which gets the clock cycles that the piece takes.
    """

    def __init__(
        self,
        kernels: Kernels,
        row_offsets: Array,
        on_device: Array,
        dtype: np.dtype,
        replication: int | str,
        most_edges: int,
        page_ends: Iterable[int] = (),
        counted: bool = False,
    ) -> None:
        self._kernels, self._row_offsets = kernels, on_device
        tunables = PROGRAM_TUNABLES["gas_shards.cu"]
        self._block = tunables["BLOCK_SIZE"]
        resident = tunables["RESIDENT_BLOCKS"]
        room = capacity(shared_bytes(kernels, "gather_shards", resident), dtype.itemsize)
        self._n_blocks = resident * loader.multiprocessors(cupy.cuda.runtime.getDevice())
        piece_edges = edges_to_a_piece(most_edges, self._n_blocks)
        self.shards = shards = cut_shards(row_offsets, room, piece_edges, replication, page_ends)
        self._n_bytes = shards.most_copies * dtype.itemsize
        # As kernels take it, by name and in their order.
        self._table: dict[str, Array | int] = {
            "firsts": cupy.asarray(shards.firsts),
            "factors": cupy.asarray(shards.factors),
            "first_pieces": cupy.asarray(shards.first_pieces),
            "piece_shards": cupy.asarray(shards.piece_shards),
            "piece_edges": shards.piece_edges,
        }
        self._results = cupy.empty(shards.n_pieces, dtype)
        self._tickets = cupy.zeros(len(shards.factors), np.uint32)
        self.cycles: Array | None = None
        self._counts: cupy.ndarray = cupy.zeros(len(REPLICA_COUNTERS), np.uint64) if counted else None

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that are held."""
        held = (*self._table.values(), self._results, self._tickets)
        return sum(array.nbytes for array in held if isinstance(array, cupy.ndarray))

    @property
    def counters(self) -> dict[str, int]:
        """Counts of the uses of the copies so far, if they are counted; see `Run.counters`."""
        if self._counts is None:
            return {}
        return dict(zip(REPLICA_COUNTERS, self._counts.tolist(), strict=True))

    def name(self, pieces: tuple[int, int], local_ids: Array | np.uint64) -> None:
        """Write each edge's place in its shard, for the pieces from the first up to the last.

        `local_ids` is that of edge 0, or its address.
        """
        first, after = pieces
        self._kernels.launch_grid(
            "name_rows", self._grid(after - first), self._row_offsets, *self._table.values(), first,
            after - first, local_ids, block=self._block,
        )  # fmt: skip

    def gather_pieces(
        self,
        pieces: tuple[int, int],
        edges: tuple[Array | int, Array | int | None],
        local_ids: Array | int,
        next_piece: Array,
        messages: Array,
        **vertices: Array,
    ) -> None:
        """Gather `messages` at the vertices of whole shards and apply; `vertices` are of `ProgramState`.

        Parameters
        ----------
        pieces : (int, int)
            The first piece of the shards, and the first after them.
        edges : (array or address, array or address or None)
            Columns and weights from edge 0 on.
        next_piece : uint64 array, (1,)
            Contains 0, and belongs to this launch.
        """
        columns, weights = edges
        first, after = pieces
        arguments = ShardArguments(
            row_offsets=self._row_offsets,
            column_indices=columns,
            weights=weights,
            messages=messages,
            **self._table,
            first_number=first,
            n_pieces=after - first,
            next_piece=next_piece,
            local_ids=local_ids,
            results=self._results,
            tickets=self._tickets,
            cycles=self.cycles,
            replica_counters=self._counts,
            **vertices,
        )
        grid = self._grid(after - first)
        self._kernels.launch_grid(
            "gather_shards", grid, arguments, block=self._block, shared_bytes=self._n_bytes
        )

    def _grid(self, n_pieces: int) -> tuple[int]:
        return (max(1, min(n_pieces, self._n_blocks)),)


class ShardGather(ShardPieces):
    """The shards of the in-edges in the GPU's memory, which take 2 bytes for each edge.

    Parameters
    ----------
    kernels, dtype, replication, counted
        As in `ShardPieces`.
    """

    def __init__(
        self,
        kernels: Kernels,
        into: Adjacency,
        dtype: np.dtype,
        replication: int | str,
        counted: bool = False,
    ) -> None:
        offsets = cupy.asnumpy(into.row_offsets)
        super().__init__(
            kernels, offsets, into.row_offsets, dtype, replication, into.n_edges, counted=counted
        )
        self._into = into
        self._local_ids = cupy.empty(into.n_edges, np.uint16)
        self.name(self._all, self._local_ids)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._local_ids.nbytes

    def gather(self, weights: Array | None, messages: Array, **vertices: Array) -> None:
        """Gather `messages` at every vertex and apply; `vertices` are those of `ProgramState`."""
        # Programs do not use this counter of the iteration's row otherwise.
        next_piece = vertices["counters"][FRONTIER : FRONTIER + 1]
        edges = self._into.column_indices, weights
        self.gather_pieces(self._all, edges, self._local_ids, next_piece, messages, **vertices)

    @property
    def _all(self) -> tuple[int, int]:
        return 0, self.shards.n_pieces
