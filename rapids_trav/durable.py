"""What makes files trustworthy: checksums (CRC-32) that tell altered bytes, names that reach the disk, and
folders that are there whole or not at all."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def folder_in_the_making(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, which the block fills and renames to it; it goes if the block fails.

    It is locked as long as somebody fills it.  So those that nobody has locked were left by a process that
    was killed, and are removed first.
    """
    _remove_abandoned(target)
    partial, lock = _locked_folder(target)
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _locked_folder(target: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue  # taken for an abandoned one before it was locked
        with suppress(OSError):  # file systems without locks do without
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            return path, lock
        os.close(lock)


def _remove_abandoned(target: Path) -> None:
    name = re.compile(rf"\.{re.escape(target.name)}\.[^.]+\.partial")
    for path in target.parent.iterdir():
        if name.fullmatch(path.name):
            with suppress(OSError):  # locked, or another user's
                lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
                finally:
                    os.close(lock)
