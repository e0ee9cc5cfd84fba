"""Handling of standard streams that are closed, or whose reader has gone."""

from __future__ import annotations

import contextlib
import os
import sys


def replace_closed() -> None:
    """Replace each standard stream that was closed before the start by the null device.

    Otherwise the next file to be opened gets its number, and printed text goes into that file.  Reading the
    input and writing the output then fail, as they do on a closed stream; messages are discarded.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def drop_output() -> None:
    """Write nothing more to standard output, not even at exit."""
    with contextlib.suppress(OSError, ValueError):  # standard output is not a file of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
