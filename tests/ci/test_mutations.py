"""List of deliberate breaks (mutations): each still applies, and the script reports which test catches it."""

import ast
import functools
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "ci" / "mutate.py"
spec = importlib.util.spec_from_file_location("mutate", SCRIPT)
mutate = sys.modules["mutate"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutate)
changes = sys.modules["changes"]

MUTATIONS = mutate.load()
# Without a mutation: these need several GPUs or cuGraph.
UNGUARDED = {"X7"}


@functools.cache
def defined_in(file):
    """Return the names of the functions and classes of a file of tests."""
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_can_be_made(mutation):
    path, changed = changes.changed(ROOT, mutation.function, mutation.change)
    if path.suffix == ".py":
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(path.read_text()))
    else:
        assert changed != path.read_text()
    assert mutation.why and mutation.tests
    for test in mutation.tests:
        file, *names = test.partition("[")[0].split("::")
        assert (ROOT / file).exists()
        assert set(names) <= defined_in(file)


def test_every_mechanism_has_one():
    page = (ROOT / "docs" / "systems.md").read_text()
    wanted = set(re.findall(r"^\| ([PKLVGX]\d+) \|", page, re.MULTILINE))
    named = {name for mutation in MUTATIONS for name in re.findall(r"^([PKLVGX]\d+):", mutation.why)}
    assert named == wanted - UNGUARDED


SOURCE = """
class Queue:
    def put(self, item, most=8):
        '''Put an item.'''
        if self.full and not self.closed:
            return False
        for other in self.items:
            if other == item or len(self.items) > most:
                break
        self.sizes[0] += item.size + 1
        self.items.append(item)
        return True


def put(item):
    return item
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "rapids_trav" / "deep").mkdir(parents=True)
    (tmp_path / "rapids_trav" / "deep" / "queues.py").write_text(SOURCE)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a.cu").write_text(
        "// add(x) {\n__device__ i32 add(i32 x) {\n"
        "    if (x > 0) { return x + 1; }  // x + 1\n    return x+1;\n}\n"
        "__global__ void twice(i32* y) { y[0] = add(add(y[0])); }\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("replace item.size + 1 by 0", "item.size + 1", "0"),
        ("replace > by >=", "> most", ">= most"),
        ("replace or by and", "item or len", "item and len"),
        ("drop append", "self.items.append(item)", "pass"),
        ("drop sizes", "self.sizes[0] += item.size + 1", "pass"),
        ("drop self.sizes[0] += item.size+1", "self.sizes[0] += item.size + 1", "pass"),
        ("drop break", "break", "pass"),
        ("never full", "self.full and", "False and"),
        ("always most", "len(self.items) > most", "True"),
        ("always other == item", "other == item or", "True or"),
    ],
)
@pytest.mark.parametrize(
    "name", ["rapids_trav.deep.queues.Queue.put", "rapids_trav.old.Queue.put", "Queue.put"]
)
def test_words_of_a_change(package, name, change, before, after):
    """A function is found where it is now; what surrounds it stays."""
    path, changed = changes.changed(package, name, change)
    assert path == package / "rapids_trav" / "deep" / "queues.py"
    assert ast.dump(ast.parse(changed)) == ast.dump(ast.parse(SOURCE.replace(before, after, 1)))


def test_a_function_that_only_returns(package):
    _, changed = changes.changed(package, "queues.put", "return -item")
    assert ast.dump(ast.parse(changed)) == ast.dump(ast.parse(SOURCE.replace("return item", "return -item")))


def test_changes_of_kernels(package):
    _, changed = changes.changed(package, "kernels/old.cu:add", "replace return x + 1 by return x")
    assert changed.count("return x;") == 2 and "// x + 1" in changed and "add(add(" in changed
    _, changed = changes.changed(package, "kernels/a.cu:twice", "replace add(y[0]) by y[0]")
    assert "y[0] = add(y[0]);" in changed and "x+1" in changed


@pytest.mark.parametrize(
    ("function", "change", "said"),
    [
        ("deep.put", "drop append", "2 functions"),
        ("Queue.take", "drop append", "no function"),
        ("Queue.put", "drop extend", "changes nothing"),
        ("Queue.put", "remove append", "no verb"),
        ("Queue.put", "replace most", "form"),
        ("kernels/a.cu:add", "drop x", "alone"),
    ],
)
def test_what_is_no_change(package, function, change, said):
    with pytest.raises(changes.ChangeError, match=said):
        changes.changed(package, function, change)


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


def mutation(name="less", function="inner.step", change="replace x + 1 by x", tests=("tests/test_outer.py",)):
    return mutate.Mutation(name, "a step", function, change, tests)


def run(monkeypatch, *mutations, more=()):
    monkeypatch.setattr(mutate, "load", lambda: list(mutations))
    return mutate.main([*more, "--jobs", "1"])


@pytest.mark.slow
def test_what_is_caught_and_what_survives(sources, monkeypatch, capsys, tmp_path):
    """A caller that has the mutated function in its machine code is compiled again."""
    rows = tmp_path / "rows.jsonl"
    same = mutation("same", change="replace x + 1 by 1 + x")
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
        (mutation(change="replace x + 2 by x"), "changes nothing in inner.step"),
        (mutation(function="steps"), "no function steps"),
        (mutation(tests=("tests/test_outer.py::test_thrice",)), "do not pass without a mutation"),
    ):
        assert run(monkeypatch, broken) == 2
        assert said in capsys.readouterr().err
    assert run(monkeypatch, mutation(), more=["other"]) == 2
    assert "No mutation is called other" in capsys.readouterr().err


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
    assert mutate.Runner(2).try_one(mutation(), clean).caught_by == "(timed out)"
    test.write_text("import os\n\n\ndef test_twice():\n    os.kill(os.getpid(), 11)\n")
    assert mutate.Runner(30).try_one(mutation(), clean).caught_by == "(killed by signal 11)"
