"""How the CPU engine compiles its kernels and runs them: `runtime.kernels`, with each launch counted."""

from __future__ import annotations

from collections.abc import Callable

from rapids_trav.engines.launches import launched
from rapids_trav.runtime.kernels import PIECES_PER_THREAD, Threads, kernel, require_compiler

__all__ = ["PIECES_PER_THREAD", "Team", "kernel", "require_compiler"]


class Team(Threads):
    """The threads of one question."""

    def run(self, function: Callable, n_items: int, *arguments: object, grain: int) -> list:
        launched(function.__name__)
        return super().run(function, n_items, *arguments, grain=grain)
