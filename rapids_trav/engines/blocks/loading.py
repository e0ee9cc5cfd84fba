"""Interface of loaders, which bring blocks of edges into the engine's memory (docs/systems.md, L9)."""

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
    """Interface of a loader.

    Attributes
    ----------
    most : int
        Blocks that may be under way at once.
    """

    most: int

    @property
    def n_coming(self) -> int:
        """Return the number of blocks that are being loaded, or have arrived and were not taken."""

    def begin(self, block: int, place: int) -> None:
        """Start to copy a block to a place."""

    def landed(self, wait: bool = False) -> Landed | None:
        """Return the block that arrived first, or None; with `wait`, wait for one that is being loaded."""

    def close(self) -> None:
        """Wait for the loads that have begun, and forget them."""
