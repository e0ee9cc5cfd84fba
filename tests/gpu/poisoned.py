"""Shared memory filled with a value before a search, to detect reads of memory that was never written."""

from __future__ import annotations

from pathlib import Path

import cupy
import numpy as np

from rapids_trav.engines.cuda.runtime.loader import attribute

VALUE = 0x7F3F5F6F  # large and positive, also as half of a 64-bit count
_WAVES = 4  # blocks for each multiprocessor, so that every multiprocessor runs some


def poison_shared_memory() -> None:
    """Fill the shared memory of every multiprocessor, once at its largest and once at a usual size."""
    device = cupy.cuda.runtime.getDevice()
    code = (Path(__file__).parent / "poison.cu").read_text()
    kernel = cupy.RawModule(code=code, backend="nvrtc").get_function("poison")
    largest = attribute(device, "MaxSharedMemoryPerBlockOptin")
    kernel.max_dynamic_shared_size_bytes = largest
    n_different = cupy.zeros(1, np.uint32)
    blocks = _WAVES * attribute(device, "MultiProcessorCount")
    for n_bytes in (largest, 32 << 10):
        arguments = (np.uint32(VALUE), np.int32(n_bytes // 4), n_different)
        kernel((blocks,), (1024,), arguments, shared_mem=n_bytes)
    assert int(n_different[0]) == 0
