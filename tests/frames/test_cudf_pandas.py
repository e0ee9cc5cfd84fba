"""Graphs under cudf.pandas: the expected engine runs, and results are proxies like the edges.

Without a GPU, cudf.pandas still makes proxies, which then hold pandas objects only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from common import gpu_count

PROGRAM = Path(__file__).parent / "under_cudf_pandas.py"
CASES = ["engine", "answers", "inputs", "sides", "made_here"]


def run(cases: list[str], engine: str, later: bool = False) -> None:
    """Run cases of the program in a new process."""
    program = [str(PROGRAM), engine, *cases, *(["--later"] if later else [])]
    command = [sys.executable, "-W", "ignore", *([] if later else ["-m", "cudf.pandas"]), *program]
    root = str(PROGRAM.parents[2])  # the package need not be installed
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split("\n")[:-1] == [f"done: {case}" for case in cases]


@pytest.mark.skipif(find_spec("cudf") is None, reason="cuDF is not installed")
@pytest.mark.skipif(gpu_count() > 0, reason="there is a GPU: the tests below run the cases on it")
@pytest.mark.parametrize("later", [False, True])
def test_without_a_gpu(later):
    run(CASES, "cpu", later)


@pytest.mark.gpu
@pytest.mark.parametrize("later", [False, True])
def test_on_the_gpu(later):
    pytest.importorskip("cudf")
    run([*CASES, "profile"], "cuda", later)
