"""Selection of the device: modules `cpu` and `cuda` offer the same functions over NumPy and CuPy arrays.

`cpu` documents them.  They are imported only when needed, so this package requires neither Numba nor CuPy.
"""

from __future__ import annotations

from types import ModuleType

from rapids_trav.csr.adjacency import Array


def named(engine: str) -> ModuleType:
    """Return the functions for the engine called "cpu" or "cuda"."""
    if engine == "cuda":
        from rapids_trav.graph500 import cuda

        return cuda
    from rapids_trav.graph500 import cpu

    return cpu


def of(array: Array) -> ModuleType:
    """Return the functions for the device that holds an array."""
    return named("cuda" if hasattr(array, "__cuda_array_interface__") else "cpu")
