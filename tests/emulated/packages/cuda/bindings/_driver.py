"""The driver of the stand-in, by the names and the order of arguments of cuda.bindings."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from cupy._kernels import kernel_of
from cupy._streams import get_current_stream

_LEGACY_STREAM = 1


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1


class CUpointer_attribute(IntEnum):
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17


def cuPointerGetAttribute(attribute: CUpointer_attribute, address: int) -> tuple[CUresult, int]:
    """Return the pool that an address is in: the stand-in has none."""
    return CUresult.CUDA_SUCCESS, 0


def cuLaunchKernel(*given: Any) -> tuple[CUresult]:
    *given, extra = given
    return _launch(*given, cooperative=False) if extra == 0 else (CUresult.CUDA_ERROR_INVALID_VALUE,)


def cuLaunchCooperativeKernel(*given: Any) -> tuple[CUresult]:
    return _launch(*given, cooperative=True)


def _launch(
    function: int,
    grid_x: int,
    grid_y: int,
    grid_z: int,
    block_x: int,
    block_y: int,
    block_z: int,
    shared_bytes: int,
    stream: int,
    parameters: int,
    *,
    cooperative: bool,
) -> tuple[CUresult]:
    current, kernel = get_current_stream(), kernel_of(function)
    if stream != (current.ptr or _LEGACY_STREAM):
        raise ValueError(f"{kernel.name} is launched on stream {stream} in place of {current.ptr}")
    grid, block = (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    kernel.launch(grid, block, kernel.read(parameters), shared_bytes, current, cooperative)
    return (CUresult.CUDA_SUCCESS,)
