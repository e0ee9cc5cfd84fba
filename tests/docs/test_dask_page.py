"""Page on Dask and its example: their code runs, and the text names what is refused."""

import importlib.util
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from rapids_trav.accessor import TravAccessor
from rapids_trav.distributed import clusters
from rapids_trav.distributed.questions import DistributedQuestions
from rapids_trav.graph.join_methods import JoinMethods
from rapids_trav.storage.build_options import BuildOptions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/dask.md").read_text()


@pytest.fixture
def workers():
    """Skip the test if a package that graphs on workers need is missing."""
    for name in ("dask.dataframe", "distributed"):
        pytest.importorskip(name)
    pytest.importorskip("rapids_trav.distributed.session.rank_group")
    pytest.importorskip("rapids_trav.distributed.ranks.service")


def test_the_example(workers, capsys):
    spec = importlib.util.spec_from_file_location("dask_cluster", ROOT / "examples/dask_cluster.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(2)
    out = capsys.readouterr().out
    assert "4,039 vertices, 88,234 edges" in out and "on 2 workers" in out
    assert re.search(r"From 0 to 4038: 0 > (\d+ > )+4038\n", out)
    assert "Friends of 0 and their friendships: 347 and 2866" in out
    assert "Most friends: 1045" in out
    assert "pagerank is not answered by a graph on the workers" in out


@pytest.mark.slow
def test_the_ten_lines(workers, tmp_path):
    ((code, shown),) = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "lines.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_every_code_of_the_page_compiles():
    for code in re.findall(r"```py(?:thon)?\n(.*?)```", PAGE, re.DOTALL):
        compile(code, "dask.md", "exec")


def test_the_questions_and_methods_refused_are_all_named():
    refused = PAGE.split("## What is refused")[1].split("##")[0]
    joins = [name for name in vars(JoinMethods) if not name.startswith("_")]
    assert {"annotate", "to_scipy"} < set(joins)
    queries = [name for name in vars(TravAccessor) if name[0] != "_" and name != "graph"]
    refused_ones = [name for name in queries if not DistributedQuestions.answers(name)]
    assert {"run", "sssp"} < set(refused_ones) and not {"bfs", "levels"} & set(refused_ones)
    for name in (*refused_ones, *joins):
        assert f"`{name}`" in refused
    assert "`paths(weighted=True)`" in refused


def test_the_options_that_are_refused_are_all_named():
    refused = PAGE.split("## What is refused")[1].split("##")[0]
    for name in (*clusters.OF_ONE_PROCESS, *clusters.OF_WORKERS):
        assert f"`{name}=`" in refused
    assert {*clusters.OF_ONE_PROCESS, *clusters.OF_WORKERS} < {field.name for field in fields(BuildOptions)}
