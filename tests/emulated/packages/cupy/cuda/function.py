"""Modules of the stand-in."""

from __future__ import annotations

from collections.abc import Callable

from cupy._kernels import Kernel, Library


class Module:
    """The kernels of a text, or of a vertex program, from a function that makes their library."""

    def load(self, code: bytes | Callable[[], Library]) -> None:
        self._library = code() if callable(code) else Library(code.decode())

    def get_function(self, name: str) -> Kernel:
        return self._library.kernel(name)
