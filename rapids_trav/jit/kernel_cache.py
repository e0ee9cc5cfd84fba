"""Numba's cache on disk, where a damaged or unreadable file counts as missing and is written again.

In Numba itself, any error raised when such a file is unpickled reaches the caller of the kernel.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


class KernelCache(FunctionCache):
    """The cache of one function; Numba raises a RuntimeError if there is no folder for it."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self._cache_file = CacheFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: object, target_context: object) -> object:
        try:
            return super().load_overload(signature, target_context)
        except Exception:  # damaged data may raise any error; the function is then compiled
            return None

    def save_overload(self, signature: object, data: object) -> None:
        # A full disk, or code that an interrupt lost, costs the next process a compilation.
        with contextlib.suppress(OSError, RuntimeError):
            super().save_overload(signature, data)


class CacheFile(IndexDataCacheFile):
    """The cache files of one function."""

    def _load_index(self) -> dict:
        try:
            return super()._load_index()
        except Exception:
            return {}


def keep_interrupts(dispatcher: Any) -> Any:
    """Let an interrupt during a compilation end the call, and return the function.

    LLVM hands over what it compiled in a callback, in which Python loses exceptions.
    """
    compile_ = dispatcher.compile

    def compiled(*arguments: object, **options: object) -> object:
        with _interrupts_kept():
            return compile_(*arguments, **options)

    dispatcher.compile = compiled
    return dispatcher


@contextlib.contextmanager
def _interrupts_kept() -> Iterator[None]:
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    came = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
