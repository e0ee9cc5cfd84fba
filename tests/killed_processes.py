"""Functions that run in a process of their own until they are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time


def killed_after(seconds, function, *arguments):
    """Run `function(started, *arguments)`, kill it, and return whether it was still running.

    The time counts from the moment when the function sets the event `started`.
    """
    fork = multiprocessing.get_context("fork")
    started = fork.Event()
    process = fork.Process(target=function, args=(started, *arguments))
    process.start()
    started.wait()
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    return process.exitcode == -signal.SIGKILL
