"""A limit on memory that is kept: whoever wants bytes asks first.

It counts what is said to it, whatever the memory is (of a GPU, of the host), so that paging can be tested on
small graphs (SYSTEMS X6).
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rapids_trav.errors import TravMemoryError
from rapids_trav.sizes import parse_bytes, readable, readable_limit

SHOWN = 3  # holders that an error names before it counts the rest

__all__ = ["Budget", "parse_bytes"]


class Budget:
    """Bytes that may be held at once; any number of threads may share one.

    Parameters
    ----------
    limit_bytes : int or str
        As `parse_bytes` reads it.
    """

    def __init__(self, limit_bytes: int | str) -> None:
        self.limit = parse_bytes(limit_bytes)
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        self._used = 0
        self._peak = 0

    @property
    def used(self) -> int:
        """Bytes held now."""
        return self._used

    @property
    def free(self) -> int:
        """Bytes that are left."""
        return self.limit - self._used

    @property
    def peak(self) -> int:
        """The most that was held at once; never above `limit`."""
        return self._peak

    def held(self) -> dict[str, int]:
        """Bytes by what holds them."""
        with self._lock:
            return dict(self._held)

    def allocate(self, n_bytes: int, what: str, beside: int = 0) -> None:
        """Take `n_bytes` for `what`.

        Raises
        ------
        TravMemoryError
            If fewer are left; nothing is taken then.  The limit that it names is enough for `beside` as well,
            bytes that will be asked for next.
        """
        if not self.try_allocate(n_bytes, what):
            raise self.refusal(n_bytes, what, beside)

    def require(self, n_bytes: int, what: str) -> None:
        """Raise what `allocate` would; nothing is taken."""
        if n_bytes > self.free:
            raise self.refusal(n_bytes, what)

    def try_allocate(self, n_bytes: int, what: str) -> bool:
        """Take `n_bytes` for `what` if they are left; whether they were."""
        n_bytes = int(n_bytes)
        with self._lock:
            if n_bytes < 0 or self._used + n_bytes > self.limit:
                return False
            self._used += n_bytes
            self._peak = max(self._peak, self._used)
            self._held[what] = self._held.get(what, 0) + n_bytes
            return True

    def release(self, n_bytes: int, what: str) -> None:
        """Give back `n_bytes` that `what` took."""
        n_bytes = int(n_bytes)
        with self._lock:
            if not 0 <= n_bytes <= self._held.get(what, 0):
                raise ValueError(f"{what} gives back {n_bytes} bytes but holds {self._held.get(what, 0)}")
            self._used -= n_bytes
            if left := self._held.pop(what, 0) - n_bytes:
                self._held[what] = left

    def allocate_for(self, owner: Any, n_bytes: int, what: str) -> None:
        """Take `n_bytes` for `what` as long as `owner` lives."""
        self.allocate(n_bytes, what)
        weakref.finalize(owner, self.release, n_bytes, what).atexit = False

    @contextmanager
    def hold(self, n_bytes: int, what: str) -> Iterator[None]:
        """Take `n_bytes` for the time of a block."""
        self.allocate(n_bytes, what)
        try:
            yield
        finally:
            self.release(n_bytes, what)

    def refusal(self, n_bytes: int, what: str, beside: int = 0) -> TravMemoryError:
        """The error for `what`: how much it takes, what holds the rest, and the limit that is enough."""
        held = sorted(self.held().items(), key=lambda item: -item[1])
        names = [f"{name} {readable(size)}" for name, size in held[:SHOWN] if size]
        if rest := sum(size for _, size in held[SHOWN:]):
            names.append(f"others {readable(rest)}")
        holders = f" ({', '.join(names)} held)" if names else ""
        return TravMemoryError(
            f"{readable(n_bytes)} are needed for {what}, and memory_limit={readable(self.limit)} leaves "
            f"{readable(self.free)}{holders}: give memory_limit at least "
            f"{readable_limit(self._used + int(n_bytes) + int(beside))}."
        )

    def __repr__(self) -> str:
        return f"<Budget: {readable(self.used)} of {readable(self.limit)}, peak {readable(self.peak)}>"
