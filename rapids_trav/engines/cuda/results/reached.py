"""The rows of the vertices that a search has reached, for integer ids, in two launches and one wait."""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.results.columns import MASK_WORDS, kernels_of, labels_of, wait_for_cudf
from rapids_trav.engines.cuda.runtime.arguments import ReachedArguments
from rapids_trav.engines.cuda.runtime.loader import BLOCK
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable, vertex_dtype

MOST_BLOCKS = 1024  # each adds up the counts of those before it
LEAST_ROWS = 4 * BLOCK  # of a block


def reached(
    found: Search, table: IntegerTable, n_sources: int, listed: bool
) -> tuple[dict[str, Array | BitMasked], Array | None]:
    """Return the columns of the vertices that a search from joint sources has reached, and these vertices.

    The columns are `vertex`, `distance` and, if known, `predecessor`, in ascending order of the caller's ids.

    Parameters
    ----------
    n_sources : int
        Number of distinct sources, which have no predecessor.
    listed : bool
        Whether to return the vertices, as internal ids, or None.
    """
    distance, predecessor = found.distance, found.predecessor
    n, dtype = len(distance), table.dtype
    blocks = max(min(-(-n // LEAST_ROWS), MOST_BLOCKS), 1)
    block_rows = -(-n // blocks)
    words = -(-n // (32 * MASK_WORDS)) * MASK_WORDS
    bits, counts = together((words, np.uint32), (blocks, np.uint32))
    kernels = kernels_of("reached.cu", table, n)
    kernels.launch_grid("count_reached", (blocks,), table.rank, distance, n, block_rows, counts, bits)
    n_rows = int(counts.get().sum())
    n_led = 0 if predecessor is None else n_rows
    vertex, level, led, vertices = together(
        (n_rows, dtype), (n_rows, np.int32), (n_led, dtype), (n_rows if listed else 0, vertex_dtype(n))
    )
    if n_rows:
        arguments = ReachedArguments(
            rank=table.rank,
            **labels_of(table),
            n=n,
            block_rows=block_rows,
            distance=distance,
            predecessor=predecessor,
            counts=counts,
            vertices=vertices if listed else None,
            vertex_column=vertex,
            distance_column=level,
            predecessor_column=None if predecessor is None else led,
            predecessor_bits=bits,
        )
        kernels.launch_grid("list_reached", (blocks,), arguments)
    wait_for_cudf()
    columns: dict[str, Array | BitMasked] = {"vertex": vertex, "distance": BitMasked(level, None, lambda: 0)}
    if predecessor is not None:
        columns["predecessor"] = BitMasked(led, bits, lambda: min(n_sources, n_rows))
    return columns, vertices if listed else None
