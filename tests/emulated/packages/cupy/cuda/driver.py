"""The driver of the stand-in, which knows a kernel by its pointer."""

from __future__ import annotations

from cupy._kernels import kernel_of
from cupy.cuda.device_limits import SHARED_BYTES_DECLARED

CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


def funcGetAttribute(attribute: int, function: int) -> int:
    if attribute != CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        raise ValueError(f"attribute {attribute} of a kernel")
    return SHARED_BYTES_DECLARED


def funcSetAttribute(function: int, attribute: int, value: int) -> None:
    if attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        raise ValueError(f"attribute {attribute} of a kernel")
    kernel_of(function).max_dynamic_shared_size_bytes = value
