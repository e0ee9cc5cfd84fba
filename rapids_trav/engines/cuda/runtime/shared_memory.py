"""The shared memory that a block of a kernel can get when it is launched."""

from __future__ import annotations

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.loader import Kernels


def shared_bytes(kernels: Kernels, name: str, n_blocks: int) -> int:
    """Return the bytes a block may use, besides those declared, if `n_blocks` share a multiprocessor.

    The kernel is opted in to more than the 48 KB that every kernel may have.
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
    """Return the shared memory of a block, if `n_blocks` are resident on a multiprocessor.

    On an H100 one block may have `most` 227 KB, by opting in, a `multiprocessor` has 228 KB (left out: as
    much as `most`), of which 1 KB is `reserved` by the system for each block.
    """
    whole = most if multiprocessor is None else multiprocessor
    return min(most, whole // n_blocks - reserved)
