"""Stand-in for `cupyx`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cupy.cuda import PinnedMemory, PinnedMemoryPointer


def empty_pinned(shape: Any, dtype: Any = float) -> np.ndarray:
    """Return an array of the host that the device can access."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    memory = PinnedMemory(math.prod(shape) * np.dtype(dtype).itemsize)
    return np.ndarray(shape, dtype, PinnedMemoryPointer(memory, 0))
