"""The command line: `rapids-trav bfs`, `paths`, `khop`, `graph500` and `doctor`.

Exit codes: 0 answered, 1 the question could not be answered (an unknown id, a malformed file), 2 it was put
wrongly (an unknown option).  Messages go to the standard error, results to a file or, with `--output -`, to
the standard output.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

import click

from .. import __version__
from ..errors import TravError
from .doctor import doctor
from .graph500 import graph500
from .questions import bfs, khop, paths


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def app() -> None:
    """Breadth-first search over edge lists in files, on the CPU or on an NVIDIA GPU.

    EDGES is a Parquet file or folder, a CSV or TSV file, SNAP text or a Matrix Market file, plain or
    compressed (.gz, .bz2, .zst); or a graph that comes with the package: facebook, twitter-ego or
    citations-hepph.
    """


for command in (bfs, paths, khop, graph500, doctor):
    app.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code, with every error said in one sentence."""
    try:
        # Not `app.main`, which ends the process by itself when a pipe breaks.
        words = list(sys.argv[1:] if arguments is None else arguments)
        with app.make_context("rapids-trav", words) as context:
            code = app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:
        # The reader has gone, as `head` does; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except TravError as error:
        return _say(str(error), 1)
    except MemoryError as error:
        return _say(str(error) or "There is not enough memory for this graph.", 1)
    return code if isinstance(code, int) else 0


def _say(message: str, code: int) -> int:
    click.echo(f"rapids-trav: {message}", err=True)
    return code
