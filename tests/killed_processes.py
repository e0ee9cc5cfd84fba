"""Functions that run in a process of their own until they are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

STARTING = 60.0  # seconds that a function has to start, even on a busy machine


def killed_after(seconds, function, *arguments):
    """Run `function(started, *arguments)`, kill it, and return whether it was still running.

    The time counts from the moment when the function sets the event `started`.
    """
    fork = multiprocessing.get_context("fork")
    started = fork.Event()
    process = fork.Process(target=function, args=(started, *arguments))
    process.start()
    has_started = started.wait(STARTING)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert has_started, f"{function.__name__} did not start within {STARTING:g} s"
    return process.exitcode == -signal.SIGKILL
