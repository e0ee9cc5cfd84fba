"""What makes files trustworthy: checksums (CRC-32) that tell altered bytes, and names that reach the disk."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .frames import move

BLOCK = 1 << 24  # bytes that are read at once


def array_checksum(array: Any, checksum: int = 0, dtype: Any = None) -> int:
    """Of an array's bytes in `dtype`, wherever it lies; `checksum` is that of what comes before."""
    step = max(BLOCK // array.dtype.itemsize, 1)
    for first in range(0, len(array), step):
        block = np.ascontiguousarray(move(array[first : first + step], np), dtype=dtype)
        checksum = zlib.crc32(block.view(np.uint8), checksum)
    return checksum


def file_checksum(path: Path) -> int:
    """Of a file's bytes."""
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder have reached the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
