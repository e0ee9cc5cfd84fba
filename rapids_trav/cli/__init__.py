"""Entry point of the command line: `rapids-trav bfs`, `paths`, `khop`, `components`, `sssp` and others.

The other commands are `pagerank`, `save`, `inspect`, `graph500` and `doctor`.

Exit codes: 0 success; 1 no answer was possible (an unknown id, a malformed file); 2 wrong usage (an unknown
option, a result that cannot be written to its destination); 130 interrupted; 141 the reader of the output has
closed it.  Messages go to standard error, results to a file or, with `--output -`, to standard output.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence

import click

from rapids_trav.errors import TravError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its exit code."""
    _replace_closed()
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, report every error in one sentence, and return the exit code."""
    try:
        from rapids_trav.cli.commands import app  # takes a second, and may be interrupted meanwhile

        # Not `app.main`, which ends the process itself when a pipe breaks.
        words = list(sys.argv[1:] if arguments is None else arguments)
        with app.make_context("rapids-trav", words) as context:
            code = app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        if type(error) is click.UsageError:  # ours; others are click's and name its options
            error = click.UsageError(_worded(error.message), error.ctx)
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:
        _drop_output()  # the reader has closed the pipe, as `head` does
        return 128 + signal.SIGPIPE
    except TravError as error:
        return _say(_worded(str(error)), 1)
    except UnicodeEncodeError as error:
        return _say(f"The output cannot be written in {error.encoding}: set LC_ALL=C.UTF-8.", 1)
    except OSError as error:
        _drop_output()
        return _say(f"{error.filename or 'The output'} cannot be written: {error.strerror or error}.", 1)
    except MemoryError as error:
        return _say(_worded(str(error)) or "There is not enough memory for this graph.", 1)
    return code if isinstance(code, int) else 0


def _worded(message: str) -> str:
    """Return a message of the library with options spelled as on the command line."""
    from rapids_trav.cli.commands import app
    from rapids_trav.cli.wording import on_command_line, options_of

    message = message.replace("\n", "\\n").replace("\r", "\\r")  # line breaks in a word that was typed
    return on_command_line(message, options_of(app.commands.values()))


def _say(message: str, code: int) -> int:
    click.echo(f"rapids-trav: {message}", err=True)
    return code


def _replace_closed() -> None:
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


def _drop_output() -> None:
    """Write nothing more to standard output, not even at exit."""
    with contextlib.suppress(OSError, ValueError):  # standard output is not a file of the system
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
