"""Sums of weights, in a type that holds them."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rapids_trav.frames.columns import Values

LIMIT = 2**63 - 1  # largest sum of integers
BLOCK = 1 << 22


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """Return the type in which weights are added: int64 for integers, float64 for floats up to 64 bits."""
    if dtype.kind in "iub":
        return np.dtype(np.int64)
    return np.result_type(dtype, np.float64)


def magnitude(values: Values, xp: ModuleType = np) -> int:
    """Return the sum of the absolute values of an array of integers, exactly."""
    total = 0
    for first in range(0, len(values), BLOCK):
        block = xp.asarray(values[first : first + BLOCK])
        if block.dtype.kind == "i":
            block = xp.abs(block.astype(np.int64)).view(np.uint64)  # that of -2^63 is 2^63
        low = int((block.astype(np.uint64) & np.uint64(2**32 - 1)).sum())
        total += low + (int((block.astype(np.uint64) >> np.uint64(32)).sum()) << 32)
    return total
