"""Command line with closed standard streams, and with interrupts at any moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rapids_trav.cli import main

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, str(ROOT / "rapids_trav_cli.py")]
QUIET = ["bfs", "facebook", "-s", "0", "-q"]


def shell(words, redirections):
    line = " ".join([*COMMAND, *words, redirections])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, env=environment)


CLOSED = "rapids-trav: The output cannot be written: Bad file descriptor."


def test_what_cannot_be_printed_is_told():
    done = shell(["bfs", "facebook", "-s", "0"], ">&-")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == CLOSED


@pytest.mark.parametrize(
    "words", [["bfs", "facebook", "-s", "0"], [*QUIET, "-o", "-"], ["--help"], ["bfs", "--help"], ["doctor"]]
)
def test_every_command_tells_what_cannot_be_printed(words, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)  # as Python has it if the stream was closed before the start
    with pytest.raises(SystemExit) as leaving:
        main(words)
    assert leaving.value.code == 1 and capsys.readouterr().err.splitlines()[-1] == CLOSED


def test_a_closed_output_that_is_not_needed(tmp_path):
    done = shell([*QUIET, "-o", str(tmp_path / "r.csv")], ">&- <&- 2>&-")
    assert done.returncode == 0
    assert (tmp_path / "r.csv").read_text().startswith("vertex,distance,predecessor\n0,0,\n")


def test_a_closed_input_is_told():
    done = shell(["bfs", "-", "--format", "csv", "-s", "0"], "<&-")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("rapids-trav: The standard input cannot be read into a file in ")
    assert "): give EDGES as a file, or name a folder with more space in" in done.stderr


def test_closed_messages_leave_the_exit_code(monkeypatch):
    assert shell(["bfs", "nothing", "-s", "0"], "2>&-").returncode == 1
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(SystemExit) as leaving:
        main(["bfs", "--nothing"])
    assert leaving.value.code == 2


# Prints a line as soon as Ctrl-C is taken care of.
START = """
import _signal

def tell(*handler):
    _signal.signal = set_handler
    set_handler(*handler)
    print(flush=True)

_signal.signal, set_handler = tell, _signal.signal
from rapids_trav_cli import main
main()
"""


def heed_interrupts():
    """Restore the default SIGINT handler, since shells let background commands ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("milliseconds", [0, *range(50, 401, 50), 600, 800, 1000])
def test_interrupted_at_any_time(milliseconds):
    """Interrupts come after our handler is there; the graph is large enough to be still running."""
    words = [sys.executable, "-c", START, "graph500", "--scale", "18"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=heed_interrupts,
    ) as process:
        process.stdout.readline()
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    assert (process.returncode, messages) == (130, "rapids-trav: interrupted\n")


def test_ctrl_c_that_is_ignored_stays_so():
    """A command that was started with SIGINT ignored, as in the background of a shell, goes on.

    It is waiting for its reader when the signal comes, as a pipe does not hold all of its answer.
    """
    with subprocess.Popen(
        [*COMMAND, "bfs", "citations-hepph", "-s", "0", "-q", "-o", "-"],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as process:
        assert process.stdout.readline() == b"vertex,distance,predecessor\n"
        process.send_signal(signal.SIGINT)
        assert len(process.communicate(timeout=60)[0]) > 100_000  # bytes; a pipe holds 65,536
    assert process.returncode == 0
