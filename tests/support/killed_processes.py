"""Calls in a process of their own that is killed while or after it does something for the n-th time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

STARTING = 60.0  # seconds that a process has to get there, even on a busy machine


@contextmanager
def counted(owner: type, method: str) -> Iterator[list[int]]:
    """Count the calls of a method inside the block, in a list of one number."""
    number, plain = [0], getattr(owner, method)

    def counting(*arguments):
        number[0] += 1
        return plain(*arguments)

    with patch.object(owner, method, counting):
        yield number


def killed_at(nth: int, seconds: float, owner: type, method: str, call: Callable[[], object]) -> bool:
    """Run `call()`, and kill it `seconds` after it begins its n-th call of a method, after which it waits.

    Return whether it was killed: it may end before.
    """
    fork = multiprocessing.get_context("fork")
    there = fork.Event()
    process = fork.Process(target=_run, args=(there, nth, owner, method, call))
    process.start()
    came = there.wait(STARTING)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert came, f"{method} was not called {nth} times within {STARTING:g} s"
    return process.exitcode == -signal.SIGKILL


def _run(there, nth: int, owner: type, method: str, call: Callable[[], object]) -> None:
    plain, number = getattr(owner, method), 0

    def waiting(*arguments):
        nonlocal number
        number += 1
        if number == nth:
            there.set()
        plain(*arguments)
        if number == nth:
            signal.pause()

    setattr(owner, method, waiting)
    call()
    there.set()
    os._exit(0)
