"""Page on NetworkX: its code prints what is shown, and its table lists every function."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rapids_trav_networkx import FUNCTIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/networkx.md").read_text()


def test_the_code_prints_what_is_shown(tmp_path):
    pytest.importorskip("networkx")
    ((code, shown),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "lines.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("shortest_path", {"target": 2, "weight": "km"}, "with a `target` and no `source`"),
        ("shortest_path_length", {"target": 2, "weight": "km"}, "with a `target` and no `source`"),
    ],
)
def test_calls_on_directed_graphs_that_networkx_runs_are_listed(name, arguments, said):
    nx = pytest.importorskip("networkx")
    from rapids_trav.backends.interface import backend

    for kind, taken in ((nx.Graph, True), (nx.DiGraph, False)):
        graph = nx.path_graph(3, create_using=kind)
        assert (backend.can_run(name, (graph,), arguments) is True) == taken
    assert said in PAGE.split("one of the following holds:")[1].split("\n\n")[1]


def test_the_table_has_every_function():
    table = PAGE.split("## What it has")[1].split("\n\n")[1]
    named = set(re.findall(r"`(\w+)`", table)) - {"personalization", "nstart", "dangling"}
    family = {"single_source_dijkstra", "multi_source_dijkstra", "all_pairs_dijkstra"}
    named |= {name + end for name in family for end in ("_path", "_path_length")}
    assert named - {"_path", "_path_length"} == set(FUNCTIONS)
