"""Interrupts that come while code is compiled, which lose them or what was compiled."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from types import FrameType
from typing import TypeVar

WATCHING = 0.1  # seconds between two looks at threads that work for the calling one
Function = TypeVar("Function", bound=Callable)
Value = TypeVar("Value")


def compile_aside(compile_: Callable[[], Value]) -> Value:
    """Return what another thread compiles, which goes on if an interrupt ends this call."""
    if threading.current_thread() is not threading.main_thread():
        return compile_()
    compiled: Future[Value] = Future()

    def work() -> None:
        try:
            compiled.set_result(compile_())
        except BaseException as error:
            compiled.set_exception(error)

    threading.Thread(target=work, name="rapids-trav-compile").start()
    while not compiled.done():  # a compiler may let system calls go on after signals, so that these wait
        wait([compiled], WATCHING)
    return compiled.result()


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
