"""Measurement of seconds by phase."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class PhaseTimes:
    """Seconds by phase; `synchronize` waits for the device, so each phase is charged for its own work."""

    def __init__(self, synchronize: Callable[[], None]) -> None:
        self._synchronize = synchronize
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._synchronize()
        self.seconds[name] = time.perf_counter() - start
