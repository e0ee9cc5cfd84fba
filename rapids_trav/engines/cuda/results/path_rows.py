"""The rows of shortest paths, for integer ids, in two launches and one wait; see `kernels/path_rows.cu`."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.results.columns import MASK_WORDS, kernels_of, labels_of, wait_for_cudf
from rapids_trav.engines.cuda.runtime.arguments import PathArguments
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable


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
    picked = cupy.empty(n_entries + 1, vertex)
    distance = cupy.ascontiguousarray(found.distance)
    kernels.launch(
        "pick_distances", n_entries + 1, distance, n, sources, n_searches, targets, n_targets, picked
    )
    *distances, source = picked.get().astype(np.int64)
    if source < 0 and len(sources) == 1:
        return None
    level = np.array(distances, np.int64)
    ends = np.cumsum(np.maximum(level, 0) + 1)
    n_rows, unreached = int(ends[-1]), ends[level < 0] - 1
    on_device, bits = _uploaded(ends, unreached)
    source_column, target_column, step_column, vertex_column = together(
        (n_rows if each else 0, table.dtype), (n_rows, table.dtype), (n_rows, np.int32), (n_rows, table.dtype)
    )
    arguments = PathArguments(
        n_vertices=n,
        n_targets=n_targets,
        n_entries=n_entries,
        sources=sources,
        targets=targets,
        picked=picked,
        ends=on_device,
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


def _uploaded(ends: np.ndarray, unreached: np.ndarray) -> tuple[Array, Array | None]:
    """Return the ends of the entries, and the mask of the rows if some are null, in one copy."""
    n_words = -(-int(ends[-1]) // (32 * MASK_WORDS)) * MASK_WORDS if len(unreached) else 0
    begin = n_words * 4  # a multiple of 64 bytes
    host = np.empty(begin + ends.nbytes, np.uint8)
    host[:begin] = 0xFF
    np.bitwise_and.at(host, unreached // 8, ~(1 << unreached % 8).astype(np.uint8))
    host[begin:] = ends.view(np.uint8)
    both = cupy.asarray(host)
    return both[begin:].view(np.int64), both[:begin].view(np.uint32) if n_words else None
