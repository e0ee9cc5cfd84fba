"""Commands of the page on the command line run as written."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from rapids_trav.cli import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "command-line.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()
LONG = ("graph500", "doctor")  # these have separate tests


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the files that the page names, holding a few flights, and the command in `bin`."""
    flights = pd.DataFrame(
        {
            "from": ["OSL", "CPH", "CPH", "AMS"],
            "to": ["CPH", "AMS", "LHR", "JFK"],
            "running": [True, True, False, True],
        }
    )
    flights.to_csv(tmp_path / "edges.csv", index=False)
    flights.to_csv(tmp_path / "edges.csv.gz", index=False)
    flights.set_axis(["src", "dst", "running"], axis=1).to_parquet(tmp_path / "edges.parquet")
    pd.DataFrame({"u": [0, 1], "v": [1, 2]}).to_csv(
        tmp_path / "web-Google.txt.gz", sep=" ", index=False, header=False
    )
    command = tmp_path / "bin" / "rapids-trav"
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from rapids_trav.cli import main; main()" "$@"\n'
    )
    command.chmod(0o755)
    return tmp_path


def shell(line, folder):
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("zcat") is None, reason="needs zcat")
def test_the_standard_input(folder):
    (line,) = (line for line in COMMANDS if line.startswith("zcat"))
    done = shell(line, folder)
    assert done.stdout.splitlines()[0] == "vertex,distance,predecessor", done.stderr
    assert "JFK,3,AMS" in done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("printf") is None, reason="needs printf")
def test_the_answer_that_is_shown(folder):
    ((line, shown),) = re.findall(r"```sh\n([^`]*)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert shell(line, folder).stdout == shown


def test_all_commands_in_order(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    lines = [line for line in COMMANDS if line.startswith("rapids-trav") and line.split()[1] not in LONG]
    assert len(lines) >= 8
    for line in lines:
        assert run(shlex.split(line, comments=True)[1:]) == 0, (line, capsys.readouterr().err)
    assert (folder / "distances.parquet").exists() and (folder / "ranks.csv").exists()


@pytest.mark.slow
def test_what_is_shown(folder):
    """The page's first text follows the command and is what it prints after the line about the graph."""
    command, text = re.search(r"`(rapids-trav [^`]*)` prints.*?```text\n(.*?)```", PAGE, re.DOTALL).groups()
    done = shell(f"COLUMNS=80 {command}", folder)
    assert done.stdout.splitlines()[1:] == text.splitlines(), done.stderr
