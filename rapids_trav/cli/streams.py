"""Standard streams that are closed, or that go nowhere any more."""

from __future__ import annotations

import contextlib
import os
import sys


def replace_closed() -> None:
    """Put the null device in place of each standard stream that was closed before the start.

    Otherwise the next file that is opened has its number, and what is printed goes into that file.  Reading
    the input and writing the output then fail, as they do on a closed stream; messages go nowhere.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def drop_output() -> None:
    """Write nothing more to the standard output, not even at exit."""
    with contextlib.suppress(OSError, ValueError):  # it is not a file of the system's
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
