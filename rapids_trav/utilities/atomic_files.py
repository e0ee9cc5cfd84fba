"""Reliable files: CRC-32 checksums, names synced to disk, regular files only, folders complete or absent."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import numpy as np

from rapids_trav.frames.columns import Array, Dtype, move
from rapids_trav.utilities.progress import report

BLOCK = 1 << 24  # bytes read at once
LONGEST_STEM = 200  # bytes of a name that becomes part of another; file systems allow 255


def array_checksum(array: Array, checksum: int = 0, dtype: Dtype = None) -> int:
    """Return the checksum of an array's bytes in `dtype`, continuing from `checksum`."""
    step = max(BLOCK // array.dtype.itemsize, 1)
    for first in range(0, len(array), step):
        block = np.ascontiguousarray(move(array[first : first + step], np), dtype=dtype)
        checksum = zlib.crc32(block.view(np.uint8), checksum)
    return checksum


def file_checksum(path: Path) -> int:
    """Return the checksum of a file's bytes, which are reported as they are read."""
    checksum = done = 0
    with open_plain(path) as file:
        while block := file.read(BLOCK):
            checksum = zlib.crc32(block, checksum)
            done += len(block)
            report(done, None, "bytes")
    return checksum


def plain_size(path: Path) -> int:
    """Return the size of a regular file in bytes; raise `OSError` for a link, a pipe or a device."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, "Is a link", os.fspath(path))
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Is not a file", os.fspath(path))
    return found.st_size


def open_plain(path: Path) -> IO[bytes]:
    """Open a regular file for reading; refuse others as `plain_size` does, without waiting for them."""
    plain_size(path)  # opening a device may have effects
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "Is not a file", os.fspath(path))
    return os.fdopen(handle, "rb")


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder have reached the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def folder_in_the_making(target: Path) -> Iterator[Path]:
    """Make a folder beside `target` for the block to fill and rename; remove it if the block fails.

    The folder is locked while it is filled.  A folder that no process has locked was therefore left by a
    killed process, and such folders are removed first.
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


def _stem(target: Path) -> str:
    """Return the target's name, or its hash if the name leaves no room for a suffix."""
    long = len(os.fsencode(target.name)) > LONGEST_STEM
    return hashlib.sha256(os.fsencode(target.name)).hexdigest() if long else target.name


def _locked_folder(target: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=f".{_stem(target)}.", suffix=".partial", dir=target.parent))
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue  # removed as abandoned before it was locked
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            return path, lock
        os.close(lock)


def _remove_abandoned(target: Path) -> None:
    name = re.compile(rf"\.{re.escape(_stem(target))}\.[^.]+\.partial")
    for path in target.parent.iterdir():
        if name.fullmatch(path.name):
            with suppress(OSError):  # locked, or another user's
                lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
                finally:
                    os.close(lock)
