"""Stand-in for CuPy on a machine without a GPU: arrays in host memory, and kernels that run on the CPU.

It has what rapids_trav and its tests use, and is stricter than CuPy: arrays of the host and of the device are
kept apart, memory starts with a pattern, and streams run as late and as disorderly as events allow.
"""

from __future__ import annotations

from numpy import (
    int32,
    int64,
    uint32,
    uint64,
)

from cupy import _functions, cuda, random
from cupy._arrays import ndarray
from cupy._creation import (
    array,
    asarray,
    ascontiguousarray,
    asnumpy,
    empty,
    empty_like,
    full,
    ones,
    zeros,
    zeros_like,
)
from cupy._functions import lexsort, split
from cupy._kernels import RawModule
from cupy.cuda.pool import get_default_memory_pool

__version__ = "0.emulated"
globals().update(_functions.by_name())

__all__ = [
    "RawModule", "array", "asarray", "ascontiguousarray", "asnumpy", "cuda", "empty",
    "empty_like", "full", "get_default_memory_pool", "int32",
    "int64", "lexsort", "ndarray", "ones", "random", "split", "uint32", "uint64", "zeros",
    "zeros_like",
]  # fmt: skip
