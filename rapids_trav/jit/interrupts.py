"""Interrupts that come while Numba compiles, which LLVM's callbacks into Python would lose."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

Function = TypeVar("Function", bound=Callable)


def keep_interrupts(dispatcher: Function) -> Function:
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
