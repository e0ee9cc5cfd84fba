"""The start of the command `rapids-trav`.

It stands outside the package because importing the package takes long enough to be interrupted: here Ctrl-C
is taken care of first.
"""

from __future__ import annotations

import _signal as signal  # the built-in half: the other takes milliseconds, in which Ctrl-C is not yet ours
import os
import sys

INTERRUPTED = 128 + signal.SIGINT


def main() -> None:
    """Import the command line and run it; Ctrl-C at any time leaves with 130 and without a traceback.

    Imports are ended at once.  While the command runs, the first Ctrl-C is a `KeyboardInterrupt`, so that it
    can clean up, and a second one ends it at once.  After its end nothing is left to interrupt.
    """
    taken = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else Ctrl-C is to be ignored
    if taken:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _in_callback
    from rapids_trav.cli import commands, main  # noqa: F401 (the commands take a second as well)

    try:
        if taken:
            signal.signal(signal.SIGINT, _interrupt)
        main()
    except KeyboardInterrupt:
        _leave()
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:
            os._exit(INTERRUPTED)  # the interpreter's own end is not safe where a compiler was interrupted
        raise
    finally:
        if taken:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(*_: object) -> None:
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


def _leave(*_: object) -> None:
    try:
        os.write(2, b"rapids-trav: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _in_callback(unraisable: sys.UnraisableHookArgs) -> None:
    """Leave where a Ctrl-C fell into a callback of a library, from which no exception reaches `main`."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    main()
