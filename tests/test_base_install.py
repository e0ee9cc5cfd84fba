"""An install without extras answers every question; a feature that needs an extra names it.

Each case runs in a process that can import only the packages of the base install.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# Hides packages, as if they were not installed.
BLOCK = """
import importlib.machinery

names = set({names!r})
found = importlib.machinery.PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in names else found(name, path, target)

importlib.machinery.PathFinder.find_spec = staticmethod(find_spec)
"""


@cache
def beside_the_base() -> tuple[str, ...]:
    """Return the packages of this environment that the base install does not bring."""
    brought, waiting = {"rapids-trav"}, [Requirement(text) for text in PROJECT["dependencies"]]
    while waiting:
        name = canonicalize_name(waiting.pop().name)
        if name not in brought:
            brought.add(name)
            needs = map(Requirement, distribution(name).requires or [])
            waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return tuple(
        package
        for package, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & brought and not package.startswith("_")
    )


def run(code: str, folder: Path) -> subprocess.CompletedProcess:
    script = BLOCK.format(names=beside_the_base()) + code
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )


def test_what_is_left_out_is_installed_here():
    """The packages to hide are installed; otherwise the tests below would show nothing."""
    assert {"matplotlib", "scipy", "networkx", "pytest"} <= set(beside_the_base())


QUESTIONS = """
import pandas as pd, rapids_trav
from rapids_trav import datasets, generators, plot
edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4], "weight": [1.5, 2.0, 1.0, 1.0]})
graph = edges.trav.graph(weight="weight")
assert graph.bfs(0)["distance"].tolist() == [0, 1, 1, 2, 3]
assert graph.paths(0, 4)["vertex"].tolist() == [0, 1, 3, 4]
assert graph.sssp(0)["distance"].tolist() == [0, 1.5, 2, 2.5, 3.5]
assert graph.components()["component"].tolist() == [0] * 5
assert abs(graph.pagerank()["pagerank"].sum() - 1) < 1e-6
assert len(graph.khop(0, 1).edges) == 2
graph.save("saved")
assert rapids_trav.Graph.open("saved").bfs(0)["distance"].tolist() == [0, 1, 1, 2, 3]
print("answered")
"""


def test_questions_need_no_extra(tmp_path):
    done = run(QUESTIONS, tmp_path)
    assert (done.stdout, done.returncode) == ("answered\n", 0), done.stderr


def test_the_demo_needs_no_extra(tmp_path):
    recipe = (ROOT / "Makefile").read_text().split("\ndemo:")[1].splitlines()[1]
    words = recipe.strip().removeprefix("$(BIN)/rapids-trav ").split()
    done = run(f"from rapids_trav.cli import main\nmain({words!r})", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4,039 vertices" in done.stdout
    assert "\u2588" in done.stdout or "#" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            "bfs facebook -s 0 --plot levels.png",
            2,
            "Drawing needs matplotlib, which is not installed: run pip install 'rapids-trav[plot]'.",
        ),
        (
            "bfs edges.mtx -s 1",
            1,
            "Reading a Matrix Market file needs scipy, which is not installed: "
            "run pip install 'rapids-trav[mtx]'.",
        ),
    ],
)
def test_a_missing_extra_is_named(words, code, sentence, tmp_path):
    (tmp_path / "edges.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    done = run(f"from rapids_trav.cli import main\nmain({words.split()!r})", tmp_path)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_library_that_is_broken_is_not_called_missing(tmp_path):
    """If matplotlib itself lacks a module, the extra would not help and is not suggested."""
    broken = tmp_path / "matplotlib"
    broken.mkdir()
    (broken / "__init__.py").write_text("import no_such_module_of_matplotlib\n")
    code = "from rapids_trav import plot\nplot.check_picture('levels.png')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "ModuleNotFoundError: No module named 'no_such_module_of_matplotlib'" in done.stderr


@pytest.mark.parametrize("major", ["12", "13"])
def test_gpu_extras_bring_what_several_gpus_need_and_no_rival(major):
    """NCCL is named: it used to come with cuGraph, and CuPy does not require it."""
    extras = {
        name: {Requirement(text).name for text in needs}
        for name, needs in PROJECT["optional-dependencies"].items()
    }
    gpu, compare = extras[f"cu{major}"], extras[f"compare-cu{major}"]
    assert {f"nvidia-nccl-cu{major}", "dask-cuda", f"dask-cudf-cu{major}"} <= gpu
    assert not any("cugraph" in name for name in gpu)
    assert f"rapids-trav[cu{major}]" in PROJECT["optional-dependencies"][f"compare-cu{major}"]
    assert {f"cugraph-cu{major}", f"pylibcugraph-cu{major}"} <= compare
