"""Counts of what the host asks of the device, each of which takes the host some microseconds.

A function of arrays is one operation here, though CuPy may launch several kernels for it.  Views, and what
the stand-in itself waits for, are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Counts:
    """Numbers of requests.

    Attributes
    ----------
    launches : int
        Kernels of the package.
    operations : int
        Functions of arrays, and copies between host and device.
    allocations : int
        Allocations of device memory, those of the operations' results included.
    waits : int
        Requests for which the host waits for the device.
    """

    launches: int = 0
    operations: int = 0
    allocations: int = 0
    waits: int = 0


_COUNTED: list[Counts] = []  # of the blocks of `counting` that are running


@contextmanager
def counting() -> Iterator[Counts]:
    """Count the requests inside the block, of all threads."""
    counts = Counts()
    _COUNTED.append(counts)
    try:
        yield counts
    finally:
        _COUNTED.remove(counts)


@contextmanager
def uncounted() -> Iterator[None]:
    """Count nothing inside the block."""
    counted = _COUNTED[:]
    _COUNTED.clear()
    try:
        yield
    finally:
        _COUNTED.extend(counted)


def count(kind: str) -> None:
    """Count a request of a kind, an attribute of `Counts`."""
    for counts in _COUNTED:
        setattr(counts, kind, getattr(counts, kind) + 1)
