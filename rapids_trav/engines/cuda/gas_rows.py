"""Launches `gather_rows` of `kernels/gas_rows.cu`.

Where all rows gather, a block for each place on the card keeps the messages of the first vertices in shared
memory; where some do, or messages change meanwhile, there are as many blocks as rows ask for, and no copies.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda import loader
from rapids_trav.engines.cuda.loader import BLOCK, PROGRAM_TUNABLES, Kernels
from rapids_trav.engines.cuda.shared_memory import shared_bytes

GATHER_BLOCK = PROGRAM_TUNABLES["gas_rows.cu"]["GATHER_BLOCK"]
RESIDENT = PROGRAM_TUNABLES["gas_rows.cu"]["GATHER_RESIDENT"]
MOST_BYTES = 96 << 10  # of messages in a block: the rest of the memory is the first level of cache


class RowGather:
    """`gather_rows` for a run over `n` vertices with values of one type.

    Parameters
    ----------
    kernels : Kernels
        Those of `gas_rows.cu`.
    """

    def __init__(self, kernels: Kernels, dtype: np.dtype, n: int) -> None:
        self._kernels = kernels
        self._itemsize = dtype.itemsize
        n_bytes = min(shared_bytes(kernels, "gather_rows", RESIDENT), MOST_BYTES)
        self._n_near = min(n, n_bytes // dtype.itemsize)
        self._n_places = RESIDENT * loader.multiprocessors(cupy.cuda.runtime.getDevice())

    def launch(self, n_threads: int, near: bool, edges: tuple, messages: object, *arguments: object) -> None:
        """Rows that are worth `n_threads` gather `messages` over `edges`; with copies if `near`."""
        if n_threads == 0:
            return
        most = self._n_places if near else loader.most_blocks() * BLOCK // GATHER_BLOCK
        n_near = self._n_near if near else 0
        self._kernels.launch_grid(
            "gather_rows", (min(-(-n_threads // GATHER_BLOCK), most),), *edges, messages, n_near, *arguments,
            block=GATHER_BLOCK, shared_bytes=n_near * self._itemsize,
        )  # fmt: skip
