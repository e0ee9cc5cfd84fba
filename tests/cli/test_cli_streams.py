"""Command line with closed standard streams, and with interrupts at any moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, str(ROOT / "rapids_trav_cli.py")]
QUIET = ["bfs", "facebook", "-s", "0", "-q"]


def shell(words, redirections):
    line = " ".join([*COMMAND, *words, redirections])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    "words", [["bfs", "facebook", "-s", "0"], [*QUIET, "-o", "-"], ["--help"], ["bfs", "--help"], ["doctor"]]
)
def test_what_cannot_be_printed_is_told(words):
    done = shell(words, ">&-")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == "rapids-trav: The output cannot be written: Bad file descriptor."


def test_a_closed_output_that_is_not_needed(tmp_path):
    done = shell([*QUIET, "-o", str(tmp_path / "r.csv")], ">&- <&- 2>&-")
    assert done.returncode == 0
    assert (tmp_path / "r.csv").read_text().startswith("vertex,distance,predecessor\n0,0,\n")


def test_a_closed_input_is_told():
    done = shell(["bfs", "-", "--format", "csv", "-s", "0"], "<&-")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("rapids-trav: The standard input cannot be read into a file in ")
    assert "): give EDGES as a file, or name a folder with more space in" in done.stderr


def test_closed_messages_leave_the_exit_code():
    assert shell(["bfs", "nothing", "-s", "0"], "2>&-").returncode == 1
    assert shell(["bfs", "--nothing"], "2>&-").returncode == 2


START = "import sys; print(flush=True); from rapids_trav_cli import main; main()"


def heed_interrupts():
    """Restore the default SIGINT handler, since shells let background commands ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("milliseconds", [*range(50, 401, 50), 600, 800, 1000])
def test_interrupted_at_any_time(milliseconds):
    """Interrupts count from the first line of our own code; the graph is large enough to be still running."""
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
    """A command that was started with SIGINT ignored, as in the background of a shell, goes on."""
    words = [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);" + START]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*words, *QUIET], stdout=subprocess.PIPE, text=True, env=environment) as process:
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
