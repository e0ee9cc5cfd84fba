"""Counts of vertices by distance, in one launch and one wait; see `kernels/level_counts.cu`."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime import loader

BINS = loader.TUNABLES["level_counts.cu"]["BINS"]
_VERTICES_A_THREAD = 16
_MOST_SEARCHES = 65535  # limit of gridDim.y


def level_counts(distance: Array) -> np.ndarray | None:
    """Count each distance of k searches, int64 (k, deepest + 2); the last bin counts the unreached.

    Returns None if a distance is too large for this kernel.
    """
    distance = cupy.ascontiguousarray(distance, np.int32)
    k, n = distance.shape
    counts = cupy.zeros((k, BINS + 2), np.uint64)
    blocks = max(min(-(-n // (_VERTICES_A_THREAD * loader.BLOCK)), loader.most_blocks()), 1)
    loader.load("level_counts.cu").launch_grid(
        "count_levels", (blocks, min(k, _MOST_SEARCHES)), distance, n, k, counts
    )
    found = counts.get().view(np.int64)
    if found[:, BINS + 1].any():
        return None
    used = np.flatnonzero(found[:, :BINS].any(axis=0))
    deepest = int(used[-1]) if len(used) else -1
    return np.concatenate([found[:, : deepest + 1], found[:, BINS : BINS + 1]], axis=1)
