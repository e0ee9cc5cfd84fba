"""Numba's cache on disk, where a damaged or unreadable file counts as missing and is written again.

In Numba itself, any error raised when such a file is unpickled reaches the caller of the kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

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
        try:
            super().save_overload(signature, data)
        except OSError:  # a full disk costs the next process a compilation
            pass
        except RuntimeError:  # LLVM handed over the code in a callback, where exceptions get lost
            if threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt from None


class CacheFile(IndexDataCacheFile):
    """The cache files of one function."""

    def _load_index(self) -> dict:
        try:
            return super()._load_index()
        except Exception:
            return {}
