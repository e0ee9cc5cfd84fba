"""Interface of loaders, which bring blocks of edges into the engine's memory one at a time (SYSTEMS L9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

Copy = Callable[[int, int], int]  # copies a block to a place, returns its bytes


class Landed(NamedTuple):
    """A block that has been copied to its place."""

    block: int
    place: int
    n_bytes: int


class Loading(Protocol):
    """Interface of a loader, which brings one block at a time."""

    @property
    def busy(self) -> bool:
        """Return whether a block is being loaded, or has arrived and was not taken."""

    def begin(self, block: int, place: int) -> None:
        """Start to copy a block to a place."""

    def landed(self, wait: bool = False) -> Landed | None:
        """Return the block that has arrived, or None; with `wait`, wait for the one being loaded."""

    def close(self) -> None:
        """Wait for a load that has begun, and forget it."""
