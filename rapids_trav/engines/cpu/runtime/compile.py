"""The compiler and the threads of the CPU engine: those of `jit.kernels`, with each launch counted."""

from __future__ import annotations

from collections.abc import Callable

from rapids_trav.engines.launches import launched
from rapids_trav.jit.kernels import PIECES_PER_THREAD, Result, Threads, kernel, require_compiler

__all__ = ["PIECES_PER_THREAD", "Team", "kernel", "require_compiler"]


class Team(Threads):
    """The threads that work on one question, with their launches counted."""

    def run(self, function: Callable, n_items: int, *arguments: object, grain: int) -> list:
        launched(function.__name__)
        return super().run(function, n_items, *arguments, grain=grain)

    def run_together(
        self, function: Callable[..., Result], n_parts: int, *arguments: object, abandon: Callable[[], None]
    ) -> Result | None:
        launched(function.__name__)
        return super().run_together(function, n_parts, *arguments, abandon=abandon)
