"""Every module of the package has tests: where its path leads, or in the file that modules.toml names."""

import ast
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "rapids_trav"
sys.path.insert(0, str(TESTS.parent / "ci"))
import choose_tests  # noqa: E402

TABLE = choose_tests.exceptions()
LONGEST_NAME = 60


def has_code(path: Path) -> bool:
    """Return whether a module holds more than a docstring."""
    return not all(isinstance(node, ast.Expr) for node in ast.parse(path.read_text(encoding="utf-8")).body)


def modules() -> list[str]:
    """Return the modules that have code as "folder/module"; a package's own code is "folder/__init__"."""
    paths = (path for path in sorted(PACKAGE.rglob("*.py")) if has_code(path))
    return [path.relative_to(PACKAGE).with_suffix("").as_posix() for path in paths]


@pytest.mark.parametrize("module", modules())
def test_every_module_is_tested(module):
    found = choose_tests.found_by_path(module)
    assert found or module in TABLE, f"no test for {module}: write one, or name it in tests/modules.toml"
    assert not (found and module in TABLE), f"{module} has {found[0]}: its row in tests/modules.toml can go"


def names_of_tests(path: Path) -> list[str]:
    """Return the names of a file's tests, those of its classes among them."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    return [name for name in names if name.startswith("test_")]


def test_the_table_has_modules_and_tests_that_exist():
    assert set(TABLE) <= set(modules())
    assert [file for file in set(TABLE.values()) if not names_of_tests(TESTS / file)] == []


def test_names_of_tests_are_short():
    names = [name for path in TESTS.rglob("test_*.py") for name in names_of_tests(path)]
    assert [name for name in names if len(name) > LONGEST_NAME] == []


def test_no_two_test_modules_have_one_name():
    paths = [path for path in TESTS.rglob("*.py") if path.stem not in ("conftest", "__init__")]
    assert len({path.name for path in paths}) == len(paths)


def test_folders_are_those_of_the_package():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    others = {folder for folder in folders if not (PACKAGE / folder).is_dir()}
    assert others == {Path("benchmarks"), Path("ci"), Path("docs"), Path("emulated"), Path("gpu")}
