"""The Graph500 benchmark on the workers of a cluster, run from the command line."""

import json
import subprocess
import sys

import pytest

from rapids_trav import graph500
from rapids_trav.errors import TravError
from rapids_trav.graph500.cluster import run_on_cluster


def command(*arguments):
    """Run `rapids-trav graph500` in a process of its own."""
    program = [sys.executable, "-c", "from rapids_trav.cli import main; main()", "graph500", *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def test_by_the_command_line(client, tmp_path):
    report = tmp_path / "report.json"
    scheduler = client.scheduler.address
    done = command("--scale", "8", "--roots", "3", "--scheduler", scheduler, "--json", str(report))
    assert done.returncode == 0, done.stderr
    assert "4 workers" in done.stdout
    local = graph500.run(8, roots=3, engine="cpu").searches
    found = json.loads(report.read_text())["searches"]
    for name in ("root", "edges", "vertices", "depth", "valid"):
        assert [row[name] for row in found] == local[name].tolist(), name


def test_what_has_no_meaning_is_refused(client):
    done = command("--scale", "5", "--engine", "cpu", "--scheduler", "tcp://127.0.0.1:1")
    assert done.returncode == 2 and "leave it out" in " ".join(done.stderr.split())
    with pytest.raises(TravError, match="grid="):
        run_on_cluster(5, client, grid=(3, 2))
    with pytest.raises(TravError, match="scale=0"):
        run_on_cluster(0, client)
