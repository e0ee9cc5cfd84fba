"""Gathering by shards: `kernels/gas_shards.cu` keeps them in shared memory, with copies of each vertex.

`shards.py` defines shards and the number of copies.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.programs.shards import capacity, cut_shards, edges_to_a_piece
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import ShardArguments
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, Kernels
from rapids_trav.engines.cuda.runtime.shared_memory import shared_bytes

REPLICA_COUNTERS = ("filled", "merged")  # in the order of `ReplicaCounter` in gas_shards.cu


class ShardGather:
    """The shards of the in-edges on the device, which take 2 bytes for each edge.

    Parameters
    ----------
    kernels : Kernels
        The kernels of `gas_shards.cu`.
    dtype : numpy.dtype
        Dtype of the values.
    replication : {"auto", "formula"} or int
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
        into: Adjacency,
        dtype: np.dtype,
        replication: int | str,
        counted: bool = False,
    ) -> None:
        self._kernels, self._into = kernels, into
        tunables = PROGRAM_TUNABLES["gas_shards.cu"]
        self._block = tunables["BLOCK_SIZE"]
        resident = tunables["RESIDENT_BLOCKS"]
        room = capacity(shared_bytes(kernels, "gather_shards", resident), dtype.itemsize)
        n_blocks = resident * loader.multiprocessors(cupy.cuda.runtime.getDevice())
        piece_edges = edges_to_a_piece(into.n_edges, n_blocks)
        self.shards = shards = cut_shards(cupy.asnumpy(into.row_offsets), room, piece_edges, replication)
        self._grid = (max(1, min(shards.n_pieces, n_blocks)),)
        self._n_bytes = shards.most_copies * dtype.itemsize
        # As kernels take it, by name and in their order.
        self._table: dict[str, Array | int] = {
            "firsts": cupy.asarray(shards.firsts),
            "factors": cupy.asarray(shards.factors),
            "first_pieces": cupy.asarray(shards.first_pieces),
            "piece_shards": cupy.asarray(shards.piece_shards),
            "n_pieces": shards.n_pieces,
            "piece_edges": shards.piece_edges,
        }
        self._results = cupy.empty(shards.n_pieces, dtype)
        self._tickets = cupy.zeros(len(shards.factors), np.uint32)
        self._local_ids = cupy.empty(into.n_edges, np.uint16)
        self.cycles: Array | None = None
        self._counts: cupy.ndarray = cupy.zeros(len(REPLICA_COUNTERS), np.uint64) if counted else None
        kernels.launch_grid(
            "name_rows", self._grid, into.row_offsets, *self._table.values(), self._local_ids,
            block=self._block,
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes of device memory that are held."""
        held = (*self._table.values(), self._results, self._tickets, self._local_ids)
        return sum(array.nbytes for array in held if isinstance(array, cupy.ndarray))

    @property
    def counters(self) -> dict[str, int]:
        """Counts of the uses of the copies so far, if they are counted; see `Run.counters`."""
        if self._counts is None:
            return {}
        return dict(zip(REPLICA_COUNTERS, self._counts.tolist(), strict=True))

    def gather(self, weights: Array | None, messages: Array, **vertices: Array) -> None:
        """Gather `messages` at every vertex and apply; `vertices` are those of `ProgramState`."""
        into = self._into
        arguments = ShardArguments(
            row_offsets=into.row_offsets,
            column_indices=into.column_indices,
            weights=weights,
            messages=messages,
            **self._table,
            local_ids=self._local_ids,
            results=self._results,
            tickets=self._tickets,
            cycles=self.cycles,
            replica_counters=self._counts,
            **vertices,
        )
        self._kernels.launch_grid(
            "gather_shards", self._grid, arguments, block=self._block, shared_bytes=self._n_bytes
        )
