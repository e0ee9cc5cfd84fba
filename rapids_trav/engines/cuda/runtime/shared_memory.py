"""How much shared memory a block of a kernel can be given when it is launched."""

from __future__ import annotations

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.loader import Kernels


def shared_bytes(kernels: Kernels, name: str, n_blocks: int) -> int:
    """Return the bytes a block may ask for, besides those declared, if so many blocks share a multiprocessor.

    Opts in to more than the 48 KB that every kernel may have.
    """
    import cupy

    device, driver = cupy.cuda.runtime.getDevice(), cupy.cuda.driver
    most, multiprocessor, reserved = (
        loader.attribute(device, name)
        for name in (
            "MaxSharedMemoryPerBlockOptin",
            "MaxSharedMemoryPerMultiprocessor",
            "ReservedSharedMemoryPerBlock",
        )
    )
    function = kernels.function(name).ptr
    own = driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
    driver.funcSetAttribute(function, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own)
    return block_bytes(n_blocks, most, multiprocessor, reserved) - own


def block_bytes(n_blocks: int, most: int, multiprocessor: int | None = None, reserved: int = 0) -> int:
    """Shared memory of a block, if `n_blocks` are resident on a multiprocessor.

    Parameters
    ----------
    most : int
        What one block may have at most, by opting in; 227 KB on an H100.
    multiprocessor : int, optional
        What a multiprocessor has, 228 KB there; `most` if left out.
    reserved : int
        What the system takes of it for each block, 1 KB there.
    """
    whole = most if multiprocessor is None else multiprocessor
    return min(most, whole // n_blocks - reserved)
