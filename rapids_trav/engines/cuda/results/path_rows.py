"""The rows of shortest paths, for integer ids, in two launches and one wait; see `kernels/path_rows.cu`."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.results.columns import (
    MASK_WORDS,
    HostNumbers,
    kernels_of,
    labels_of,
    wait_for_cudf,
)
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.cuda.runtime.memory import copied_together, together
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable

PathArguments = arguments_of("path_rows.cu", "PathArguments")


def path_rows(
    found: Search, sources: Array, targets: Array, table: IntegerTable, each: bool
) -> dict[str, Array | BitMasked] | None:
    """Return the columns of the paths to `targets`; None if the only source is -1.

    Parameters
    ----------
    found : Search
        One search from joint sources, with arrays of shape (n,), or `each` of k, with arrays of shape (k, n).
    """
    assert found.predecessor is not None  # searches for paths ask for them
    n_searches, n = (1, *found.distance.shape)[-2:]
    n_targets, n_entries = len(targets), n_searches * len(targets)
    kernels, vertex = kernels_of("path_rows.cu", table, n), found.predecessor.dtype
    distance = cupy.ascontiguousarray(found.distance)
    with HostNumbers.empty(n_entries + 1, vertex) as picked:
        kernels.launch(
            "pick_distances", n_entries + 1, distance, n, sources, n_searches, targets, n_targets,
            picked.argument,
        )  # fmt: skip
    numbers = picked.on_host
    level, source = numbers[:-1], numbers[-1]
    if source < 0 and len(sources) == 1:
        return None
    ends = np.cumsum(np.maximum(level, 0) + 1, dtype=np.int64)
    n_rows, unreached = int(ends[-1]), ends[level < 0] - 1
    bits, row_ends, levels = copied_together(_mask(n_rows, unreached), ends, level)
    source_column, target_column, step_column, vertex_column = together(
        (n_rows if each else 0, table.dtype), (n_rows, table.dtype), (n_rows, np.int32), (n_rows, table.dtype)
    )
    arguments = PathArguments(
        n_vertices=n,
        n_targets=n_targets,
        n_entries=n_entries,
        sources=sources,
        targets=targets,
        picked=levels,
        ends=row_ends,
        predecessors=cupy.ascontiguousarray(found.predecessor),
        **labels_of(table),
        source_column=source_column if each else None,
        target_column=target_column,
        step_column=step_column,
        vertex_column=vertex_column,
    )
    kernels.launch("write_paths", n_entries, arguments)
    wait_for_cudf()

    def n_null() -> int:
        return len(unreached)

    columns: dict[str, Array | BitMasked] = {"source": source_column} if each else {}
    return columns | {
        "target": target_column,
        "step": BitMasked(step_column, bits, n_null),
        "vertex": BitMasked(vertex_column, bits, n_null),
    }


def _mask(n_rows: int, unreached: np.ndarray) -> np.ndarray:
    """Return the mask in which the rows of unreached targets are null, of no words if there are none."""
    n_words = -(-n_rows // (32 * MASK_WORDS)) * MASK_WORDS if len(unreached) else 0
    mask = np.full(4 * n_words, 0xFF, np.uint8)
    if len(unreached):
        np.bitwise_and.at(mask, unreached // 8, ~(1 << unreached % 8).astype(np.uint8))
    return mask.view(np.uint32)
