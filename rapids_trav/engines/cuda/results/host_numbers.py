"""Numbers that the host gives to a kernel, or reads from it after one wait."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import cupy
import cupyx
import numpy as np
import numpy.typing as npt

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.stream.buffers import host_address

FEW = 4096  # more are copied, since CuPy keeps pinned memory of each size for later


class HostNumbers:
    """Numbers that kernels launched inside a ``with`` block read or write, and that the host has after it.

    Few of them are in pinned memory, which kernels reach: a copy of a few numbers takes longer than a kernel.
    """

    def __init__(self, memory: Array) -> None:
        self._memory = memory

    @classmethod
    def empty(cls, n: int, dtype: npt.DTypeLike) -> Self:
        """Make room for `n` numbers."""
        return cls(cupyx.empty_pinned(n, dtype) if n <= FEW else cupy.empty(n, dtype))

    @classmethod
    def of(cls, values: np.ndarray, dtype: npt.DTypeLike) -> Self:
        """Copy numbers of the host."""
        if len(values) > FEW:
            return cls(cupy.asarray(values, dtype))
        numbers = cls.empty(len(values), dtype)
        numbers._memory[:] = values
        return numbers

    @property
    def argument(self) -> Array | int:
        """The numbers in the form that kernels take: an address or a device array."""
        return host_address(self._memory) if isinstance(self._memory, np.ndarray) else self._memory

    @property
    def on_host(self) -> np.ndarray:
        """The numbers, after the block."""
        found: np.ndarray = cupy.asnumpy(self._memory)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for the kernels, on an error too, since they may still write."""
        cupy.cuda.get_current_stream().synchronize()
