"""The limit on memory that an engine is given, as far as it uses it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from rapids_trav.errors import TravMemoryError


class Budget(Protocol):
    """Bytes that may be held at once, at most `limit`; `storage.budget` has it."""

    limit: int

    @property
    def free(self) -> int:
        """Return the bytes that may still be taken."""

    def hold(self, n_bytes: int, what: str) -> AbstractContextManager[None]:
        """Hold so many bytes for the time of a block."""

    def try_allocate(self, n_bytes: int, what: str) -> bool:
        """Take so many bytes if they are free, and tell whether they were."""

    def release(self, n_bytes: int, what: str) -> None:
        """Give them back."""

    def refusal(self, n_bytes: int, what: str) -> TravMemoryError:
        """Return the error that says what was needed and what holds the rest."""
