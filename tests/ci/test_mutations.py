"""List of deliberate breaks (mutations): each still applies, and the script reports which test catches it."""

import ast
import functools
import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "ci" / "mutate.py"
spec = importlib.util.spec_from_file_location("mutate", SCRIPT)
mutate = sys.modules["mutate"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutate)

MUTATIONS = mutate.load()


@functools.cache
def defined_in(file):
    """Return the names of the functions and classes of a file of tests."""
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_can_be_made(mutation):
    text = (ROOT / mutation.file).read_text()
    assert text.count(mutation.find) == 1
    assert mutation.find != mutation.replace
    assert mutation.where in ("cpu", "gpu") and mutation.mechanism
    assert mutation.tests
    if mutation.file.endswith(".py"):
        ast.parse(text.replace(mutation.find, mutation.replace))
    for test in mutation.tests:
        file, *names = test.partition("[")[0].split("::")
        assert (ROOT / file).exists()
        assert set(names) <= defined_in(file)


def test_every_part_of_the_package_has_some():
    folders = {Path(mutation.file).parent.as_posix() for mutation in MUTATIONS}
    assert {"kernels", "rapids_trav/algorithms", "rapids_trav/storage", "rapids_trav/saved", "rapids_trav/io",
            "rapids_trav/ids", "rapids_trav/programs", "rapids_trav/cli", "rapids_trav/graph500",
            "rapids_trav/engines/cpu/bfs", "rapids_trav/engines/cpu/programs",
            "rapids_trav/engines/cuda/stream", "rapids_trav/engines/multigpu",
            "rapids_trav/distributed/ranks", "rapids_trav/distributed/session"} <= folders  # fmt: skip
    assert min(sum(mutation.where == where for mutation in MUTATIONS) for where in ("cpu", "gpu")) >= 25


def tree(folder):
    """Make a package of two modules, one compiled into the machine code of the other, and their test."""
    package = folder / "rapids_trav"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    jit = "import numba\n\n\n@numba.njit(cache=True)\n"
    (package / "inner.py").write_text(f"{jit}def step(x):\n    return x + 1\n")
    (package / "outer.py").write_text(
        f"from .inner import step\n{jit}def twice(x):\n    return step(step(x))\n"
    )
    (folder / "tests").mkdir()
    (folder / "tests" / "test_outer.py").write_text(
        "from rapids_trav.outer import twice\n\n\ndef test_twice():\n    assert twice(3) == 5\n"
    )
    return folder


@pytest.fixture
def sources(tmp_path, monkeypatch):
    root = tree(tmp_path / "project")
    monkeypatch.setattr(mutate, "ROOT", root)
    return root


def mutation(name="less", find="x + 1", replace="x + 0", tests=("tests/test_outer.py",)):
    return mutate.Mutation(name, "a step", "rapids_trav/inner.py", find, replace, tests)


def run(monkeypatch, *mutations, more=()):
    monkeypatch.setattr(mutate, "load", lambda: list(mutations))
    return mutate.main([*more, "--jobs", "1"])


@pytest.mark.slow
def test_what_is_caught_and_what_survives(sources, monkeypatch, capsys, tmp_path):
    """A caller that has the mutated function in its machine code is compiled again."""
    rows = tmp_path / "rows.jsonl"
    same = mutation("same", replace="1 + x")
    assert run(monkeypatch, mutation(), same, more=["--json", str(rows)]) == 1
    shown = capsys.readouterr().out
    assert "caught by tests/test_outer.py::test_twice" in shown
    assert "same" in shown and "SURVIVED" in shown and "1 of 2 caught" in shown
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["caught_by"] for row in kept] == ["tests/test_outer.py::test_twice", None]
    assert "return x + 1" in (sources / "rapids_trav" / "inner.py").read_text()
    assert run(monkeypatch, mutation(), more=["less"]) == 0


@pytest.mark.slow
def test_what_cannot_be_made_or_tested(sources, monkeypatch, capsys):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # pytest starts faster without plugins
    monkeypatch.setattr(mutate, "find_spec", lambda name: None)
    for broken, said in (
        (mutation(find="x + 2"), "occurs 0 times"),
        (mutation(find="x"), "times in rapids_trav/inner.py, not once"),
        (mutation(tests=("tests/test_outer.py::test_thrice",)), "do not pass without a mutation"),
    ):
        assert run(monkeypatch, broken) == 2
        assert said in capsys.readouterr().err
    assert run(monkeypatch, mutation(), more=["other"]) == 2
    assert "No mutation is called other" in capsys.readouterr().err
    assert run(monkeypatch, mutation(tests=())) == 1
    assert "no test is named" in capsys.readouterr().out


def test_a_copy_has_the_packages_called_build(sources):
    """Folders of that name are left out at the top only: the package has modules in others."""
    for folder in ("build", "rapids_trav/build"):
        (sources / folder).mkdir()
        (sources / folder / "made.py").touch()
    clean = mutate.copy_tree(sources, sources.parent / "clean")
    assert not (clean / "build").exists()
    assert (clean / "rapids_trav/build/made.py").is_file()


@pytest.mark.slow
def test_endless_loops_and_crashes_are_caught(sources):
    clean = mutate.copy_tree(sources, sources.parent / "clean")
    test = clean / "tests" / "test_outer.py"
    test.write_text("import os, time\n\n\ndef test_twice():\n    time.sleep(60)\n")
    assert mutate.try_one(mutation(), clean, 2).caught_by == "(timed out)"
    test.write_text("import os\n\n\ndef test_twice():\n    os.kill(os.getpid(), 11)\n")
    assert mutate.try_one(mutation(), clean, 30).caught_by == "(killed by signal 11)"
