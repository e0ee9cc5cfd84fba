"""Launches of kernels that take one struct, by the driver's own call.

CuPy converts the arguments of each launch, which takes the host several microseconds, while a whole search
of a small graph takes the GPU some forty.  The driver takes the address of the struct (CUDA Driver API,
`cuLaunchKernel`).
"""

from __future__ import annotations

import ctypes
import functools
from types import ModuleType

# The default stream; 0 can also mean the thread's own, by a setting of cuda.bindings.
_LEGACY_STREAM = 1


@functools.cache
def _modules() -> tuple[ModuleType, ModuleType] | None:
    """Return `cuda.bindings.driver`, which cuDF needs, and `cupy`; None without the former."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    import cupy

    return driver, cupy


def launch(
    function: int,
    grid: tuple[int, ...],
    block: int,
    arguments: ctypes.Structure,
    shared_bytes: int,
    cooperative: bool,
) -> bool:
    """Launch `function`, a kernel's pointer, on CuPy's current stream; return False if CuPy has to launch it.

    It has to without cuda.bindings, and after an error: CuPy sets the context of a thread that has none, and
    raises its own exception for any other error.
    """
    modules = _modules()
    if modules is None:
        return False
    driver, cupy = modules
    parameter = ctypes.c_void_p(ctypes.addressof(arguments))
    shape = (*(*grid, 1, 1)[:3], block, 1, 1)
    stream = cupy.cuda.get_current_stream().ptr or _LEGACY_STREAM
    given = (function, *shape, shared_bytes, stream, ctypes.addressof(parameter))
    (error,) = driver.cuLaunchCooperativeKernel(*given) if cooperative else driver.cuLaunchKernel(*given, 0)
    return bool(error == 0)
