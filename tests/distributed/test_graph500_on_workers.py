"""The Graph500 benchmark on the workers of a cluster, run from the command line."""

import json

import pytest

from rapids_trav import graph500
from rapids_trav.cli import run
from rapids_trav.errors import TravError
from rapids_trav.graph500.ranks import run_on_cluster


def test_by_the_command_line(client, tmp_path, capsys):
    report = tmp_path / "report.json"
    scheduler = client.scheduler.address
    words = ["graph500", "--scale", "8", "--roots", "3", "--scheduler", scheduler, "--json", str(report)]
    assert run(words) == 0
    assert "4 workers" in capsys.readouterr().out
    local = graph500.run(8, roots=3, engine="cpu").searches
    found = json.loads(report.read_text())["searches"]
    for name in ("root", "edges", "vertices", "depth", "valid"):
        assert [row[name] for row in found] == local[name].tolist(), name


def test_what_has_no_meaning_is_refused(client, capsys):
    assert run(["graph500", "--scale", "5", "--engine", "cpu", "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert "leave it out" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(TravError, match="grid="):
        run_on_cluster(5, client, grid=(3, 2))
    with pytest.raises(TravError, match="scale=0"):
        run_on_cluster(0, client)
